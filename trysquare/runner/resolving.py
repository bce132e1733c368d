"""From a scenario and a machine to a plan. Reads, and writes nothing; `settle` alone reaches out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trysquare import config as machine
from trysquare import places, rounds
from trysquare.config import Config
from trysquare.errors import RepoError, TrysquareError
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import REHEARSAL, CellPlan, Matrix, Rehearsal, RunPlan
from trysquare.outputs import Carried, carryable, experiment_name
from trysquare.refusals import Gathering
from trysquare.runner import building, notes, refusing, subagents
from trysquare.runner.freeze import Freezer
from trysquare.runner.plan import Plan, interleave, matrices_root
from trysquare.runner.settings import Settings
from trysquare.runner.sources import prepare_harness, prepare_source
from trysquare.runner.validators import validators
from trysquare.scenario import Scenario, ScenarioError
from trysquare.scenario import load as load_scenario


@dataclass(frozen=True)
class Wish:
    """What was asked for this launch on top of what the scenario says; see `resolve`."""

    overrides: Mapping[str, float]
    only: tuple[str, ...] = ()
    grouped: bool | None = None
    extend: bool = False
    replay: tuple[str, ...] = ()
    rehearse: bool = False


def resolve_all(settings: Settings) -> tuple[Plan, ...]:
    """The plans of every scenario of a launch.

    Raises
    ------
    ScenarioError
        With every problem of every scenario.
    """
    gathering = Gathering()
    plans: dict[Path, Plan] = {}
    for path in settings.scenario:
        with gathering.part():
            plan = _resolved(Path(path), settings)
            other = plans.setdefault(plan.directory, plan)
            if other is not plan:
                raise ScenarioError(
                    f"{path}: writes to {plan.directory} as {other.scenario.path} does; give one of them another "
                    "[scenario] name, or name it once."
                )
    gathering.settle(ScenarioError)
    return tuple(plans.values())


def _resolved(path: Path, settings: Settings) -> Plan:
    gathering = Gathering()
    scenario, config = None, None
    with gathering.part():
        scenario = load_scenario(path)
    with gathering.part():
        given = settings.machine_file
        config = machine.load(machine.find(path) if given is None else Path(given))
    gathering.settle(ScenarioError)
    assert scenario is not None and config is not None
    if settings.reference is not None:
        refusing.refuse_unknown_cells("reference", [settings.reference], scenario.cell_names)
    return resolve(
        scenario,
        config,
        settings.output,
        settings.overrides,
        settings.only,
        grouped=None if settings.layout is None else settings.layout == "grouped",
        extend=settings.extend,
        replay=settings.overwrite or settings.cell,
        rehearse=settings.rehearse,
        rejudge=settings.rejudge,
    )


def resolve(
    scenario: Scenario,
    config: Config,
    output_root: str | Path,
    overrides: Mapping[str, float] | None = None,
    only: Sequence[str] = (),
    resume: bool = True,
    grouped: bool | None = None,
    extend: bool = False,
    replay: Sequence[str] = (),
    rehearse: bool = False,
    rejudge: Sequence[str] = (),
) -> Plan:
    """A scenario as a concrete plan.

    Parameters
    ----------
    overrides
        `repetitions`, `concurrency` and `timeout` (s) given for this launch.
    only, replay
        Cells to restrict the launch to, and cells to measure again.
    resume
        Without effect: a recorded run is kept by every launch.
    grouped
        The layout asked for; None leaves it to the scenario.
    extend
        Whether runs of a smaller matrix are to be carried.
    rehearse
        Whether a script is played instead of asking the provider.
    rejudge
        The judges whose verdicts are to be bought again.

    Raises
    ------
    TrysquareError
        When something cannot be measured as declared.
    """
    rehearsed = rehearse or scenario.agent.provider == REHEARSAL
    wish = Wish(dict(overrides or {}), tuple(only), grouped, extend, tuple(replay), rehearsed)
    root = matrices_root(output_root, scenario, rehearse=rehearse)
    matrix, bricks = _matrix(scenario, config, root, wish)
    layout = Layout(root / matrix.name)
    _refuse_blocked(layout)
    matrix = rounds.settled(layout, matrix, rejudge)
    offer = carryable(root, scenario, matrix, matrix.protocol.repetitions, wish.only)
    if extend:
        refusing.refuse_carry(offer, root, scenario, matrix.protocol.repetitions)
    plan = Plan(
        scenario=scenario,
        config=config,
        output=layout,
        repo_path=Path(matrix.source.checkout),
        repo_source=matrix.source.origin,
        todo=_todo(layout, matrix, wish, offer),
        overrides=wish.overrides,
        blindness=notes.blindness(matrix),
        notes=(),
        matrix=matrix,
        bricks=bricks,
        carried=offer if extend else None,
        replay=wish.replay,
        only=wish.only,
    )
    said = (*_said(plan), *notes.available_note(offer, extend), *rounds.notes(matrix, _judged(plan), rejudge))
    return replace(plan, notes=said)


def _refuse_blocked(layout: Layout) -> None:
    if problem := places.blocked(layout.root):
        raise TrysquareError(
            f"{layout.root} cannot be used: {problem}; name another directory for the results (--config output=DIR)."
        )


def _said(plan: Plan) -> Iterator[str]:
    """What a plan has to say of itself, whatever is offered or asked for."""
    yield from notes.gone_note(plan)
    yield from notes.bought_note(plan)
    yield from notes.drift_notes(plan)
    yield from notes.same_notes(plan.matrix)
    yield from notes.command_notes(plan.matrix.task)
    yield from subagents.unstarted_note(plan.matrix)
    yield from subagents.unpriced_note(plan.matrix)


def _judged(plan: Plan) -> Iterator[RunLayout | None]:
    """Where the verdicts of each run of a launch are, None for a run that is to be measured again."""
    carried, todo = {} if plan.carried is None else plan.carried.trees, {run.id for run in plan.todo}
    for run in plan.matrix.runs.values():
        if run.id in carried:
            yield RunLayout(carried[run.id])
        elif not plan.only or run.cell in plan.only:
            yield None if run.id in todo else plan.output.run(run.directory)


def _matrix(scenario: Scenario, config: Config, root: Path, wish: Wish) -> tuple[Matrix, Mapping[str, bytes]]:
    """The plan to freeze and the bytes it reads; every step is tried before anything is refused."""
    gathering = Gathering()
    with gathering.part():
        refusing.refuse_unknown_cells("only", wish.only, scenario.cell_names)
        refusing.refuse_unknown_cells("overwrite", wish.replay, scenario.cell_names)
        refusing.refuse_unmeasurable(scenario)
    freezer = _freezer(scenario, config, wish, gathering)
    cells: dict[str, CellPlan] = {}
    for cell in scenario.cells:
        with gathering.part():
            cells[cell.name] = freezer.cell(cell)
    with gathering.part():
        subagents.refuse_other_thinking(scenario, cells, freezer.bricks)
    protocol, task = building.protocol(scenario, config, wish.overrides), building.task(scenario)
    directory = root / experiment_name(scenario, protocol.repetitions)
    with gathering.part():
        frozen = validators(freezer, task, protocol.timeout)
    with gathering.part():
        blind = building.blind(scenario, directory, wish.grouped)
    with gathering.part():
        source = building.source(scenario, config)
        refusing.refuse_tracked(scenario, cells, source)
    with gathering.part():
        building.runs(scenario, protocol.repetitions, blind=False)
    gathering.settle(ScenarioError)
    matrix = Matrix(
        name=directory.name,
        experiment=building.experiment(scenario),
        source=source,
        task=task,
        agent=building.agent(scenario),
        protocol=protocol,
        cells=cells,
        runs=building.runs(scenario, protocol.repetitions, blind),
        validators=frozen,
        verdict=building.verdict(scenario),
        workdir=str(config.workdir),
        blind=blind,
        overrides=building.announced(scenario, wish.overrides),
        rehearsal=None if freezer.script is None else Rehearsal(freezer.script),
        isolation=config.isolation,
    )
    return matrix, freezer.bricks


def _freezer(scenario: Scenario, config: Config, wish: Wish, gathering: Gathering) -> Freezer:
    script, harness = None, {}
    if wish.rehearse:
        with gathering.part():
            repetitions = building.protocol(scenario, config, wish.overrides).repetitions
            script = building.script(scenario, repetitions)
    with gathering.part():
        harness = building.harness(scenario, config)
    return Freezer(scenario, script, harness)


def _todo(layout: Layout, matrix: Matrix, wish: Wish, offer: Carried | None) -> tuple[RunPlan, ...]:
    carried = offer.entries if wish.extend and offer is not None else {}

    def measured(run: RunPlan) -> bool:
        if run.cell in wish.replay:
            return False
        return run.id in carried or layout.run(run.directory).record.exists()

    wanted = [run for run in matrix.runs.values() if not wish.only or run.cell in wish.only]
    return tuple(interleave(run for run in wanted if not measured(run)))


def settle(plan: Plan) -> Plan:
    """The plan with everything pinned that is elsewhere, and its commit known. The one step that may need a network.

    Raises
    ------
    TrysquareError
        When an address does not answer, the etalon is not there, or measured runs saw another commit.
    """
    source = plan.matrix.source
    try:
        checkout = _pinned(plan)
    except OSError as error:
        raise RepoError(
            f"{error.filename} cannot be used ({(error.strerror or str(error)).lower()}); set [defaults] workdir of "
            "the machine file to a directory that can be written to."
        ) from None
    if source.commit:
        return plan
    from trysquare import repo

    settled = replace(source, commit=repo.resolve_etalon(checkout, source.etalon))
    refusing.refuse_tracked(plan.scenario, plan.matrix.cells, settled)
    plan = replace(plan, matrix=replace(plan.matrix, source=settled))
    refusing.refuse_measured(plan)
    refusing.refuse_moved(plan)
    return plan


def _pinned(plan: Plan) -> Path:
    """The local repository of a plan, once it and every harness repository are pinned."""
    from trysquare.scenario.paths import LOADABLE, unloadable

    checkout = prepare_source(plan.config, plan.matrix.source.repo, plan.matrix.source.etalon)
    for brick in building.cited(plan.scenario):
        if brick.repo is not None:
            pinned = prepare_harness(plan.config, brick.repo, str(brick.tag)) / str(brick.load)
            if not pinned.exists():
                raise ScenarioError(
                    f"{plan.scenario.path}: [harness]: {brick.repo} at {brick.tag} holds no {brick.load}; correct load."
                )
            if pinned.is_file() and pinned.suffix not in LOADABLE:
                raise ScenarioError(f"{plan.scenario.path}: [harness]: {unloadable(str(brick.load))}")
    return checkout

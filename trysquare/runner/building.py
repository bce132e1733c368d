"""The parts of a frozen plan, each from the scenario and, where it may say something, the machine."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from trysquare.config import Config, ConfigError
from trysquare.custom_metrics import normal
from trysquare.errors import RepoError
from trysquare.matrix import Agent, Experiment, Protocol, RunPlan, Source, Task, VerdictPlan
from trysquare.outputs import cell_dir, run_id, sniff_layout
from trysquare.refusals import key, show
from trysquare.runner.bricks import read_file
from trysquare.runner.sources import settle_repo
from trysquare.scenario import Scenario, ScenarioError

if TYPE_CHECKING:
    from trysquare.scenario.language import Brick

CONCURRENCY, TIMEOUT, ATTEMPTS, STREAM_LIMIT = 5, 900.0, 3, 50
"""What holds where launch, scenario and machine say nothing: runs, seconds, launches, megabytes."""

TOOLS = ("read", "bash", "edit", "write")
"""The tools that the agent has by itself."""

MEGABYTE = 10**6


def experiment(scenario: Scenario) -> Experiment:
    """What the scenario says of itself, the text of its hypothesis included."""
    hypothesis = scenario.hypothesis
    text = None if hypothesis is None else read_file(scenario.base, hypothesis)
    return Experiment(scenario.name, scenario.title, str(scenario.path), text)


def agent(scenario: Scenario) -> Agent:
    """Who is measured."""
    return Agent(scenario.agent.kind, scenario.agent.provider, scenario.agent.model)


def protocol(scenario: Scenario, config: Config, overrides: Mapping[str, float]) -> Protocol:
    """The load of a launch: the command line decides, then the scenario, then the machine, then what is built in."""
    declared, defaults = scenario.protocol, config.defaults

    def load(name: str, built_in: float) -> float:
        levels = (overrides.get(name), declared.get(name), defaults.get(name), built_in)
        return next(float(value) for value in levels if value is not None)

    return Protocol(
        repetitions=int(overrides.get("repetitions", declared.repetitions)),
        concurrency=int(load("concurrency", CONCURRENCY)),
        timeout=load("timeout", TIMEOUT),
        attempts=int(load("attempts", ATTEMPTS)),
        stream_limit=int(defaults.get("stream_limit", STREAM_LIMIT) * MEGABYTE),
        max_cost=declared.max_cost,
    )


def announced(scenario: Scenario, overrides: Mapping[str, float]) -> tuple[str, ...]:
    """What this launch changes of the declaration, as the header and the pages say it."""
    lines = []
    for name, value in overrides.items():
        declared = scenario.protocol.get(name)
        if declared != value:
            lines.append(f"{name} {'unset' if declared is None else f'{declared:g}'} -> {value:g}")
    return tuple(lines)


def blind(scenario: Scenario, directory: Path, grouped: bool | None) -> bool:
    """Whether runs lie flat, so that nobody who fills a form sees their cells.

    Raises
    ------
    ScenarioError
        When the directory has the other layout already.
    """
    wanted = bool(scenario.manual_metrics) if grouped is None else not grouped
    found, asked = sniff_layout(directory / "runs"), "blind" if wanted else "grouped"
    if grouped is None and found == "blind":
        return True
    if found is not None and found != asked:
        raise ScenarioError(
            f"{directory}: its runs are {found} and would become {asked}, and a tree never mixes both; "
            f"set layout={found} ({'--group-by-cell' if found == 'grouped' else '--no-group-by-cell'})."
        )
    return wanted


def task(scenario: Scenario) -> Task:
    """What scoring reads of the task; the files that assertions are about are always collected."""
    declared = scenario.task
    asserted = [normal(each.config["path"]) for each in scenario.validators if each.mode == "custom-metrics"]
    collect = tuple(dict.fromkeys([*declared.collect, *asserted]))
    return Task(declared.test_command, declared.prepare, declared.artefacts, collect)


def verdict(scenario: Scenario) -> VerdictPlan:
    """How gaps are judged."""
    declared = scenario.verdict
    return VerdictPlan(declared.criterion, scenario.reference, declared.validity, declared.draws, declared.seed)


def source(scenario: Scenario, config: Config) -> Source:
    """Where the code comes from; the commit is empty for a URL that is not pinned yet.

    Raises
    ------
    ConfigError, RepoError
        When the name is unknown, its directory is not there, or it does not hold the etalon.
    """
    from trysquare import repo

    name, etalon = scenario.task.repo, scenario.task.etalon
    path, declared = settle_repo(scenario, config)
    remote = config.remote(name)
    if remote is None and not path.is_dir():
        raise ConfigError(f"{config.path}: [repos] {key(name)}: {path} is no directory; correct the path.")
    commit = ""
    try:
        commit = repo.resolve_etalon(path, etalon)
    except RepoError as error:
        if remote is None:
            raise RepoError(f"{scenario.path}: [task] etalon: {error}") from None
    return Source(name, declared, str(path), etalon, commit)


def runs(scenario: Scenario, repetitions: int, blind: bool) -> dict[str, RunPlan]:
    """Every planned run by id, repetition by repetition.

    Raises
    ------
    ScenarioError
        When two of them get one id.
    """
    planned: dict[str, RunPlan] = {}
    for repetition in range(repetitions):
        for cell in scenario.cell_names:
            name = run_id(scenario.name, cell, repetition)
            if name in planned:
                other = planned[name]
                raise ScenarioError(
                    f"{scenario.path}: the cells {show(other.cell)} (repetition {other.repetition}) and {show(cell)} "
                    f"(repetition {repetition}) get one run id, {name}; rename one of the cells."
                )
            planned[name] = RunPlan(name, cell, repetition, name if blind else f"{cell_dir(cell)}/{name}")
    return planned


def cited(scenario: Scenario) -> "list[Brick]":
    """The bricks that cells load, once each."""
    names = dict.fromkeys(name for cell in scenario.cells for name in cell.delta.get("harness", ()))
    return [scenario.bricks[name] for name in names]


def harness(scenario: Scenario, config: Config) -> dict[str, str]:
    """The addresses of the harness repositories that cited bricks name.

    Raises
    ------
    ConfigError
        When the machine file does not know one.
    """
    return {brick.repo: config.place("harness", brick.repo) for brick in cited(scenario) if brick.repo is not None}


def script(scenario: Scenario, repetitions: int) -> bytes:
    """The script that a rehearsal of this scenario plays: its own, the one beside it, or the default.

    Raises
    ------
    TrysquareError
        When it cannot be played, fits no run, or is for other cells or another model.
    """
    from trysquare import rehearsal

    path = scenario.path or Path("scenario.toml")
    text, name = rehearsal.text_for(path)
    played = rehearsal.Script.parse(text, name)
    played.model_id(scenario.agent.model)
    played.check(scenario.cell_names, repetitions)
    if all(brick.load is None for brick in cited(scenario)):  # an extension may bring tools of its own
        played.check_tools(TOOLS)
    return text.encode()

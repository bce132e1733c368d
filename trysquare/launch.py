"""What the Snakefile asks: in the main process the resolved scenarios, in any other the frozen plan of its matrix."""

import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

from trysquare import (
    agent,
    capacity,
    carrying,
    discarding,
    interrupt,
    launching,
    places,
    remote,
    replaying,
    runner,
    workplace,
)
from trysquare.collecting import collect, derive, lost, status_line, withhold
from trysquare.errors import TrysquareError, refused, unheard
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.outputs import measures_in
from trysquare.pointers import FREE_MODES, Pointers

TOP_PRIORITY = 10**6
"""The priority of the first run; scoring has the same, so that it goes before further measures."""


def _refusing(method: Callable[..., Any]) -> Callable[..., Any]:
    """End the launch with one sentence and exit 1 when a method of Launch refuses, and with 130 when it is stopped."""

    @wraps(method)
    def refusing(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except TrysquareError as error:
            sys.exit(str(error))
        except interrupt.Stopped:
            print("interrupted", file=sys.stderr)
            sys.exit(interrupt.INTERRUPTED)
        except BrokenPipeError:
            sys.exit(unheard())
        except OSError as error:
            if not (sentence := refused(error)):
                raise
            sys.exit(sentence)

    return refusing


def _frozen_before(settings: runner.Settings, error: TrysquareError) -> dict[str, tuple[Path, Matrix]]:
    """The matrices that an earlier launch of these scenarios froze; without one, the error that hinders this launch."""
    try:
        return runner.frozen(settings)
    except TrysquareError:
        raise error from None


class Launch:
    """The matrices of one invocation of the engine.

    Target rules take their inputs from the methods named after them, which also note what was asked for: only `run`
    lets a measure job spend.
    """

    def __init__(
        self, plans: Sequence[runner.Plan] = (), workflow: Any = None, archived: Mapping[str, Matrix] | None = None
    ) -> None:
        self._plans = {str(plan.directory): plan for plan in plans}
        self._archived = dict(archived or {})
        self._matrices = {**{directory: plan.matrix for directory, plan in self._plans.items()}, **self._archived}
        self._workflow = workflow
        self._settings: runner.Settings | None = None
        self._broken: TrysquareError | None = None
        self._mark = secrets.token_hex(4)
        self._pointers: dict[str, Pointers] = {}
        self._order: dict[str, dict[str, int]] = {}
        self._limits: dict[str, int] = {}
        self._asked: set[str] = set()
        self._within = workflow is not None and not workflow.modifier.is_main_snakefile()
        self._run = "run" if workflow is None else workflow.modifier.modify_rulename("run")
        self._locks: list[int] = []
        self._before: dict[str, list[dict[str, Any]]] = {}

    @classmethod
    @_refusing
    def of(cls, config: Mapping[str, Any], workflow: Any) -> "Launch":
        """Resolve the scenarios in the main process; in a job's own process there is nothing to resolve."""
        if not workflow.is_main_process:
            return cls(workflow=workflow)
        interrupt.early()
        settings = runner.Settings.of(config, workflow.config_settings.overwrite_config)
        archived = replaying.archived(settings.scenario)
        scenarios = tuple(name for name in settings.scenario if name not in archived)
        asked, broken = replace(settings, scenario=scenarios), None
        try:
            plans = runner.resolve_all(asked)
        except TrysquareError as error:
            plans, broken = (), error
            archived |= _frozen_before(asked, error)
        limits = capacity.limits(plan.matrix for plan in plans)
        for name, limit in limits.items():
            workflow.global_resources.setdefault(name, limit)
        launch = cls(plans, workflow, {str(path): matrix for path, matrix in archived.values()})
        launch._settings, launch._limits, launch._broken = settings, limits, broken
        return launch

    @property
    def shell_prefix(self) -> str:
        """What every job's shell runs first: the interpreter of this launch is the job's `python`."""
        return f'set -euo pipefail; export PATH="{Path(sys.executable).parent}:$PATH"; '

    @property
    def needs(self) -> dict[str, Any]:
        """The resources of a measure job: a slot in all, and one of its provider."""
        return capacity.needs(self._limits, self.matrix)

    def minutes(self, wildcards: Any) -> int:
        """How long a run, or a validator, may take at the longest."""
        return capacity.minutes(self.matrix(wildcards.matrix), getattr(wildcards, "validator", None))

    @property
    def matrices(self) -> list[str]:
        """The matrix directories of this launch."""
        return [*self._plans, *self._archived]

    @property
    def cells(self) -> list[str]:
        """The cells whose runs are to be set aside."""
        return [] if self._settings is None else list(self._settings.cell or self._settings.overwrite)

    @property
    def reference(self) -> str:
        """The reference the pages are asked for, empty for the declared one."""
        return "" if self._settings is None else self._settings.reference or ""

    @property
    def rendered(self) -> list[str]:
        """What the target render hands to its job: the matrices, after the reference where one is asked for."""
        # The engine leaves out an empty word of a command, and the next one would take its place.
        return [*(["--reference", self.reference] if self.reference else []), *self.matrices]

    def matrix(self, directory: str) -> Matrix:
        """The plan of one matrix: resolved in memory here, or frozen in its directory."""
        if directory not in self._matrices:
            self._matrices[directory] = Matrix.load(Layout(Path(directory)).plan)
        return self._matrices[directory]

    # Targets

    @_refusing
    def run(self, _: Any) -> list[str]:
        """Every pointer of every matrix, after the refusals that protect measured runs."""
        if "run" not in self._asked:
            self._ask("run")
            self._check()
        return [name for directory in self._plans for name in self._everything(directory)]

    def _ask(self, target: str) -> None:
        """Note what was asked for. In a workflow that uses this one as a module, have our hooks run with its own."""
        if not self._asked and self._within:
            launching.chain(self._workflow, self.start, self.finish)
        self._asked.add(target)

    def _check(self) -> None:
        if self._broken is not None:
            raise self._broken
        settings = self._workflow.execution_settings
        if settings is not None and settings.no_hooks:
            raise TrysquareError("leave --no-hooks out: a launch freezes its plan in a hook.")
        for directory in self._archived:
            raise TrysquareError(
                f"{directory} is a matrix: `run` needs its scenario; score, collect and render do not."
            )
        if self.cells and not self._workflow.dryrun:
            raise TrysquareError(discarding.TWO_STEPS)
        for plan in self._plans.values():
            runner.refuse_foreign(plan)
            discarding.refuse_interrupted(plan.output, plan.matrix)
            runner.refuse_measured(plan)
            runner.refuse_inherited_context(plan)
            runner.refuse_unusable_places(plan)
            print("\n".join(runner.header(plan, ask=self._workflow.dryrun)), file=sys.stderr, flush=True)
        agent.command()

    def _everything(self, directory: str) -> list[str]:
        asked, only = self._asks(directory), self._only(directory)
        runs = [run for run in asked.matrix.runs.values() if not only or run.cell in only]
        names = [asked.measured(run) for run in runs] + [name for run in runs for name in asked.scores[run.id]]
        if only and any(asked.due(run) for run in asked.matrix.runs.values() if run.cell not in only):
            return names
        return [*names, asked.collect, asked.render, *([asked.reference(self.reference)] if self.reference else [])]

    def _only(self, directory: str) -> tuple[str, ...]:
        return self._plans[directory].only if directory in self._plans else ()

    def _asks(self, directory: str) -> Pointers:
        if directory not in self._pointers:
            plan = self._plans.get(directory)
            carried = plan.carried.trees if plan is not None and plan.carried is not None else {}
            whole = plan is None or not runner.gone_note(plan)
            self._pointers[directory] = Pointers(directory, self.matrix(directory), self._mark, carried, whole)
        return self._pointers[directory]

    @_refusing
    def score(self, _: Any) -> list[str]:
        """The free scores of recorded runs."""
        self._ask("score")
        if self._broken is not None:
            raise TrysquareError(
                f"{self._broken}\nscoring needs what the scenario names now; to score with what was frozen at the last "
                f"launch, name the matrix instead: --config scenario={next(iter(self._archived))}"
            )
        for directory in self._archived:
            if problem := places.unusable(Path(directory), tried=False):
                raise TrysquareError(f"{directory} cannot be scored: {problem}; give access, or score a copy of it.")
        return [
            name
            for directory, matrix in self._frozen().items()
            for run in matrix.runs.values()
            if Layout(Path(directory)).run(run.directory).pointer.exists()
            and (not self._only(directory) or run.cell in self._only(directory))
            for validator, name in zip(self._asks(directory).scored, self._asks(directory).scores[run.id], strict=True)
            if validator.mode in FREE_MODES
        ]

    @_refusing
    def discard(self, _: Any) -> list[str]:
        """Nothing, provided that the runs of the named cells can be set aside."""
        self._ask("discard")
        if self._broken is not None:
            raise self._broken
        if not self.cells:
            raise TrysquareError(discarding.NO_CELL)
        for directory, matrix in self._frozen().items():
            discarding.refuse_unfinished(Layout(Path(directory)), matrix, self.cells)
        return []

    @_refusing
    def form(self, _: Any) -> list[str]:
        """Nothing: the forms ask for what is recorded and not answered."""
        self._ask("form")
        self._frozen()
        return []

    @_refusing
    def ingest(self, _: Any) -> list[str]:
        """Nothing: what people have answered is taken as it is."""
        self._ask("ingest")
        self._frozen()
        return []

    @_refusing
    def collect(self, _: Any) -> list[str]:
        """Nothing: what is recorded is collected as it is."""
        self._ask("collect")
        self._frozen()
        return []

    @_refusing
    def render(self, _: Any) -> list[str]:
        """Nothing, provided that every matrix is complete."""
        self._ask("render")
        self._refuse_incomplete()
        return []

    @_refusing
    def pages(self, _: Any) -> list[str]:
        """The pages of every session, provided that every matrix is complete."""
        self._ask("pages")
        self._refuse_incomplete()
        return [
            f"{directory}/pages/{run.directory}/exported"
            for directory, matrix in self._matrices.items()
            for run in matrix.runs.values()
        ]

    def _refuse_incomplete(self) -> None:
        incomplete = []
        for directory, matrix in self._frozen().items():
            layout = Layout(Path(directory))
            state = derive(layout, matrix)
            if not state.complete:
                incomplete.append(status_line(directory, state))
                if not self._workflow.dryrun:
                    withhold(layout, state)
        if incomplete:
            raise TrysquareError("\n".join(incomplete))

    @_refusing
    def smoke(self, _: Any) -> list[str]:
        """Nothing, or all that `run` asks for where both are targets, so that the pass comes after it."""
        self._ask("smoke")
        if self._run in self._workflow.dag_settings.targets:
            return list(self.run(_))
        self._frozen()
        return []

    @_refusing
    def status(self, _: Any) -> list[str]:
        """Nothing: the state of each matrix is printed while the engine plans, and nothing is written."""
        if "status" not in self._asked:
            self._ask("status")
            self._say_broken()
            for note in [note for plan in self._plans.values() for note in runner.gone_note(plan)]:
                print(note, file=sys.stderr)
            for directory in self.matrices:
                print(status_line(directory, derive(Layout(Path(directory)), self.matrix(directory))), flush=True)
        return []

    def _say_broken(self) -> None:
        """Say why a scenario cannot be launched as it is, where that hinders nothing."""
        if self._broken is not None:
            print(f"{self._broken}\n{'; '.join(self.matrices)}: taken as frozen at the last launch.", file=sys.stderr)

    def _frozen(self) -> dict[str, Matrix]:
        """The matrices of this launch, provided that each was launched before."""
        self._say_broken()
        if self._settings is not None and self._settings.rejudge:
            raise TrysquareError("rejudge buys verdicts, which only the target `run` may: ask for that one.")
        for directory, plan in self._plans.items():
            if gone := [] if plan.output.plan.exists() else runner.gone_note(plan):
                raise TrysquareError(f"{gone[0].removeprefix('GONE: ')}.")
            if not plan.output.plan.exists():
                raise TrysquareError(f"{directory}: nothing is measured yet; the target `run` measures it.")
            runner.refuse_foreign(plan)
        return {directory: self.matrix(directory) for directory in self.matrices}

    # File rules

    def scores_of(self, wildcards: Any) -> list[str]:
        """Every score pointer of a matrix."""
        return [name for names in self._asks(wildcards.matrix).scores.values() for name in names]

    def collect_pointer(self, wildcards: Any) -> str:
        """The pointer that says a matrix is collected as it is planned now."""
        return self._asks(wildcards.matrix).collect

    def render_pointer(self, wildcards: Any) -> str:
        """The pointer to the synthesis against the declared reference."""
        return self._asks(wildcards.matrix).render

    def labels(self, wildcards: Any) -> dict[str, str]:
        """What a report calls a matrix."""
        matrix = self.matrix(wildcards.matrix)
        return {
            "experiment": matrix.experiment.title,
            "agent": f"{matrix.agent.provider} {matrix.agent.model}",
            "size": f"{len(matrix.cells)} cells x {matrix.protocol.repetitions}",
        }

    def carried(self, wildcards: Any) -> str:
        """The record a run is to be carried from; what nobody makes when it is not, so that it is measured."""
        directory, run_id = wildcards.matrix, Path(wildcards.run).name
        if self._workflow.is_main_process:
            source = self._asks(directory).carried.get(run_id)
        else:
            found = carrying.source(Layout(Path(directory)), run_id)
            source = None if found is None else found.root
        return f"{source or f'{directory}/nothing-to-carry/{run_id}'}/run.json"

    def priority(self, wildcards: Any) -> int:
        """Repetition first, then cell: cells are measured side by side, under one load of the provider."""
        directory = wildcards.matrix
        if directory not in self._order:
            runs = runner.interleave(self.matrix(directory).runs.values())
            self._order[directory] = {run.directory: position for position, run in enumerate(runs)}
        return TOP_PRIORITY - self._order[directory].get(wildcards.run, 0)

    def spend(self, _: Any) -> str:
        """Whether a measure job may spend: a remote job was scheduled by a main process that decided it."""
        return "spend" if "run" in self._asked or not self._workflow.is_main_process else "keep"

    # Hooks of the main process

    @_refusing
    def start(self) -> None:
        """Freeze every plan under its lock; the only writer of plan.json. Runs after planning, never on a dry run."""
        interrupt.forward()
        launching.pace(self._workflow)
        if self._asked <= {"status"}:
            return
        if self._asked & {"run", "score"}:
            for plan in self._plans.values():
                runner.refuse_unusable_places(plan, tried=True)
            self._plans = {directory: runner.settle(plan) for directory, plan in self._plans.items()}
            self._matrices.update({directory: plan.matrix for directory, plan in self._plans.items()})
        for workdir in {Path(matrix.workdir) for matrix in self._matrices.values()}:
            workplace.sweep(workdir)
        line = launching.line(self._workflow, measures="run" in self._asked)
        for directory in self.matrices:
            layout = Layout(Path(directory))
            self._locks.append(launching.hold(layout))
            launching.settle_clocks(layout)
            if "run" in self._asked and not self._workflow.local_exec:
                print(*remote.examine(layout, self.matrix(directory)), sep="\n", file=sys.stderr, flush=True)
            self._before[directory] = measures_in(layout.root)
            if directory in self._plans:
                launching.freeze(self._plans[directory], line if "run" in self._asked else None, self._workflow)
            elif "score" in self._asked and self._settings is not None:
                replaying.localised(self._archived[directory], layout, self._settings.machine_file).save(layout.plan)

    @_refusing
    def finish(self) -> None:
        """Refresh the derived files after a launch, and say in one line how far each matrix is.

        A launch that was asked to stop ends with the exit code that says so.
        """
        if not self._asked & {"run", "score", "discard"}:
            return
        for directory in self.matrices:
            state = collect(Layout(Path(directory)))
            for sentence in lost(self._before.get(directory, ()), state.runs):
                print(sentence, flush=True)
            print(launching.closing(directory, state), flush=True)
        if interrupt.stopping():
            sys.exit(interrupt.INTERRUPTED)

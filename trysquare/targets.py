"""The target rules: what each asks for, and whether that may be had."""

import sys
from pathlib import Path
from typing import Any

from trysquare import (
    agent,
    discarding,
    locks,
    places,
    runner,
)
from trysquare.collecting import closing, derive, status_line, withhold
from trysquare.errors import TrysquareError
from trysquare.invocation import Invocation, refusing
from trysquare.layout import Layout
from trysquare.pointers import FREE_MODES


class Targets(Invocation):
    """Target rules take their inputs from the methods named after them, which also note what was asked for.

    Only `run` lets a measure job spend.
    """

    @refusing
    def run(self, _: Any) -> list[str]:
        """Every pointer of every matrix, after the refusals that protect measured runs."""
        if "run" not in self._asked:
            self._ask("run")
            self._check()
            for directory in self._plans:
                self._say_done(directory)
        return [name for directory in self._plans for name in self._everything(directory)]

    def _say_done(self, directory: str) -> None:
        """Say how far a matrix is where nothing is due: the engine calls no hook then."""
        if not self.cells and all(Path(name).exists() for name in self._everything(directory)):
            state = derive(Layout(Path(directory)), self.matrix(directory))
            print(closing(directory, state), file=sys.stderr, flush=True)

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

    @refusing
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

    @refusing
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

    @refusing
    def form(self, _: Any) -> list[str]:
        """Nothing: the forms ask for what is recorded and not answered."""
        self._ask("form")
        self._frozen()
        return []

    @refusing
    def ingest(self, _: Any) -> list[str]:
        """Nothing: what people have answered is taken as it is."""
        self._ask("ingest")
        self._frozen()
        return []

    @refusing
    def collect(self, _: Any) -> list[str]:
        """Nothing: what is recorded is collected as it is."""
        self._ask("collect")
        self._frozen()
        return []

    @refusing
    def render(self, _: Any) -> list[str]:
        """Nothing, provided that every matrix is complete."""
        self._ask("render")
        self._refuse_incomplete()
        return []

    @refusing
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
                incomplete.append(status_line(directory, state, at_work=locks.at_work(layout)))
                if not self._workflow.dryrun:
                    withhold(layout, state)
        if incomplete:
            raise TrysquareError("\n".join(incomplete))

    @refusing
    def smoke(self, _: Any) -> list[str]:
        """Nothing, or all that `run` asks for where both are targets, so that the pass comes after it."""
        self._ask("smoke")
        if self._run in self._workflow.dag_settings.targets:
            return list(self.run(_))
        self._frozen()
        return []

    @refusing
    def status(self, _: Any) -> list[str]:
        """Nothing: the state of each matrix is printed while the engine plans, and nothing is written."""
        if "status" not in self._asked:
            self._ask("status")
            self._say_broken()
            for note in [note for plan in self._plans.values() for note in runner.gone_note(plan)]:
                print(note, file=sys.stderr)
            for directory in self.matrices:
                layout = Layout(Path(directory))
                state = derive(layout, self.matrix(directory))
                print(closing(directory, state, at_work=locks.at_work(layout)), flush=True)
        return []

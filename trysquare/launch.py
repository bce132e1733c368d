"""What the Snakefile asks: in the main process the resolved scenarios, in any other the frozen plan of its matrix."""

import shlex
import sys
from pathlib import Path
from typing import Any

from trysquare import (
    capacity,
    carrying,
    forkserver,
    interrupt,
    jobs,
    launching,
    remote,
    replaying,
    runner,
    workplace,
)
from trysquare.collecting import closing, collect
from trysquare.invocation import refusing
from trysquare.layout import Layout
from trysquare.losses import lost
from trysquare.targets import Targets

TOP_PRIORITY = 10**6
"""The priority of the first run; scoring has the same, so that it goes before further measures."""


class Launch(Targets):
    """One invocation of the engine, as its rules and hooks see it."""

    @property
    def shell_prefix(self) -> str:
        """What every job's shell runs first: the interpreter of this launch is the job's `python`, and no child's.

        It defines `job`, which starts the jobs a launch has many of, on this machine through its fork server.
        """
        start = f"exec {forkserver.command(self._mark)}" if self._workflow.is_main_process else "exec python -m"
        path = f'export {jobs.OUTER}="$PATH" PATH={shlex.quote(str(Path(sys.executable).parent))}:"$PATH"'
        words = f'set -euo pipefail; {path}; job() {{ {start} "trysquare.jobs.$@"; }}; '
        return words.replace("{", "{{").replace("}", "}}")  # the engine fills in what is in braces

    @property
    def needs(self) -> dict[str, Any]:
        """The resources of a measure job: a slot in all, and one of its provider."""
        return capacity.needs(self._limits, self.matrix)

    def minutes(self, wildcards: Any) -> int:
        """How long a run, or a validator, may take at the longest."""
        return capacity.minutes(self.matrix(wildcards.matrix), getattr(wildcards, "validator", None))

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

    def _ask(self, target: str) -> None:
        """Note what was asked for. In a workflow that uses this one as a module, have our hooks run with its own."""
        if not self._asked and self._within:
            launching.chain(self._workflow, self.start, self.finish)
        super()._ask(target)

    @refusing
    def start(self) -> None:
        """Freeze every plan under its lock; the only writer of plan.json. Runs after planning, never on a dry run."""
        interrupt.forward()
        interrupt.insist()
        launching.pace(self._workflow)
        if self._asked <= {"status"}:
            return
        remote.refuse_unreachable(self._workflow)
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
            self._before[directory] = launching.measures_before(layout)
            if directory in self._plans:
                launching.freeze(self._plans[directory], line if "run" in self._asked else None, self._workflow)
            elif "score" in self._asked and self._settings is not None:
                replaying.localised(self._archived[directory], layout, self._settings.machine_file).save(layout.plan)
        if self._asked & {"run", "score"} and self._workflow.local_exec:
            self._server = forkserver.ForkServer(self._mark)

    @refusing
    def finish(self) -> None:
        """Refresh the derived files after a launch, and say in one line how far each matrix is.

        A launch that was asked to stop ends with the exit code that says so.
        """
        if self._server is not None:
            self._server.close()
        if not self._asked & {"run", "score", "discard"}:
            return
        for directory in self.matrices:
            state = collect(Layout(Path(directory)))
            for sentence in lost(self._before.get(directory, ()), state.scored, state.matrix.declared):
                print(sentence, flush=True)
            published = "run" in self._asked and not interrupt.stopping()
            print(closing(directory, state, published=published), flush=True)
        if interrupt.stopping():
            sys.exit(interrupt.INTERRUPTED)

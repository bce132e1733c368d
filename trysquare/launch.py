"""What the Snakefile asks: in the main process the resolved scenarios, in any other the frozen plan of its matrix."""

import fcntl
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from typing import Any

from trysquare import agent, interrupt, runner
from trysquare.collecting import State, collect, derive, status_line, withhold
from trysquare.errors import TrysquareError
from trysquare.files import append_line, digest, write_bytes
from trysquare.layout import Layout
from trysquare.matrix import Matrix

FREE_MODES = ("script", "custom-metrics")
"""Validator modes whose verdicts cost nothing, so that the target score may ask for them."""

LOCAL_SURPLUS = 5
"""Jobs that use no core the engine runs at once on one machine, beyond its cores."""

TOP_PRIORITY = 10**6
"""The priority of the first run; scoring has the same, so that it goes before further measures."""


def _refusing(method: Callable[..., Any]) -> Callable[..., Any]:
    """End the launch with one sentence and exit 1 when a method of Launch refuses."""

    @wraps(method)
    def refusing(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except TrysquareError as error:
            sys.exit(str(error))

    return refusing


class Launch:
    """The matrices of one invocation of the engine.

    Target rules take their inputs from the methods named after them, which also note what was asked for: only `run`
    lets a measure job spend.
    """

    def __init__(self, plans: Sequence[runner.Plan] = (), workflow: Any = None) -> None:
        self._plans = {str(plan.directory): plan for plan in plans}
        self._matrices = {directory: plan.matrix for directory, plan in self._plans.items()}
        self._workflow = workflow
        self._order: dict[str, dict[str, int]] = {}
        self._asked: set[str] = set()
        self._locks: list[int] = []

    @classmethod
    @_refusing
    def of(cls, config: Mapping[str, Any], workflow: Any) -> "Launch":
        """Resolve the scenarios in the main process; in a job's own process there is nothing to resolve."""
        if not workflow.is_main_process:
            return cls(workflow=workflow)
        plans = runner.resolve_all(runner.Settings.of(config, workflow.config_settings.overwrite_config))
        slots = sum(plan.matrix.protocol.concurrency for plan in plans)
        workflow.global_resources.setdefault("agent_slots", slots)
        return cls(plans, workflow)

    @property
    def shell_prefix(self) -> str:
        """What every job's shell runs first: the interpreter of this launch is the job's `python`."""
        return f'export PATH="{Path(sys.executable).parent}:$PATH"; '

    @property
    def matrices(self) -> list[str]:
        """The matrix directories of this launch."""
        return list(self._plans)

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
            self._asked.add("run")
            self._check()
        return [name for directory in self._plans for name in self._everything(directory)]

    def _check(self) -> None:
        settings = self._workflow.execution_settings
        if settings is not None and settings.no_hooks:
            raise TrysquareError("leave --no-hooks out: a launch freezes its plan in a hook.")
        for plan in self._plans.values():
            runner.refuse_foreign(plan)
            runner.refuse_measured(plan)
            runner.refuse_inherited_context(plan)
            print("\n".join(runner.header(plan)), file=sys.stderr, flush=True)
        agent.command()

    def _everything(self, directory: str) -> list[str]:
        matrix = self.matrix(directory)
        runs = [f"{directory}/runs/{run.directory}/measured.json" for run in matrix.runs.values()]
        return [*runs, *self._scores(directory), f"{directory}/ledger/render.{self._render_digest(matrix)}"]

    @_refusing
    def score(self, _: Any) -> list[str]:
        """The free scores of recorded runs."""
        self._asked.add("score")
        return [
            f"{directory}/runs/{run.directory}/validation/.{validator.name}.{validator.digest}"
            for directory, matrix in self._frozen().items()
            for run in matrix.runs.values()
            if Layout(Path(directory)).run(run.directory).pointer.exists()
            for validator in matrix.validators.values()
            if validator.mode in FREE_MODES
        ]

    @_refusing
    def collect(self, _: Any) -> list[str]:
        """Nothing: what is recorded is collected as it is."""
        self._asked.add("collect")
        self._frozen()
        return []

    @_refusing
    def render(self, _: Any) -> list[str]:
        """Nothing, provided that every matrix is complete."""
        self._asked.add("render")
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
        return []

    @_refusing
    def status(self, _: Any) -> list[str]:
        """Nothing: the state of each matrix is printed while the engine plans, and nothing is written."""
        if "status" not in self._asked:
            self._asked.add("status")
            for directory, matrix in self._plans.items():
                print(status_line(directory, derive(Layout(Path(directory)), matrix.matrix)), flush=True)
        return []

    def _frozen(self) -> dict[str, Matrix]:
        """The matrices of this launch, provided that each was launched before."""
        for directory in self._plans:
            if not Layout(Path(directory)).plan.exists():
                raise TrysquareError(f"{directory}: nothing is measured yet; the target `run` measures it.")
        return {directory: plan.matrix for directory, plan in self._plans.items()}

    # File rules

    def _scores(self, directory: str) -> list[str]:
        matrix = self.matrix(directory)
        return [
            f"{directory}/runs/{run.directory}/validation/.{validator.name}.{validator.digest}"
            for run in matrix.runs.values()
            for validator in matrix.validators.values()
        ]

    def scores_of(self, wildcards: Any) -> list[str]:
        """Every score pointer of a matrix."""
        return self._scores(wildcards.matrix)

    def collect_pointer(self, wildcards: Any) -> str:
        """The pointer that says a matrix is collected as it is planned now."""
        return f"{wildcards.matrix}/ledger/collect.{self._collect_digest(self.matrix(wildcards.matrix))}"

    @staticmethod
    def _collect_digest(matrix: Matrix) -> str:
        validators = [(v.name, v.digest, list(v.metrics)) for v in matrix.validators.values()]
        return digest([validators, [(run.id, run.directory) for run in matrix.runs.values()]])

    def _render_digest(self, matrix: Matrix) -> str:
        verdict, experiment = matrix.verdict, matrix.experiment
        said = [experiment.title, experiment.hypothesis, [cell.description for cell in matrix.cells.values()]]
        judged = [verdict.criterion, verdict.reference, list(verdict.validity), verdict.draws, verdict.seed]
        return digest([said, judged, self._collect_digest(matrix)])

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
        if self._workflow.local_exec and getattr(self._workflow.scheduler, "job_rate_limiter", None) is not None:
            self._workflow.scheduler.job_rate_limiter = None  # its timers would hold the exit for one second
        if self._asked <= {"status"}:
            return
        self._plans = {directory: runner.settle(plan) for directory, plan in self._plans.items()}
        self._matrices = {directory: plan.matrix for directory, plan in self._plans.items()}
        line = self._line()
        for directory, plan in self._plans.items():
            layout = Layout(Path(directory))
            self._lock(layout)
            for name, data in plan.bricks.items():
                write_bytes(layout.brick(name), data)
            plan.matrix.save(layout.plan)
            if "run" in self._asked:
                load = {"concurrency": line["concurrency"], "timeout": plan.matrix.protocol.timeout}
                append_line(layout.launches, {**line, **load})

    def _lock(self, layout: Layout) -> None:
        path = layout.lock("launch")
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TrysquareError(f"{layout.root} is being run by another launch: wait for it, or stop it.") from None
        self._locks.append(handle)

    def _line(self) -> dict[str, Any]:
        """What launches.jsonl says of this launch, and what its jobs copy into each record."""
        now = datetime.now(UTC)
        slots, cores, jobs = (self._provided(name) for name in ("agent_slots", "_cores", "_nodes"))
        limit = cores + LOCAL_SURPLUS if self._workflow.local_exec else jobs
        return {
            "kind": "launch",
            "id": f"{now:%Y%m%dT%H%M%S}-{os.getpid()}",
            "started": now.isoformat(timespec="seconds"),
            "concurrency": min(slots, limit),
            "host": socket.gethostname(),
            "executor": getattr(self._workflow.executor_plugin, "name", "local"),
            "agent": {"kind": "pi", "version": agent.version() if "run" in self._asked else None},
            "harness": {"version": version("trysquare"), "revision": _revision()},
        }

    def _provided(self, resource: str) -> int:
        """How much of a resource this launch may use at once; as much as there is when nobody said."""
        given = self._workflow.global_resources[resource]
        amount = getattr(given, "value", given)
        return sys.maxsize if amount is None else int(amount)

    def finish(self) -> None:
        """Refresh the derived files after a launch, and say in one line how far each matrix is."""
        if not self._asked & {"run", "score"}:
            return
        for directory in self._plans:
            state = collect(Layout(Path(directory)))
            print(self._closing(directory, state), flush=True)

    @staticmethod
    def _closing(directory: str, state: State) -> str:
        line = status_line(directory, state)
        page = Layout(Path(directory)).synthesis.with_suffix(".html")
        return f"{line}; open {page}" if state.complete and page.exists() else line


def _revision() -> str | None:
    """The commit of trysquare itself when it runs from a checkout."""
    root = Path(__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return None
    found = subprocess.run(
        ["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=False
    )
    return found.stdout.strip() or None

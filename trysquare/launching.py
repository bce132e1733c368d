"""What a launch is to the matrices it works on: the lock that keeps others away, and a line in launches.jsonl."""

import os
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from trysquare import agent, capacity, carrying, locks, remote, runner
from trysquare.errors import ArchiveError, TrysquareError
from trysquare.files import append_line, write_bytes
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.outputs import measures_in

UNPACED = 10_000
"""Jobs per time span from which on a limit is none; the profiles set it."""


def hold(layout: Layout) -> int:
    """Take the lock of a matrix for as long as this process lives; returns its descriptor.

    Raises
    ------
    TrysquareError
        When another launch has it.
    """
    path = layout.lock("launch")
    try:
        handle = locks.take(path)
    except OSError as error:
        raise TrysquareError(
            f"{path} cannot be locked ({error.strerror}): write results to a file system with locks, with "
            "--config output=DIR."
        ) from None
    if handle is None:
        raise TrysquareError(f"{layout.root} is being run by another launch: wait for it, or stop it.")
    return handle


def chain(workflow: Any, start: Callable[[], None], finish: Callable[[], None]) -> None:
    """Run our hooks before those of the workflow that uses this one, since the engine runs no hook of a module."""
    for name, ours in (("_onstart", start), ("_onsuccess", finish), ("_onerror", finish)):
        setattr(workflow, name, partial(_both, ours, getattr(workflow, name)))


def _both(ours: Callable[[], None], theirs: Callable[[str], None], log: str) -> None:
    ours()
    theirs(log)


def measures_before(layout: Layout) -> list[dict[str, Any]]:
    """The rows an earlier launch left, to tell what is lost; none of a damaged file, which is made again."""
    try:
        return measures_in(layout.root)
    except ArchiveError as error:
        print(f"{error} It is written again; metrics it held and that are gone are not named.", file=sys.stderr)
        return []


def settle_clocks(layout: Layout) -> None:
    """Date pointers now that are dated later, as after a jump of the clock.

    The engine takes an output that is older than its input for a failure.
    """
    now = time.time()
    runs = ("runs/*", "runs/*/*")
    for pattern in (*(f"{run}/measured.json" for run in runs), *(f"{run}/validation/.*" for run in runs), "ledger/*"):
        for pointer in layout.root.glob(pattern):
            if pointer.stat().st_mtime > now:
                os.utime(pointer, (now, now))


def freeze(plan: runner.Plan, line: Mapping[str, Any] | None, workflow: Any) -> None:
    """Write a plan and the bytes it reads, and what is done with it: `line` of the launch where it measures."""
    layout = plan.output
    for name, data in plan.bricks.items():
        write_bytes(layout.brick(name), data)
    if line is None:
        as_measured(plan).save(layout.plan)
        return
    plan.matrix.save(layout.plan)
    load = {"concurrency": capacity.concurrency(workflow, plan.matrix), "timeout": plan.matrix.protocol.timeout}
    verdict = plan.matrix.verdict
    asked = {"criterion": verdict.criterion, "validity": list(verdict.validity), "reference": verdict.reference}
    append_line(layout.launches, {**line, **load, **asked})
    if gone := runner.measured_before(plan):
        append_line(layout.launches, {"kind": "gone", "started": line["started"], "runs": gone})
    if plan.carried is not None:
        append_line(layout.launches, carrying.line(plan.carried, line))


def as_measured(plan: runner.Plan) -> Matrix:
    """The plan, with the cells that have recorded runs as they were frozen when these were measured.

    Only the target `run` refuses a cell that was changed since. The pages of any other must not show a prompt that no
    run was given.
    """
    matrix, frozen = plan.matrix, Matrix.load(plan.output.plan)
    held = {run.cell for run in matrix.runs.values() if plan.output.run(run.directory).record.exists()}
    kept = {
        name: frozen.cells[name]
        for name, cell in matrix.cells.items()
        if name in held and name in frozen.cells and frozen.cells[name].fingerprint != cell.fingerprint
    }
    commit = frozen.source.commit if held or not matrix.source.commit else matrix.source.commit
    return replace(matrix, cells={**matrix.cells, **kept}, source=replace(matrix.source, commit=commit))


def line(workflow: Any, *, measures: bool) -> dict[str, Any]:
    """What launches.jsonl says of this launch for every matrix, and what its jobs copy into each record."""
    now = datetime.now(UTC)
    return {
        "kind": "launch",
        "id": f"{now:%Y%m%dT%H%M%S}-{os.getpid()}",
        "started": now.isoformat(timespec="seconds"),
        "host": socket.gethostname(),
        "executor": getattr(workflow.executor_plugin, "name", "local"),
        "agent": {"kind": "pi", "version": agent.version() if measures else None},
        "harness": {"version": version("trysquare"), "revision": _revision()},
    }


def pace(workflow: Any) -> None:
    """Fit the engine's scheduler to this launch."""
    scheduler = workflow.scheduler
    limiter = getattr(scheduler, "job_rate_limiter", None)
    if workflow.local_exec and limiter is not None and limiter.max_jobs >= UNPACED:
        scheduler.job_rate_limiter = None  # its timers would hold the exit for one second
    if workflow.modifier.is_main_snakefile() and hasattr(scheduler, "_input_sizes"):
        # It asks the disk for the input of every job that is ready, before every job it starts: with thousands of runs
        # that takes longer than the jobs. Only the order of equal priorities depends on it.
        scheduler._input_sizes = defaultdict(int)
        scheduler.update_input_sizes = _unasked
    if not workflow.local_exec:
        remote.follow(workflow)


async def _unasked(jobs: Iterable[Any]) -> None:
    pass


def _revision() -> str | None:
    """The commit of trysquare itself when it runs from a checkout."""
    root = Path(__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return None
    found = subprocess.run(
        ["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=False
    )
    return found.stdout.strip() or None

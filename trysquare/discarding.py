"""Setting the runs of a cell aside, so that they are measured again: an act of its own, which buys nothing.

An act is written down before the first run is moved, with the digest of each record it is about. So an act that was
interrupted can be finished, and one that is repeated never meets the runs that were measured since.
"""

import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trysquare import archive, history
from trysquare.errors import ArchiveError
from trysquare.files import append_line, read_lines
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import Matrix, RunPlan
from trysquare.measure import counted
from trysquare.refusals import show

NO_CELL = "discard: say whose runs are to be set aside, for instance --config 'cell=\"rule / off\"'."
TWO_STEPS = (
    "overwrite: the target `run` sets nothing aside; launch the target `discard` with cell=... and then `run`, or "
    "`trysquare run --overwrite CELL`, which does both."
)


def refuse_unfinished(layout: Layout, matrix: Matrix, cells: Sequence[str]) -> None:
    """Refuse to set a cell aside whose runs were set aside before and are not all measured again.

    An act that was interrupted is no reason: repeating it finishes it.

    Raises
    ------
    ArchiveError
        Naming the cell, and how many of its runs are to go.
    """
    for cell in cells:
        runs, lines = _runs(matrix, cell), _acts(layout, cell)
        missing = [run for run in runs if not layout.run(run.directory).record.exists()]
        if lines and missing and not _left(layout, matrix, lines[-1]):
            raise ArchiveError(
                f"{layout.root}: the runs of {show(cell)} were set aside before, and {len(missing)} of {len(runs)} are "
                "not measured again yet: launch `run` to finish that first."
            )


def refuse_interrupted(layout: Layout, matrix: Matrix) -> None:
    """Refuse to measure while a cell holds runs of before and after an act that was interrupted.

    Raises
    ------
    ArchiveError
        Naming the cell and the command that finishes the act.
    """
    for cell in matrix.cells:
        lines = _acts(layout, cell)
        if lines and _left(layout, matrix, lines[-1]):
            raise ArchiveError(
                f"{layout.root}: setting the runs of {show(cell)} aside was interrupted half way: launch the target "
                f"`discard` with cell={show(cell)} again, which finishes it, then `run`."
            )


def discard(layout: Layout, matrix: Matrix, cells: Sequence[str]) -> list[str]:
    """Set the runs of cells aside, their attempts and stages included; returns one line per cell.

    To be called while the lock of the matrix is held.

    Raises
    ------
    ArchiveError
        When an earlier act on one of the cells is not finished.
    """
    refuse_unfinished(layout, matrix, cells)
    said = []
    for cell in cells:
        lines = _acts(layout, cell)
        act = lines[-1] if lines and _left(layout, matrix, lines[-1]) else _announce(layout, matrix, cell)
        moved = [_set_aside(layout, run) for run in _left(layout, matrix, act)]
        for run in _runs(matrix, cell):
            _reset(layout, run.id)
        said.append(
            f"{layout.root}: set aside under {layout.discarded.name}/: {counted(len(moved), 'run')} of {show(cell)}"
        )
    return said


def _runs(matrix: Matrix, cell: str) -> list[RunPlan]:
    return [run for run in matrix.runs.values() if run.cell == cell]


def _acts(layout: Layout, cell: str) -> list[Mapping[str, Any]]:
    return [line for line in history.of_kind(read_lines(layout.launches), "discard") if line.get("cell") == cell]


def _left(layout: Layout, matrix: Matrix, act: Mapping[str, Any]) -> list[RunLayout]:
    """The runs an act is about that are still where they were."""
    found = []
    for name, record in act["runs"].items():
        if name in matrix.runs:
            run = layout.run(matrix.runs[name].directory)
            if run.record.exists() and archive.record_digest(run) == record:
                found.append(run)
    return found


def _announce(layout: Layout, matrix: Matrix, cell: str) -> dict[str, Any]:
    runs = [layout.run(run.directory) for run in _runs(matrix, cell)]
    act = {
        "kind": "discard",
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "cell": cell,
        "runs": {run.id: archive.record_digest(run) for run in runs if run.record.exists()},
    }
    append_line(layout.launches, act)
    return act


def _set_aside(layout: Layout, run: RunLayout) -> Path:
    """Move one run, its attempts inside it, by one rename."""
    _gather_attempts(layout, run.id, run.root)
    target = _free(layout, run.id)
    target.parent.mkdir(exist_ok=True)
    run.root.rename(target)
    return target


def _reset(layout: Layout, run_id: str) -> None:
    """Set aside what runs that were never committed left: attempts, and stages that must not be committed any more."""
    for stage in [*layout.incoming.glob(f"{run_id}-*"), *layout.incoming.glob(f"judge-{run_id}-*")]:
        target = _free(layout, run_id)
        target.parent.mkdir(exist_ok=True)
        stage.rename(target)
    if layout.attempts(run_id).exists() or layout.attempt_sessions(run_id).exists():
        target = _free(layout, run_id)
        target.mkdir(parents=True)
        _gather_attempts(layout, run_id, target)


def _gather_attempts(layout: Layout, run_id: str, target: Path) -> None:
    for path in (layout.attempts(run_id), layout.attempt_sessions(run_id)):
        if path.exists():
            place = target / ("attempts" + path.suffix)
            if place.is_dir():
                shutil.rmtree(place)
            path.replace(place)


def _free(layout: Layout, run_id: str) -> Path:
    count = 0
    while (layout.discarded / f"{run_id}.{count}").exists():
        count += 1
    return layout.discarded / f"{run_id}.{count}"

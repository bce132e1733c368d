"""Carrying: a run that a smaller matrix of the same experiment holds is copied whole instead of measured again."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trysquare import archive, history
from trysquare.errors import ArchiveError
from trysquare.files import read_json, read_lines
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import Matrix
from trysquare.outputs.carry import Carried, mismatches
from trysquare.outputs.paths import run_location

STATED = ("directory", "repetitions", "runs")
"""What a carry repeats of the carries its source had."""


def line(carried: Carried, launch: Mapping[str, Any]) -> dict[str, Any]:
    """What launches.jsonl says of one carry; jobs read from it where their runs come from.

    `launches` are the launches that measured the runs, which no other file of this matrix knows; `earlier` are the
    carries by which some of them had come to the source.
    """
    loads = {entry["launch"]["id"]: _load(entry) for entry in carried.entries.values()}
    before = history.of_kind(read_lines(Layout(carried.directory).launches), "carry")
    earlier = [
        {name: each[name] for name in STATED} for each in before if not carried.entries.keys().isdisjoint(each["runs"])
    ]
    return {
        "kind": "carry",
        "launch": launch["id"],
        "started": launch["started"],
        "directory": carried.directory.name,
        "repetitions": carried.repetitions,
        "runs": sorted(carried.entries),
        "launches": list(loads.values()),
        "earlier": earlier,
    }


def _load(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "launch", **record["launch"], "agent": record.get("agent"), "harness": record.get("harness")}


def source(layout: Layout, run_id: str) -> RunLayout | None:
    """Where the last carry said that a run comes from; None for a run that none named."""
    named = [each for each in history.of_kind(read_lines(layout.launches), "carry") if run_id in each["runs"]]
    return None if not named else _located(layout.root.parent / named[-1]["directory"], run_id)


def _located(directory: Path, run_id: str) -> RunLayout:
    found: Sequence[Path] = sorted((directory / "runs").glob(f"*/{run_id}"))
    return RunLayout(found[0] if found else run_location(directory / "runs", run_id, None))


def carry(layout: Layout, matrix: Matrix, directory: str) -> int:
    """Copy one run and commit it, unless it is recorded here already; returns the job's exit status.

    Raises
    ------
    ArchiveError
        When no carry named the run, or what it names is damaged or was measured as something else.
    """
    run = layout.run(directory)
    with archive.locked(layout.lock(run.id)):
        if run.record.exists():
            archive.emit_pointer(run)
            print(f"{run.id}: recorded before, kept")
            return 0
        archive.refuse_occupied(run)
        found = source(layout, run.id)
        if found is None:
            raise ArchiveError(f"{layout.launches} names no carry of run {run.id}: launch `run` with extend=true.")
        _check(found, matrix)
        layout.incoming.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=layout.incoming, prefix=f"carry-{run.id}-") as aside:
            stage = Path(aside) / run.id
            shutil.copytree(found.root, stage, symlinks=True)
            archive.commit(stage, run)
    print(f"{run.id}: carried from {found.root}")
    return 0


def _check(found: RunLayout, matrix: Matrix) -> None:
    problems = archive.damage(found)
    if not problems:
        problems = mismatches(read_json(found.record), read_json(found.configuration), matrix)
    if problems:
        raise ArchiveError(
            f"{found.root} cannot be carried: {'; '.join(problems)}. Restore it from a copy, or leave extend out and "
            "measure the run."
        )

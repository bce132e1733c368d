"""The commits that the runs of a matrix were measured at: one, or nothing is published."""

from collections.abc import Iterable
from pathlib import Path

from trysquare.files import read_json
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import Matrix
from trysquare.measure import Run, counted
from trysquare.outputs import archived_run_dirs


def several(layout: Layout, matrix: Matrix, runs: Iterable[Run]) -> str:
    """Why runs cannot stand in one table: they saw more than one commit under one etalon; empty when they can."""
    wanted = {run.id for run in runs}
    found: dict[str, list[str]] = {}
    for directory in archived_run_dirs(layout.root):
        commit = _commit(directory) if directory.name in wanted else None
        if commit is not None:
            found.setdefault(commit, []).append(directory.name)
    if len(found) < 2:
        return ""
    seen = "; ".join(
        f"{commit[:12]} in {counted(len(ids), 'run')} ({ids[0]}{', ...' if len(ids) > 1 else ''})"
        for commit, ids in sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    )
    return (
        f"{layout.root}: its runs saw {len(found)} commits under the etalon '{matrix.source.etalon}': {seen}; of "
        "such a mixture nothing is published: put the tag back, discard the other runs' cells, and measure these again."
    )


def _commit(directory: Path) -> str | None:
    try:
        commit = read_json(RunLayout(directory).configuration).get("etalon_commit")
    except FileNotFoundError:
        return None
    return None if commit is None else str(commit)

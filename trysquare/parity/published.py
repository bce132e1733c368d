"""The rows that the earlier bench published: a JSON list of runs, under French names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trysquare.errors import ArchiveError
from trysquare.files import read_json
from trysquare.measure import Run, consumed_tokens
from trysquare.outputs import archived_run_dirs

VALIDITY = ("delivered", "tests")
"""The metrics the bench wanted true for a run to count."""

USAGE = {
    "input": "input",
    "cacheRead": "cacheRead",
    "output": "output",
    "cost": "cout",
    "turns": "tours",
    "retries": "reprises",
}
"""Parts of the usage of a run, and what the bench calls them."""

METRICS = {
    "debordement": "overflow",
    "livre": "delivered",
    "perimetre": "in_scope",
    "tests": "tests",
    "apiStable": "api_stable",
    "issues": "issues",
    "touches": "touched",
}
"""What the bench calls its metrics, in its `note`, and what they are called here; others keep their names."""

NEEDED = ("cellule", "input", "output", "tours", "duree")


class ParityError(ArchiveError):
    """A published file that is not one, or that does not hold what a layer needs."""


def read_bench_measures(path: str | Path) -> dict[str, list[Run]]:
    """The published runs by cell, cells and runs in the order of the file.

    That order is what resampling draws by: the number of a repetition is the place of a row among those of its cell.

    Raises
    ------
    ParityError
        When the file is no list of such rows.
    """
    by_cell: dict[str, list[Run]] = {}
    for position, row in enumerate(_rows(path), 1):
        if absent := [name for name in NEEDED if name not in row]:
            raise ParityError(f"{path}: row {position} lacks {', '.join(absent)}: name the file the bench published.")
        of_cell = by_cell.setdefault(str(row["cellule"]), [])
        of_cell.append(_run(row, len(of_cell), f"{path}: row {position}"))
    return by_cell


def published_by_id(path: str | Path) -> dict[str, Run]:
    """The published runs by identifier; a row without one cannot be matched to an archive, and is left out.

    Raises
    ------
    ParityError
        When two rows have the same identifier.
    """
    found: dict[str, Run] = {}
    for runs in read_bench_measures(path).values():
        for run in runs:
            if run.id in found:
                raise ParityError(
                    f"{path}: two rows have the identifier {run.id}: which of them was archived is unknown."
                )
            if run.id:
                found[run.id] = run
    return found


def archived_runs(rows: Mapping[str, Run], archive: str | Path) -> dict[str, Path]:
    """The directories of the published runs that an archive can reconstitute: those that hold a diff.patch."""
    return {name: path for name, path in directories(rows, archive).items() if (path / "diff.patch").is_file()}


def directories(rows: Mapping[str, Run], archive: str | Path) -> dict[str, Path]:
    """The directories of the published runs, `<archive>/<id>` or below `runs/` of a matrix directory."""
    root = Path(archive)
    if not root.is_dir():
        raise ParityError(f"{root} is no directory: name the archive of the runs.")
    nested = {path.name: path for path in archived_run_dirs(root)}
    found = {name: root / name if (root / name).is_dir() else nested.get(name) for name in rows}
    return {name: path for name, path in found.items() if path is not None}


def _rows(path: str | Path) -> list[Mapping[str, Any]]:
    try:
        rows = read_json(path)
    except (FileNotFoundError, IsADirectoryError):
        raise ParityError(f"{path} is no file: name the measures the bench published.") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ParityError(f"{path} is no list of runs: name the measures the bench published.")
    return rows


def _run(row: Mapping[str, Any], repetition: int, where: str) -> Run:
    note = row.get("note")
    if not isinstance(note, dict | None):
        raise ParityError(f"{where} has a note that is no object: restore the published file.")
    usage = {name: row.get(key) for name, key in USAGE.items()}
    metrics = {METRICS.get(str(name), str(name)): value for name, value in (note or {}).items() if value is not None}
    # The bench counts a prompt that was served from the cache among its input or not at all.
    state = (
        "empty" if not consumed_tokens({**usage, "cacheWrite": 0}) else "validator_failed" if note is None else "valid"
    )
    return Run(
        id=str(row.get("identifiant") or ""),
        cell=str(row["cellule"]),
        repetition=repetition,
        usage=usage,
        duration=row["duree"],
        metrics=metrics,
        state=state,
        attempts=row.get("essais") or 1,
    )

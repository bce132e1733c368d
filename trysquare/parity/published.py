"""The rows that the earlier bench published: a JSON list of runs, under French names."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trysquare.errors import ArchiveError
from trysquare.files import read_json
from trysquare.measure import Run, consumed_tokens, kind, valid_runs
from trysquare.outputs import archived_run_dirs
from trysquare.refusals import listed, show

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

NUMBERS = (*USAGE.values(), "duree")
"""Keys of a row that hold a number, or null where it is not known."""

NEEDED = ("cellule", "input", "output", "tours", "duree", "note")


class ParityError(ArchiveError):
    """A published file that is not one, or that does not hold what a layer needs."""


def read_bench_measures(path: str | Path) -> dict[str, list[Run]]:
    """The published runs by cell, cells and runs in the order of the file.

    That order is what resampling draws by: the number of a repetition is the place of a row among those of its cell.

    Raises
    ------
    ParityError
        When the file is no list of such rows, naming the row, its key and what to write.
    """
    by_cell: dict[str, list[Run]] = {}
    for position, row in enumerate(_rows(path), 1):
        _refuse_row(row, f"{path}: row {position}")
        of_cell = by_cell.setdefault(row["cellule"], [])
        of_cell.append(_run(row, len(of_cell)))
    return by_cell


def refuse_unjudged(path: str | Path, reference: str, criterion: str) -> None:
    """Refuse rows that no table can be made of: without a run of the reference that counts, or a criterion to compare.

    Raises
    ------
    ParityError
        Naming the file, the row where it is one, and the key.
    """
    by_cell = read_bench_measures(path)
    if reference not in by_cell:
        raise ParityError(
            f"{path}: no row has the `cellule` {show(reference)}, which is compared with; found {listed(by_cell)}: "
            "name with --scenario the scenario that declares its reference."
        )
    if not valid_runs(by_cell[reference], VALIDITY):
        raise ParityError(
            f"{path}: no row of {show(reference)} counts, since none has `livre` and `tests` true in its `note`, and "
            "tokens and turns: write what the bench published."
        )
    _refuse_mixed(path, next((key for key, name in METRICS.items() if name == criterion), criterion))


def _refuse_mixed(path: str | Path, key: str) -> None:
    """Refuse a criterion that is in no row, or is not of one kind in all of them."""
    notes = ((position, row["note"] or {}) for position, row in enumerate(_rows(path), 1))
    values = [(position, note[key]) for position, note in notes if note.get(key) is not None]
    if not values:
        raise ParityError(
            f"{path}: no row has the criterion `{key}` in its `note`: write it there, or name with --scenario the "
            "scenario that declares another."
        )
    of_first = kind(values[0][1])
    for position, value in values:
        if kind(value) == "diagnostic" or kind(value) != of_first:
            raise ParityError(
                f"{path}: row {position} has the `{key}` {show(value)} in its `note`: write booleans alone or numbers "
                "alone in all rows, or null where it was not judged."
            )


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
                    f"{path}: two rows have the `identifiant` {show(run.id)}, so that which of them was archived is "
                    "unknown: write the name of each run's own directory."
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
    if not rows:
        raise ParityError(f"{path} holds no run: name the measures the bench published.")
    return rows


def _refuse_row(row: Mapping[str, Any], where: str) -> None:
    """Refuse one row whose keys do not hold what the bench wrote there."""
    if absent := [name for name in NEEDED if name not in row]:
        null = " (null for a run that was never scored)" if "note" in absent else ""
        raise ParityError(f"{where} lacks {', '.join(absent)}: write what the bench published{null}.")
    wrong = [
        ("cellule", isinstance(row["cellule"], str) and bool(row["cellule"]), "the name of its cell"),
        *((name, _is_number(row.get(name)), "a number from 0, or null where it is not known") for name in NUMBERS),
        ("essais", row.get("essais") is None or _is_count(row["essais"]), "how often it was tried, from 1"),
        ("note", isinstance(row["note"], dict | None), "an object, or null for a run that was never scored"),
        ("identifiant", _is_name(row.get("identifiant")), "the name of its directory, or leave it out"),
    ]
    for name, right, what in wrong:
        if not right:
            raise ParityError(f"{where} has the `{name}` {show(row.get(name))}: write {what}.")
    for name, value in (row["note"] or {}).items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ParityError(f"{where} has the `{name}` {show(value)} in its `note`: write a number, or null.")


def _is_number(value: Any) -> bool:
    return value is None or (kind(value) == "median" and value >= 0)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_name(value: Any) -> bool:
    return value in (None, "") or (isinstance(value, str) and "/" not in value and value not in (".", ".."))


def _run(row: Mapping[str, Any], repetition: int) -> Run:
    note = row["note"]
    usage = {name: row.get(key) for name, key in USAGE.items()}
    metrics = {METRICS.get(str(name), str(name)): value for name, value in (note or {}).items() if value is not None}
    # The bench counts a prompt that was served from the cache among its input or not at all.
    state = (
        "empty" if not consumed_tokens({**usage, "cacheWrite": 0}) else "validator_failed" if note is None else "valid"
    )
    return Run(
        id=str(row.get("identifiant") or ""),
        cell=row["cellule"],
        repetition=repetition,
        usage=usage,
        duration=row["duree"],
        metrics=metrics,
        state=state,
        attempts=row.get("essais") or 1,
    )

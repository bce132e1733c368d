"""Reading an archive of the original trysquare: its ledger, its measures, and what each run left.

::

    state.json             scenario, etalon, provider, model, load, cells {name: fingerprint}, runs {id: {cell, ...}}
    measures.json          one row per run that was measured
    runs/<cell>/<id>/      or runs/<id>/ in a blind tree
      configuration.json   diff.patch
      session/*.jsonl      one per attempt
      validation/<mode>.json  <mode>.stderr  <mode>/context.json
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trysquare.errors import ArchiveError
from trysquare.files import read_json
from trysquare.layout import Layout, RunLayout
from trysquare.measure import Run, counted
from trysquare.outputs import archived_run_dirs, measures_in
from trysquare.outputs.paths import ledger_run_dirs
from trysquare.readers.view import Archive, ArchivedCell, ArchivedRun, ArchivedValidator

RECORDED = ("scenario", "etalon", "provider", "model", "repetitions")
"""What a ledger must say for the matrix to be named at all."""

NO_PLAN = "It keeps no plan: criterion, reference, validity, draws, prompts and bricks are in no file of it."


def read_original(root: Path) -> Archive:
    """The matrix that a ledger of the original trysquare describes. Reads, and writes nothing.

    Raises
    ------
    ArchiveError
        When the ledger is damaged, or two files say different things of a run.
    """
    state = _ledger(root)
    rows = _rows(root)
    runs = _runs(root, state, rows)
    cells = _cells(state)
    return Archive(
        root=root,
        original=True,
        scenario=str(state["scenario"]),
        title=str(state["scenario"]),
        repo=state.get("repo") or _first(runs, "repo"),
        etalon=str(state["etalon"]),
        commit=None,
        provider=str(state["provider"]),
        model=str(state["model"]),
        repetitions=state["repetitions"],
        concurrency=state.get("concurrency"),
        timeout=state.get("timeout"),
        overrides=_overrides(state),
        cells=cells,
        runs=tuple(sorted(runs, key=lambda run: (_position(run.cell, cells), run.repetition))),
        declared=tuple(_declared(runs)),
        validators={name: ArchivedValidator(name) for run in runs for name in _validators(run)},
        rehearsed=any(row.rehearsed for row in rows.values()),
        lacks=tuple(_lacks(runs, state, cells)),
    )


def _ledger(root: Path) -> Mapping[str, Any]:
    path = Layout(root).state
    state = read_json(path)
    runs = state.get("runs") if isinstance(state, dict) else None
    if not isinstance(runs, dict) or not all(isinstance(run, dict) and "cell" in run for run in runs.values()):
        raise ArchiveError(f"{path} is no ledger of runs: restore it, or name another matrix directory.")
    if absent := [name for name in RECORDED if name not in state]:
        raise ArchiveError(f"{path} does not say {', '.join(absent)}: restore it, the matrix cannot be named without.")
    if not isinstance(state["repetitions"], int):
        raise ArchiveError(f"{path} has {state['repetitions']!r} repetitions: restore it.")
    return dict(state)


def _rows(root: Path) -> dict[str, Run]:
    rows: dict[str, Run] = {}
    for raw in measures_in(root, "restore it from a copy"):
        if not isinstance(raw, dict):
            raise ArchiveError(f"{Layout(root).measures} holds a row that is no object: restore it.")
        row = Run.from_row(raw)
        if row.id in rows:
            raise ArchiveError(f"{Layout(root).measures} has two rows of run {row.id}: restore it.")
        rows[row.id] = row
        if "state" not in raw:
            row.state = ""
    return rows


def _runs(root: Path, state: Mapping[str, Any], rows: Mapping[str, Run]) -> list[ArchivedRun]:
    """Every run of the ledger, with the row it has; a row of which the ledger does not know is refused."""
    ledger: Mapping[str, Any] = state["runs"]
    if strangers := [name for name in rows if name not in ledger]:
        raise ArchiveError(f"{Layout(root).state} knows nothing of run {strangers[0]}, which has measures: restore it.")
    found = {tree.name: tree for tree in archived_run_dirs(root)}
    expected = ledger_run_dirs(root, state)
    runs = []
    for name, entry in ledger.items():
        row = rows.get(name)
        if row is not None and row.cell != entry["cell"]:
            raise ArchiveError(
                f"{root}: run {name} is of {entry['cell']!r} in state.json and of {row.cell!r} in measures.json: "
                "restore the file that was changed."
            )
        standing = _state(entry, row)
        if row is not None:
            row.state, row.attempts = standing, int(entry.get("attempts", row.attempts))
        repetition = int(entry.get("repetition", row.repetition if row else 0))
        files = RunLayout(found.get(name, expected[name]))
        runs.append(ArchivedRun(name, entry["cell"], repetition, standing, files, row))
    return runs


def _state(entry: Mapping[str, Any], row: Run | None) -> str:
    """What a run counts as: valid only where the ledger and the measures both say so."""
    said = str(entry.get("state", "missing"))
    if row is None:
        return "missing" if said == "valid" else said
    return row.state or said if said == "valid" else said


def _cells(state: Mapping[str, Any]) -> dict[str, ArchivedCell]:
    declared = state.get("cells")
    if not isinstance(declared, dict) or not declared:
        declared = dict.fromkeys(run["cell"] for run in state["runs"].values())
    levels = state.get("thinking")
    levels = levels if isinstance(levels, dict) else {}
    return {
        name: ArchivedCell(name, levels.get(name), fingerprint if isinstance(fingerprint, str) else None)
        for name, fingerprint in declared.items()
    }


def _position(cell: str, cells: Mapping[str, ArchivedCell]) -> tuple[int, str]:
    names = list(cells)
    return (names.index(cell), "") if cell in cells else (len(names), cell)


def _overrides(state: Mapping[str, Any]) -> tuple[str, ...]:
    said = state.get("overrides") or ()
    if isinstance(said, Mapping):
        return tuple(f"{name} -> {value}" for name, value in said.items())
    return tuple(str(line) for line in said)


def _first(runs: Iterable[ArchivedRun], key: str) -> str | None:
    return next((str(value) for run in runs if (value := run.configuration.get(key))), None)


def _validators(run: ArchivedRun) -> list[str]:
    return sorted(path.stem for path in run.files.validation.glob("*.json"))


def _declared(runs: Sequence[ArchivedRun]) -> list[str]:
    """The metrics the scenario contracted for, which the contexts of the validators carry."""
    for run in runs:
        contexts = [run.files.root / "context.json", *sorted(run.files.validation.glob("*/context.json"))]
        found = [read_json(path) for path in contexts if path.exists()]
        names = [name for context in found if isinstance(context, dict) for name in context.get("declared") or ()]
        if names:
            return list(dict.fromkeys(names))
    return []


def _lacks(runs: Sequence[ArchivedRun], state: Mapping[str, Any], cells: Mapping[str, ArchivedCell]) -> list[str]:
    """What cannot be known from the archive, and what else its numbers must be read with, a sentence each."""
    measured = [run for run in runs if run.run is not None]
    found = [NO_PLAN]
    texts = [name for name in ("prompt", "response") if not all(getattr(run.files, name).exists() for run in measured)]
    if texts:
        found.append(f"The {' and the '.join(texts)} of its runs {'are' if len(texts) > 1 else 'is'} not archived.")
    if not state.get("cells"):
        found.append("It keeps no fingerprints: whether a cell changed between its runs cannot be told.")
    else:
        found.append("Its fingerprints cover what the scenario declares, not the contents of the files it names.")
    found += [
        f"{what} is not recorded in {counted(count, 'run')} of {len(measured)}."
        for what, count in (
            ("The id of the model that answered (model_id)", _without(measured, "model_id")),
            ("The commit of the etalon", _without(measured, "etalon_commit")),
            ("The version of the agent", sum(row.agent_version is None for row in map(_row, measured))),
            ("The isolation", sum(row.isolation is None for row in map(_row, measured))),
            ("How often the provider's answers were retried", sum(_unknown(run) for run in measured)),
        )
        if count
    ]
    if carried := sum(bool(entry.get("carried")) for entry in state["runs"].values()):
        found.append(
            f"{counted(carried, 'run')} came from a smaller matrix: durations and costs of a cell are of more than one "
            "session of measuring."
        )
    found += [run.damage for run in runs if run.damage]
    if lost := [run.id for run in runs if run.run is None and run.state == "missing" and _ran(run, state)]:
        found.append(
            f"{counted(len(lost), 'run')} that state.json calls valid have no row in measures.json and count as "
            f"missing: {', '.join(lost[:10])}."
        )
    return found


def _row(archived: ArchivedRun) -> Run:
    assert archived.run is not None
    return archived.run


def _unknown(archived: ArchivedRun) -> bool:
    return _row(archived).usage.get("retries") is None


def _without(runs: Iterable[ArchivedRun], key: str) -> int:
    return sum(not run.configuration.get(key) for run in runs)


def _ran(run: ArchivedRun, state: Mapping[str, Any]) -> bool:
    return bool(state["runs"][run.id].get("state") == "valid")

"""Looking again at an archive of the original trysquare: its trees and contexts, and, where asked, its verdicts."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trysquare import validation
from trysquare.archive import DAMAGED
from trysquare.errors import TrysquareError
from trysquare.files import read_json, write_json, write_text
from trysquare.layout import Layout
from trysquare.losses import lost
from trysquare.matrix import ValidatorPlan
from trysquare.measure import Run, merge
from trysquare.readers.planning import planned
from trysquare.readers.trees import Ground, context_of, ground, rebuild_original, verdicts_of
from trysquare.readers.view import Archive, ArchivedRun

KEPT = {"valid", "validator_failed"}
"""States of runs that have a tree to score; a run that produced nothing is left alone."""


def replay_original(archive: Archive, scenario: Path, machine_file: str | None = None) -> Iterator[str]:
    """Rebuild the tree of every measured run, with a fresh context beside it; yields one line per run.

    They are put under `<work directory>/replays/<matrix>/<id>/`. The archive itself stays as it is.

    Raises
    ------
    TrysquareError
        When the scenario is not the one it was measured with, or this machine does not have its repository.
    """
    planned(archive, scenario)
    with ground(scenario, archive.root.absolute().name, machine_file) as prepared:
        for archived in _scorable(archive):
            work = prepared.work / archived.id
            try:
                tree = rebuild_original(prepared, archived, work)
                context_of(prepared, archived, tree, work / "context")
                yield f"{_named(archived)}: {tree}"
            except TrysquareError as error:
                shutil.rmtree(work, ignore_errors=True)
                yield f"{DAMAGED}{_named(archived)}: {error}"


def rescore_original(archive: Archive, scenario: Path, machine_file: str | None = None) -> Iterator[str]:
    """Run the script validators of a scenario over every measured run and write down what they return, in the archive.

    Verdicts, metrics, reasons and states are replaced, and a verdict that is replaced stays as `<name>.previous.json`.
    Usage, durations, attempts and verdicts of other modes are not touched. Yields a line for each run that is damaged,
    which keeps what it has, and for each metric that had a value and lost it.

    Raises
    ------
    TrysquareError
        When the scenario is not the one it was measured with, or this machine does not have its repository.
    """
    planned(archive, scenario)
    layout = Layout(archive.root)
    rows, state = read_json(layout.measures), read_json(layout.state)
    before = {row["id"]: dict(row) for row in rows}
    places = {row["id"]: row for row in rows}
    with ground(scenario, machine_file=machine_file) as prepared:
        for archived in _scorable(archive):
            try:
                scored = _scored(prepared, archived)
            except TrysquareError as error:
                yield f"{DAMAGED}{_named(archived)}: {error}"
                continue
            places[archived.id].update(scored)
            if not scored["unjudged"]:
                del places[archived.id]["unjudged"]
            entry = {**state["runs"][archived.id], "state": scored["state"]}
            entry.pop("detail", None)
            state["runs"][archived.id] = entry | ({"detail": scored["detail"]} if scored["detail"] else {})
            write_json(layout.measures, rows)
            write_json(layout.state, state)
    yield from lost(before.values(), [Run.from_row(row) for row in rows], prepared.matrix.declared)


def _scorable(archive: Archive) -> list[ArchivedRun]:
    return [archived for archived in archive.runs if archived.run is not None and archived.state in KEPT]


def _named(archived: ArchivedRun) -> str:
    return f"{archived.id} ({archived.cell}, repetition {archived.repetition})"


def _scored(prepared: Ground, archived: ArchivedRun) -> dict[str, Any]:
    """The parts of a row that scoring decides; what the validators returned is stored beside the run."""
    work = prepared.work / archived.id
    try:
        tree = rebuild_original(prepared, archived, work)
        fresh = verdicts_of(prepared, context_of(prepared, archived, tree, work / "context"), work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for name, result in fresh.items():
        _store(archived, name, result)
    validators = prepared.matrix.validators
    results = [
        (name, fresh[name].payload if name in fresh else _stored(archived, validator))
        for name, validator in validators.items()
    ]
    merged = merge(results, {name: validator.metrics for name, validator in validators.items()})
    reasons = {name: reason for name, reason in merged.reasons.items() if name not in merged.unjudged}
    problems = [f"{name}: {result.detail}" for name, result in fresh.items() if result.payload is None]
    return {
        "metrics": merged.metrics,
        "reasons": reasons,
        "unjudged": merged.unjudged,
        "state": merged.state,
        "detail": "; ".join(problems) or merged.detail,
    }


def _store(archived: ArchivedRun, name: str, result: validation.Result) -> None:
    """Put a verdict in the place of the one before, which stays beside it unless it says the same."""
    current, previous = archived.files.verdict(name), archived.files.previous(name)
    said = {key: value for key, value in (result.payload or {}).items() if value or key != "unjudged"}
    if current.exists() and read_json(current) != said:
        current.replace(previous)
    if result.payload is not None:
        write_json(current, said)
    write_text(archived.files.stderr(name), result.stderr)


def _stored(archived: ArchivedRun, validator: ValidatorPlan) -> dict[str, Any] | None:
    """What a validator of another mode said before: its own file, or what people filled in."""
    assert archived.run is not None
    try:
        verdict = read_json(archived.files.verdict(validator.name))
        return verdict if isinstance(verdict, dict) else None
    except FileNotFoundError:
        if validator.mode != "form":
            return None
    given = {name: archived.run.metrics[name] for name in validator.metrics if name in archived.run.metrics}
    unanswered = (name for name in validator.metrics if name not in given)
    return {"metrics": given, "unjudged": dict.fromkeys(unanswered, "never answered")}

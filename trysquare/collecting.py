"""What the archive of a matrix says: every run's state and measures, derived from disk alone."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trysquare import archive, history, rounds, stored
from trysquare.errors import ArchiveError
from trysquare.files import read_json, read_lines, write_json, write_text
from trysquare.forms.answers import PENDING, answered, pending_lines
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import Matrix, ValidatorPlan
from trysquare.measure import Run, merge, one_line
from trysquare.outputs import cell_dir, incomplete_note

UNSCORED, OLDER = "not scored yet", "scored with an older validator"
KINDS = ("validator_failed", "unscored", "damaged")


@dataclass(frozen=True)
class State:
    """The runs of a matrix: `runs` in declared order then undeclared cells; `planned` counts the declared ones only.

    `states` maps each planned run id to missing, empty, validator_failed or valid.
    """

    matrix: Matrix
    runs: tuple[Run, ...]
    states: Mapping[str, str]
    details: Mapping[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every declared run is valid; nothing can complete imported measures, so they always are."""
        return self.matrix.imported is not None or all(state == "valid" for state in self.states.values())

    @property
    def rehearsed(self) -> bool:
        """Whether a script played the model, in any of its runs."""
        return self.matrix.rehearsal is not None or any(run.rehearsed for run in self.runs)

    @property
    def counts(self) -> Counter[str]:
        """How many planned runs are in each state."""
        return Counter(self.states.values())


def derive(layout: Layout, matrix: Matrix) -> State:
    """Read every run of a matrix. Writes nothing."""
    if matrix.imported is not None:
        return _imported(layout, matrix)
    runs, states, details = [], {}, {}
    for planned in sorted(matrix.runs.values(), key=lambda run: (list(matrix.cells).index(run.cell), run.repetition)):
        run = layout.run(planned.directory)
        found = _recorded(layout, matrix, run) or _empty(layout, planned.id, planned.cell, planned.repetition)
        states[planned.id] = found.state if found else "missing"
        if found:
            runs.append(found)
            details[planned.id] = found.detail
    runs += _undeclared(layout, matrix)
    return State(matrix, tuple(runs), states, details)


def _imported(layout: Layout, matrix: Matrix) -> State:
    try:
        runs = tuple(Run.from_row(row) for row in read_json(layout.measures))
    except FileNotFoundError:
        raise ArchiveError(f"{layout.measures} does not exist: import the results again ({matrix.imported}).") from None
    return State(matrix, runs, {run.id: run.state for run in runs}, {run.id: run.detail for run in runs})


def lost(before: Iterable[Mapping[str, Any]], runs: Iterable[Run]) -> list[str]:
    """One sentence for every metric that had a value in an earlier measures.json and has none now."""
    now = {run.id: run for run in runs}
    return [
        f"lost: {name} of run {row['id']} ({row['cell']}, repetition {row['repetition']}) had the value "
        f"{json.dumps(value, ensure_ascii=False)} and has none now: {_why_lost(now[row['id']], name)}"
        for row in before
        if row["id"] in now
        for name, value in row["metrics"].items()
        if name not in now[row["id"]].metrics
    ]


def _why_lost(run: Run, metric: str) -> str:
    return one_line(run.unjudged.get(metric) or run.detail) or "it is no longer returned"


def _undeclared(layout: Layout, matrix: Matrix) -> list[Run]:
    """Recorded runs of cells the scenario no longer declares: they stay in every table and hold nothing incomplete."""
    root = layout.root / "runs"
    planned = {run.directory for run in matrix.runs.values()}
    records = sorted(root.glob("*/run.json")) + sorted(root.glob("*/*/run.json"))
    found = []
    for record in records:
        directory = record.parent.relative_to(root).as_posix()
        if directory not in planned:
            run = _recorded(layout, matrix, RunLayout(record.parent))
            if run is not None and run.cell not in {*matrix.cells, *map(cell_dir, matrix.cells)}:
                found.append(run)
    return sorted(found, key=lambda run: (run.cell, run.repetition))


def _recorded(layout: Layout, matrix: Matrix, run: RunLayout) -> Run | None:
    try:
        return _read(matrix, run)
    except FileNotFoundError:
        problem = f"run.json is missing: {archive.remedy(run)}" if run.pointer.exists() else ""
    except ArchiveError as error:
        problem = str(error)
    except (KeyError, TypeError) as error:
        problem = f"run.json is not the record of a run ({error}): {archive.remedy(run)}"
    planned = matrix.runs.get(run.id)
    if not problem:
        return None
    cell, repetition = (planned.cell, planned.repetition) if planned else (run.root.parent.name, 0)
    return Run(run.id, cell, repetition, state="validator_failed", detail=archive.DAMAGED + problem, attempts=0)


def _read(matrix: Matrix, run: RunLayout) -> Run:
    record = archive.read_record(run)
    metrics, reasons, unjudged, state, detail = _scored(matrix, run)
    if archive.pointer_differs(run):
        state = "validator_failed"
        detail = f"{archive.DAMAGED}run.json is not the record its measured.json was written for: {archive.remedy(run)}"
    return Run(
        id=record["id"],
        cell=record["cell"],
        repetition=record["repetition"],
        usage=record["usage"],
        duration=record["duration"],
        metrics=metrics,
        reasons=reasons,
        state=state,
        detail=detail,
        attempts=record["attempts"],
        unjudged=unjudged,
        agent_version=record["agent"]["version"],
        isolation=record["isolation"],
        launch=record["launch"]["id"],
        timed_out=record.get("timed_out", False),
        rehearsed=record.get("rehearsed", False),
    )


def _scored(matrix: Matrix, run: RunLayout) -> tuple[dict[str, Any], dict[str, str], dict[str, str], str, str]:
    results: list[tuple[str, dict[str, Any] | None]] = []
    problems, damaged = [], ""
    for name, validator in matrix.validators.items():
        verdict, problem = None, ""
        try:
            verdict, problem = (answered(run, validator), "") if validator.mode == "form" else _verdict(run, validator)
        except ArchiveError as error:
            problem, damaged = str(error), archive.DAMAGED
        results.append((name, verdict))
        if problem:
            problems.append(f"{name}: {problem}")
    merged = merge(results, {name: validator.metrics for name, validator in matrix.validators.items()})
    reasons = {name: reason for name, reason in merged.reasons.items() if name not in merged.unjudged}
    unjudged = {name: reason for name, reason in merged.unjudged.items() if reason != PENDING}
    return merged.metrics, reasons, unjudged, merged.state, damaged + ("; ".join(problems) or merged.detail)


def _verdict(run: RunLayout, validator: ValidatorPlan) -> tuple[dict[str, Any] | None, str]:
    """What a validator said, and what is wrong with it; raises for what no launch can make again for nothing."""
    if validator.mode == "judge" and (round_ := rounds.newest(run, validator.name)) is not None:
        stored.judgement(run, validator.name, round_)
    try:
        verdict = stored.verdict(run, validator)
    except FileNotFoundError:
        return None, UNSCORED
    except ArchiveError as error:
        return None, str(error)
    if verdict.get("digest") != validator.digest:
        return None, OLDER
    if "failed" in verdict:
        return None, str(verdict["failed"])
    if validator.mode == "judge" and rounds.held(run, validator) is None:
        return None, UNSCORED
    return verdict, rounds.lacking(validator, verdict) if validator.mode == "judge" else ""


def _empty(layout: Layout, run_id: str, cell: str, repetition: int) -> Run | None:
    attempts = read_lines(layout.attempts(run_id))
    if not attempts:
        return None
    count = sum(line.get("attempt") is not None for line in attempts)
    detail = str(attempts[-1].get("detail", ""))
    return Run(run_id, cell, repetition, state="empty", detail=detail, attempts=count)


def collect(layout: Layout) -> State:
    """Derive a matrix and write measures.json, measures.parquet and state.json, each only when it changes."""
    matrix = Matrix.load(layout.plan)
    state = derive(layout, matrix)
    changed = write_json(layout.measures, [run.row() for run in state.runs])
    if changed or not layout.parquet.exists():
        _write_parquet(layout, state)
    if changed:
        for pointer in layout.ledger.glob("re*.*"):  # of pages that rest on other measures now
            pointer.unlink()
    write_json(layout.state, _state_json(layout, state))
    if not state.complete:
        withhold(layout, state)
    return state


def withhold(layout: Layout, state: State, why: str = "") -> None:
    """Replace the synthesis of a matrix by the line that says why there is none: that it is incomplete, or `why`."""
    for pointer in layout.ledger.glob("*"):
        pointer.unlink()
    for page in (*layout.root.glob("synthesis_ref-*"), layout.synthesis.with_suffix(".html")):
        page.unlink(missing_ok=True)
    write_text(layout.synthesis, (why or status_line(layout.root, state)) + "\n")


def status_line(directory: str | Path, state: State) -> str:
    """One line: how far a matrix is, and the command that completes it when it is not complete."""
    total, answers = len(state.states), pending_lines(state.matrix, {run.id: run.metrics for run in state.runs})
    standing = f"complete, {total} of {total} runs valid" if state.complete else _incomplete(state)
    if state.matrix.imported is not None:
        standing = f"imported, {state.counts['valid']} of {total} trials valid"
    return "; ".join([f"{directory}: {standing}", *answers])


def _incomplete(state: State) -> str:
    failed = [state.details[name] for name, found in state.states.items() if found == "validator_failed"]
    kinds = Counter(map(_kind, failed))
    counts = Counter({**state.counts, **dict.fromkeys(KINDS, 0), **kinds})
    told = [detail for detail in failed if _kind(detail) == "validator_failed"]
    return incomplete_note(counts, told, _act(state.matrix, failed))


def _kind(detail: str) -> str:
    """What the line calls a run that has no verdict: scoring it, not another validator, is what some of them need."""
    if detail.startswith(archive.DAMAGED):
        return "damaged"
    return "unscored" if all(part.endswith((UNSCORED, OLDER)) for part in detail.split("; ")) else "validator_failed"


def _act(matrix: Matrix, details: Sequence[str]) -> str:
    """The launch that completes a matrix: a verdict that lacks a metric is bought again only when that is asked for."""
    judges = [
        name
        for name, validator in matrix.validators.items()
        if validator.mode == "judge" and any(f"{rounds.again([name])} " in detail for detail in details)
    ]
    return f"launch the target `run` with {rounds.again(judges)}" if judges else "launch the target `run` again"


def _state_json(layout: Layout, state: State) -> dict[str, Any]:
    matrix = state.matrix
    lines = read_lines(layout.launches)
    launches, measured = history.of_kind(lines, "launch"), {run.id: run.launch for run in state.runs}
    carried = history.carried(lines, measured)
    found = {run.id: run for run in state.runs}
    return {
        "scenario": matrix.experiment.name,
        "etalon": matrix.source.etalon,
        "provider": matrix.agent.provider,
        "model": matrix.agent.model,
        "thinking": {name: cell.thinking for name, cell in matrix.cells.items()},
        "repetitions": matrix.protocol.repetitions,
        "concurrency": matrix.protocol.concurrency,
        "timeout": matrix.protocol.timeout,
        "layout": "blind" if matrix.blind else "grouped",
        "overrides": list(matrix.overrides),
        "complete": state.complete,
        "cells": {name: cell.fingerprint for name, cell in matrix.cells.items()},
        "runs": {
            run.id: _run_json(run, state.states[run.id], found.get(run.id))
            | ({"carried": True} if run.id in carried else {})
            for run in matrix.runs.values()
        },
        "carried": history.carries(lines, measured),
        "harness": launches[-1]["harness"] if launches else None,
    }


def _run_json(planned: Any, state: str, found: Run | None) -> dict[str, Any]:
    entry = {"cell": planned.cell, "repetition": planned.repetition, "state": state}
    entry["attempts"] = found.attempts if found else 0
    if found and found.detail:
        entry["detail"] = found.detail
    return entry


def _write_parquet(layout: Layout, state: State) -> None:
    """The frame of `trysquare.load` as a file; a metric that is no single type is text there, as JSON."""
    from trysquare.table.tidy import flat, frame

    table = flat(frame(state.runs, tuple(state.matrix.cells)))
    neighbour = layout.parquet.with_name(f".{layout.parquet.name}.new")
    table.to_parquet(neighbour, index=False)
    neighbour.replace(layout.parquet)

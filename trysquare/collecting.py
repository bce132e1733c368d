"""What the archive of a matrix says: every run's state and measures, derived from disk alone."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trysquare import history, rounds
from trysquare.errors import ArchiveError
from trysquare.files import read_json, read_lines, write_json, write_text
from trysquare.forms.answers import pending_lines
from trysquare.layout import Layout, RunLayout
from trysquare.losses import which
from trysquare.matrix import Matrix
from trysquare.measure import Run
from trysquare.outputs import LABELS, cell_dir, incomplete_note
from trysquare.recorded import Found, find, find_empty

TO_RENDER = "the target `render` writes the synthesis from them"


@dataclass(frozen=True)
class State:
    """The runs of a matrix: `runs` in declared order then undeclared cells; `planned` counts the declared ones only.

    `states` maps each planned run id to missing, empty, validator_failed or valid; `found` holds those not missing.
    """

    matrix: Matrix
    runs: tuple[Run, ...]
    states: Mapping[str, str]
    found: Mapping[str, Found] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every declared run is valid; nothing can complete imported measures, so they always are."""
        return self.matrix.imported is not None or all(state == "valid" for state in self.states.values())

    @property
    def rehearsed(self) -> bool:
        """Whether a script played the model, in any of its runs."""
        return self.matrix.rehearsal is not None or any(run.rehearsed for run in self.runs)

    def standing(self, run: Run) -> str:
        """The state of a run, told apart where it is not valid: `unscored`, `damaged` or really `validator_failed`."""
        return (run.id in self.found and self.found[run.id].kind) or run.state

    @property
    def scored(self) -> list[Run]:
        """The runs that no validator is still to look at."""
        return [run for run in self.runs if self.standing(run) != "unscored"]

    @property
    def counts(self) -> Counter[str]:
        """How many planned runs are in each state."""
        return Counter(self.states.values())


def derive(layout: Layout, matrix: Matrix) -> State:
    """Read every run of a matrix. Writes nothing."""
    if matrix.imported is not None:
        return _imported(layout, matrix)
    found, states = {}, {}
    for planned in sorted(matrix.runs.values(), key=lambda run: (list(matrix.cells).index(run.cell), run.repetition)):
        each = find(layout, matrix, layout.run(planned.directory)) or find_empty(layout, planned)
        if each is not None:
            found[planned.id] = each
        states[planned.id] = each.run.state if each else "missing"
    runs = [*(each.run for each in found.values()), *_undeclared(layout, matrix)]
    return State(matrix, tuple(runs), states, found)


def _imported(layout: Layout, matrix: Matrix) -> State:
    try:
        runs = tuple(Run.from_row(row) for row in read_json(layout.measures))
    except FileNotFoundError:
        raise ArchiveError(f"{layout.measures} does not exist: import the results again ({matrix.imported}).") from None
    return State(matrix, runs, {run.id: run.state for run in runs})


def _undeclared(layout: Layout, matrix: Matrix) -> list[Run]:
    """Recorded runs of cells the scenario no longer declares: they stay in every table and hold nothing incomplete."""
    root = layout.root / "runs"
    planned = {run.directory for run in matrix.runs.values()}
    records = sorted(root.glob("*/run.json")) + sorted(root.glob("*/*/run.json"))
    found = []
    for record in records:
        directory = record.parent.relative_to(root).as_posix()
        if directory not in planned:
            each = find(layout, matrix, RunLayout(record.parent))
            if each is not None and each.run.cell not in {*matrix.cells, *map(cell_dir, matrix.cells)}:
                found.append(each.run)
    return sorted(found, key=lambda run: (run.cell, run.repetition))


def collect(layout: Layout) -> State:
    """Derive a matrix and write measures.json, measures.parquet and state.json, each only when it changes."""
    matrix = Matrix.load(layout.plan)
    state = derive(layout, matrix)
    changed = write_json(layout.measures, [run.row() for run in state.runs])
    if changed and state.complete:
        _supersede(layout)
    if changed or not layout.parquet.exists():
        _write_parquet(layout, state)
    write_json(layout.state, _state_json(layout, state))
    if not state.complete:
        withhold(layout, state)
    return state


def _supersede(layout: Layout) -> None:
    """Replace each page of a matrix by the line that it rests on other measures than there are now."""
    for pointer in layout.ledger.glob("re*.*"):
        pointer.unlink()
    for page in (layout.synthesis, *layout.root.glob("synthesis_ref-*.md")):
        if page.exists():
            page.with_suffix(".html").unlink(missing_ok=True)
            write_text(page, f"{layout.root}: its measures have changed; {TO_RENDER}\n")


def withhold(layout: Layout, state: State, why: str = "") -> None:
    """Replace the synthesis of a matrix by the line that says why there is none: that it is incomplete, or `why`."""
    for pointer in layout.ledger.glob("*"):
        pointer.unlink()
    for page in (*layout.root.glob("synthesis_ref-*"), layout.synthesis.with_suffix(".html")):
        page.unlink(missing_ok=True)
    write_text(layout.synthesis, (why or status_line(layout.root, state)) + "\n")


def status_line(directory: str | Path, state: State, *, at_work: bool = False) -> str:
    """One line: how far a matrix is, and what completes one that is not complete: a launch `at_work`, or a command."""
    total, answers = len(state.states), pending_lines(state.matrix, {run.id: run.metrics for run in state.runs})
    standing = f"complete, {total} of {total} runs valid" if state.complete else _incomplete(state, at_work)
    if state.matrix.imported is not None:
        standing = f"imported, {state.counts['valid']} of {total} trials valid"
    return "; ".join([f"{directory}: {standing}", *answers])


def closing(directory: str | Path, state: State, *, at_work: bool = False, published: bool = False) -> str:
    """The line of `status_line`, and where the synthesis of a complete matrix is, or what writes it.

    It was `published` where the launch that says this had it written; if it is not there then, that failed.
    """
    line, layout = status_line(directory, state, at_work=at_work), Layout(Path(directory))
    if not state.complete or at_work or state.matrix.imported is not None:
        return line
    if (page := layout.synthesis.with_suffix(".html")).exists():
        return f"{line}; open {page}"
    return f"{line}; {'no synthesis was written: the failed line above says why' if published else TO_RENDER}"


def problem_lines(state: State) -> list[str]:
    """A line for every reason why recorded runs are not valid, with the runs it is said of."""
    found: dict[tuple[str, str], list[Run]] = {}
    for run in state.runs:
        if run.state != "valid":
            found.setdefault((LABELS[state.standing(run)], run.detail), []).append(run)
    return [f"{label}  {which(runs)}  {detail}" for (label, detail), runs in found.items()]


def _incomplete(state: State, at_work: bool) -> str:
    recorded = [each.run for each in state.found.values()]
    missing = Counter(missing=state.counts["missing"])
    counts = missing + Counter(state.standing(run) for run in recorded)
    told = [run.detail for run in recorded if state.standing(run) == "validator_failed"]
    owing = {problem.rejudge for each in state.found.values() for problem in each.problems}
    judges = [name for name in state.matrix.validators if name in owing]
    settings = ["--config rehearse=true"] * state.matrix.played + [rounds.again(judges)] * bool(judges)
    act = f"launch the target `run` with {' '.join(settings)}" if settings else "launch the target `run` again"
    if told and not judges:
        act = f"correct the validator if it is at fault, {act}"
    return incomplete_note(counts, told, None if at_work else act)


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

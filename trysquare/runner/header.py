"""The plan header: what a launch is about to do and may cost, before anything is spent."""

from collections.abc import Mapping
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any

from trysquare.errors import AgentError, TrysquareError
from trysquare.files import read_json
from trysquare.forms import on_disk, pending_lines
from trysquare.measure import Run, counted
from trysquare.outputs import archived_run_dirs, largest, matrices, measures_in
from trysquare.refusals import listed
from trysquare.runner.plan import Plan

SHOWN_CELLS = 3
"""Cells that a line about a text names."""


def header(plan: Plan, ask: bool = False) -> list[str]:
    """The lines printed before a launch, also before a dry run; `ask` asks a repository that is elsewhere."""
    matrix, protocol = plan.matrix, plan.matrix.protocol
    bound = ceil(len(plan.todo) / protocol.concurrency) * protocol.timeout
    place = "blind, runs/<id>" if matrix.blind else "grouped, runs/<cell>/<id>"
    return [
        f"{matrix.experiment.title}  ({plan.directory})",
        *([_rehearsal(plan)] if matrix.rehearsal else []),
        _runs(plan),
        *(f"OVERRIDE: {line}" for line in matrix.overrides),
        f"agent: {matrix.agent.kind}, {matrix.agent.provider} {matrix.agent.model}; {_agent()}",
        f"repository: {matrix.source.repo} at {matrix.source.etalon}, {_commit(plan, ask)}",
        f"load: {protocol.concurrency} at a time, {protocol.timeout:g} s each, {counted(protocol.attempts, 'attempt')}"
        + (f"; at most {_duration(bound)}" if plan.todo else ""),
        *([_spend(plan)] if plan.todo and not matrix.rehearsal else []),
        *(_power(plan) if plan.todo and not matrix.rehearsal else []),
        *_texts(plan),
        f"isolation: {matrix.isolation}; layout: {place}",
        *plan.blindness,
        *pending_lines(matrix, on_disk(plan.output, matrix)),
        *plan.notes,
    ]


def _rehearsal(plan: Plan) -> str:
    from trysquare.rehearsal import path_for

    return f"REHEARSAL: {path_for(plan.scenario.path or Path())} plays the model; nothing of this is a measurement"


def _runs(plan: Plan) -> str:
    matrix, layout = plan.matrix, plan.output
    todo, carried = len(plan.todo), 0 if plan.carried is None else len(plan.carried.entries)
    redone = {run.id for run in plan.todo}
    kept = sum(run.id not in redone and layout.run(run.directory).record.exists() for run in matrix.runs.values())
    parts = [f"{todo} to perform", f"{kept} kept", *([f"{carried} carried"] if carried else [])]
    return (
        f"{counted(len(matrix.cells), 'cell')} x {counted(matrix.protocol.repetitions, 'repetition')} = "
        f"{counted(len(matrix.runs), 'run')}: {', '.join(parts)}"
        + (f"; only {', '.join(plan.only)}" if plan.only else "")
        + (f"; set aside first: {', '.join(plan.replay)}" if plan.replay else "")
    )


def _texts(plan: Plan) -> list[str]:
    """How each prompt, context and system prompt was read, as a file or as a text, and by which cells."""
    from trysquare.scenario.paths import is_path

    cells: dict[str, list[str]] = {}
    for cell in plan.scenario.cells:
        declared, frozen = plan.scenario.declared(cell), plan.matrix.cells[cell.name]
        for key in ("prompt", "context", "system"):
            digest = getattr(frozen, key)
            if digest is not None:
                what = declared[key] if is_path(declared[key], plan.scenario.base) else "text"
                size = f"{len(plan.bricks[digest].decode()):,}".replace(",", " ")
                cells.setdefault(f"{key}\n{what}, {size} characters", []).append(cell.name)
    lines = []
    for read, names in cells.items():
        key, _, what = read.partition("\n")
        several = sum(other.startswith(f"{key}\n") for other in cells) > 1 or len(names) < len(plan.matrix.cells)
        more = f" and {len(names) - SHOWN_CELLS} more" if len(names) > SHOWN_CELLS else ""
        lines.append(f"{key}{f' of {listed(names[:SHOWN_CELLS])}{more}' if several else ''}: {what}")
    return lines


def _agent() -> str:
    from trysquare import agent

    try:
        agent.command()
    except AgentError as error:
        return str(error)
    return "installed"


def _commit(plan: Plan, ask: bool) -> str:
    source = plan.matrix.source
    if source.commit:
        return f"commit {source.commit[:12]}"
    pinned = f"pinned from {source.origin} at launch"
    if not ask:
        return pinned
    from trysquare import repo

    return f"{pinned}; it {repo.answer(source.origin, source.etalon)}"


def _duration(seconds: float) -> str:
    minutes = ceil(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02} min"


def _spend(plan: Plan) -> str:
    """The median of the archived valid runs of this experiment, times the runs to perform."""
    usages = [
        usage for directory in matrices(plan.directory.parent, plan.scenario).values() for usage in _usages(directory)
    ]
    if not usages:
        return "spend: no estimate, nothing of this experiment is archived yet"
    todo, of = len(plan.todo), f"{counted(len(usages), 'archived run')}"
    costs = [usage["cost"] for usage in usages if usage.get("cost")]
    if costs:
        return f"spend: about {median(costs) * todo:.2f} in the provider's currency (median of {of} x {todo})"
    tokens = median(
        sum(usage.get(name) or 0 for name in ("input", "output", "cacheRead", "cacheWrite")) for usage in usages
    )
    return f"spend: about {tokens * todo:,.0f} tokens (median of {of} x {todo}); no archived run has a price"


def _power(plan: Plan) -> list[str]:
    """The smallest gap that so many repetitions establish, when runs of this experiment say how much they vary."""
    archive = largest(plan.directory.parent, plan.scenario)
    if archive is None:
        return []
    # Only where it is needed: its imports take longer than an idle launch may.
    from trysquare import power
    from trysquare.table import group

    question = power.Question.of(plan.matrix)
    try:
        runs = [Run.from_row(row) for row in measures_in(archive)]
        basis = power.measured(question, None, group(runs, question.cells))
    except TrysquareError as error:
        return [f"power: no estimate. {error}"]
    return [power.header_line(question, basis, f"from {counted(len(runs), 'archived run')} in {archive.name}")]


def _usages(directory: Any) -> list[Mapping[str, Any]]:
    rows = measures_in(directory)
    if rows:
        return [row["usage"] for row in rows if row["state"] == "valid"]
    records = [run / "run.json" for run in archived_run_dirs(directory)]
    return [read_json(record)["usage"] for record in records if record.exists()]

"""The drill-down: every run of a cell with what it did, what it took, and where its evidence is."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trysquare.matrix import Matrix
from trysquare.measure import Run, first_few, kind, valid_runs
from trysquare.synthesis.evidence import links, planned
from trysquare.synthesis.model import Evidence, RunRow
from trysquare.table import Measure, spend_measures
from trysquare.verdict import decimals_of, fixed, plain

Columns = Mapping[str, Callable[[Run], str]]
Write = Callable[[float], str]
TAKEN = ("tokens in", "tokens out", "duration (s)", "cache read", "cost", "turns", "retries", "attempts")
NAMED = 10
"""Hidden files that are named one by one."""

LONGEST = 200
"""Characters of a diagnostic value that are shown."""


def columns(metrics: Sequence[str], runs: Sequence[Run]) -> Columns:
    """The columns, each with what it takes of a run: the metrics named, then what the run took."""
    taken = {
        **{measure.name: _taken(measure) for measure in spend_measures(runs)},
        "turns": _used("turns"),
        "retries": _used("retries"),
        "attempts": lambda run: plain(run.attempts),
    }
    return {**{_heading(name): _metric(name, _written(name, runs)) for name in metrics}, **taken}


def _heading(metric: str) -> str:
    """The column of a metric, which is never that of something a run took."""
    return f"metric.{metric}" if metric in TAKEN else metric


def run_row(matrix: Matrix, run: Run, shown: Columns, evidence: Evidence | None) -> RunRow:
    """One run; without evidence it is linked to the files it should have."""
    archived = evidence or planned(matrix, run.id)
    return RunRow(
        id=run.id,
        repetition=run.repetition,
        state=run.state,
        values=tuple(column(run) for column in shown.values()),
        remarks=(*_remarks(matrix, run, shown), *_unseen(archived)),
        links=links(archived) if archived else (),
        counted=_counts(run, matrix.verdict.validity),
    )


def _counts(run: Run, validity: Sequence[str]) -> bool:
    return bool(valid_runs([run], validity))


def _remarks(matrix: Matrix, run: Run, shown: Columns) -> tuple[tuple[str, str], ...]:
    """Reasons, what could not be judged, declared metrics that are no column, and why a run does not count."""
    remarks = [(name, str(text)) for name, text in run.reasons.items() if name not in run.unjudged]
    remarks += [(name, f"could not be judged: {text}") for name, text in run.unjudged.items()]
    remarks += [
        (name, _value(run.metrics[name]))
        for name in matrix.declared
        if name in run.metrics and _heading(name) not in shown
    ]
    if run.timed_out:
        remarks.append(("time limit", "it cut the run off, which is scored as it was left; its costs are incomplete"))
    if run.detail:
        remarks.append(("detail", run.detail))
    if not _counts(run, matrix.verdict.validity):
        lacking = [f"{name} is not true" for name in matrix.verdict.validity if run.metrics.get(name) is not True]
        why = f"its state is {run.state}" if run.state != "valid" else " and ".join(lacking)
        remarks.append(("left out", f"not part of costs and gaps, because {why}"))
    return tuple(remarks)


def _unseen(evidence: Evidence | None) -> list[tuple[str, str]]:
    if evidence is None or not evidence.hidden:
        return []
    names = first_few(evidence.hidden, NAMED)
    return [("hidden", f"by ignore rules of the agent's own, and in no diff: {names}")]


def _written(metric: str, runs: Sequence[Run]) -> Write:
    """How the numbers of a metric are written, all with as many decimals as the one that has most."""
    values = [run.metrics[metric] for run in runs if kind(run.metrics.get(metric)) == "median"]
    return fixed(max(map(decimals_of, values), default=0))


def _metric(name: str, number: Write) -> Callable[[Run], str]:
    def shown(run: Run) -> str:
        if name in run.metrics:
            return _value(run.metrics[name], number)
        return "not judged" if name in run.unjudged else "-"

    return shown


def _taken(measure: Measure) -> Callable[[Run], str]:
    return lambda run: "-" if (value := measure.extract(run)) is None else measure.render(value)


def _used(name: str) -> Callable[[Run], str]:
    return lambda run: "unknown" if (count := run.usage.get(name)) is None else plain(count)


def _value(value: Any, number: Write = plain) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if kind(value) == "median":
        return number(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"

"""Metrics that had a value and lost it: few lines, however many runs they are of."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from trysquare.measure import Run, counted, first_few, one_line

REASONS = 3
"""Reasons of one metric that have a line of their own."""

GONE = "it is no longer returned"

Losses = Sequence[tuple[Run, Any]]
"""The runs that lost a metric, each with the value it had."""


def lost(before: Iterable[Mapping[str, Any]], runs: Iterable[Run], declared: Collection[str]) -> list[str]:
    """A line for every metric that had a value in an earlier measures.json and has none now, and each reason for it."""
    now = {run.id: run for run in runs}
    found: dict[str, dict[str, list[tuple[Run, Any]]]] = {}
    for row in before:
        if (run := now.get(row["id"])) is None:
            continue
        for name, value in row["metrics"].items():
            if name not in run.metrics:
                found.setdefault(name, {}).setdefault(_why(run, name), []).append((run, value))
    return [line for name, reasons in found.items() for line in _lines(name, reasons, name in declared)]


def _why(run: Run, metric: str) -> str:
    return one_line(run.unjudged.get(metric) or run.detail) or GONE


def _lines(metric: str, reasons: Mapping[str, Losses], declared: bool) -> list[str]:
    lines = [
        f"lost: {metric} of {_of(losses)} and has none now: {why}"
        if declared or why != GONE
        else f"not declared, and no longer returned: {metric}; it {_had(losses)} in {_which(losses)}"
        for why, losses in reasons.items()
    ]
    if len(lines) <= REASONS:
        return lines
    rest = [loss for losses in list(reasons.values())[REASONS:] for loss in losses]
    others = counted(len(lines) - REASONS, "other reason")
    return [
        *lines[:REASONS],
        f"lost: {metric} of {_of(rest)} and has none now, for {others}: measures.json holds each",
    ]


def which(runs: Sequence[Run]) -> str:
    """One run by all of its names, or how many there are, where, and the first few ids."""
    if len(runs) == 1:
        return f"run {runs[0].id} ({runs[0].cell}, repetition {runs[0].repetition})"
    cells = list(dict.fromkeys(run.cell for run in runs))
    where = cells[0] if len(cells) == 1 else f"{len(cells)} cells"
    return f"{len(runs)} runs of {where} ({first_few([run.id for run in runs])})"


def _of(losses: Losses) -> str:
    return f"{_which(losses)} {_had(losses)}"


def _which(losses: Losses) -> str:
    return which([run for run, _ in losses])


def _had(losses: Losses) -> str:
    values = {json.dumps(value, ensure_ascii=False) for _, value in losses}
    return f"had the value {values.pop()}" if len(values) == 1 else "had values"

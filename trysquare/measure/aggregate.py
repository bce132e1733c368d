"""Runs, and how their metrics are combined into what a cell is judged on."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from trysquare.errors import ArchiveError
from trysquare.measure.stream import counted
from trysquare.refusals import misspelt

AGAIN = "remove the file, and `trysquare render` on the matrix writes it again"
"""What to do about a damaged measures.json."""

Kind = Literal["rate", "median", "diagnostic"]
"""How a metric aggregates: true or false, a number, or only readable in a single run."""

Results = Sequence[tuple[str, Any]]
"""The name of each validator and what it returned, None when it failed."""

Declared = Sequence[str] | Mapping[str, Sequence[str]]
"""The declared metrics, in all or by the validator that declares them."""


@dataclass
class Run:
    """One execution of one cell, and everything known about it.

    `usage` holds input, output, cacheRead, cacheWrite, turns, retries (None when unknown) and cost; `duration` is in
    seconds. `unjudged` names the metrics a validator could not judge, with the reason; they have no value in `metrics`.
    `state` is one of missing, empty, validator_failed, valid. `timed_out` says that the time limit cut the run off: it
    was scored as it was left, and what the request under way had consumed is not in `usage`.
    """

    id: str
    cell: str
    repetition: int
    usage: dict[str, Any] = field(default_factory=dict)
    duration: float = 0
    metrics: dict[str, Any] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    state: str = "valid"
    detail: str = ""
    attempts: int = 1
    unjudged: dict[str, str] = field(default_factory=dict, kw_only=True)
    agent_version: str | None = field(default=None, kw_only=True)
    isolation: str | None = field(default=None, kw_only=True)
    launch: str | None = field(default=None, kw_only=True)
    timed_out: bool = field(default=False, kw_only=True)
    rehearsed: bool = field(default=False, kw_only=True)

    @property
    def disturbed(self) -> bool:
        """Whether what the run took says more of the provider or of the time limit than of its cell."""
        return bool(self.usage.get("retries")) or self.timed_out

    def row(self) -> dict[str, Any]:
        """The run as one row of measures.json; `timed_out` and `rehearsed` appear only when true."""
        row = {name: getattr(self, name) for name in _COLUMNS}
        return row | {name: True for name in _MARKS if getattr(self, name)}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Run":
        """The run of one row of measures.json; columns an older archive lacks keep their defaults.

        Raises
        ------
        ArchiveError
            When the row does not say which run it is.
        """
        if not isinstance(row, Mapping):
            raise ArchiveError(f"A row of measures.json is no object: {AGAIN}.")
        if lacking := [name for name in ("id", "cell", "repetition") if name not in row]:
            raise ArchiveError(f"A row of measures.json lacks {', '.join(lacking)}: {AGAIN}.")
        return cls(**{name: row[name] for name in (*_COLUMNS, *_MARKS) if name in row})


_COLUMNS = (
    "id",
    "cell",
    "repetition",
    "usage",
    "duration",
    "metrics",
    "reasons",
    "unjudged",
    "state",
    "detail",
    "attempts",
    "agent_version",
    "isolation",
    "launch",
)
_MARKS = ("timed_out", "rehearsed")


LARGEST = 1e150
"""The largest number, in size, that is aggregated: its square, and sums of such, are still finite."""


def kind(value: Any) -> Kind:
    """How a metric aggregates, from the type of its value alone.

    A boolean is a rate and a number a median. Anything else is diagnostic: a number in a string, NaN, one beyond
    `LARGEST`, null, a list.
    """
    if isinstance(value, bool):
        return "rate"
    return "median" if isinstance(value, int | float) and abs(value) <= LARGEST else "diagnostic"


def metric_kind(runs: Iterable[Run], metric: str) -> Kind | None:
    """How a metric aggregates over valid runs; None when no run has a value for it.

    Booleans and numbers under one name are diagnostic, since there is no statistic of both.
    """
    kinds = {kind(run.metrics[metric]) for run in runs if run.state == "valid" and metric in run.metrics}
    if not kinds:
        return None
    return kinds.pop() if len(kinds) == 1 else "diagnostic"


class Merged(NamedTuple):
    """What the validators of one run add up to."""

    metrics: dict[str, Any]
    reasons: dict[str, str]
    state: str
    detail: str

    @property
    def unjudged(self) -> dict[str, str]:
        """The metrics that were returned as impossible to judge, with the reasons."""
        return {metric: reason for metric, reason in self.reasons.items() if metric not in self.metrics}


def merge(results: Results, declared: Declared) -> Merged:
    """Combine what the validators returned into the measurement of one run.

    Parameters
    ----------
    results
        The name of each validator and the object it returned, in declared order; None for a validator that failed.
    declared
        The metrics that must be answered. Given by validator, a declared name is taken from its own validator alone.

    Returns
    -------
    Merged
        Of metrics, reasons, state and detail. The state is `validator_failed` when a validator failed, returned
        something that is no verdict, or left a declared metric unanswered; it is then never read as false. An extra
        metric is kept, under `<validator>.<name>` when two validators return it. What could not be judged has its
        reason and no value.
    """
    problems = [problem for name, payload in results if (problem := _problem(name, payload))]
    usable = _usable(results)
    owners = _owners(usable, declared)
    metrics: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    kept, dropped = _attributed(usable, owners)
    for key, metric, payload in kept:
        if metric in payload["metrics"]:
            metrics[key] = payload["metrics"][metric]
            stated = payload.get("reasons", {})
        else:
            stated = payload["unjudged"]
        if metric in stated:
            reasons[key] = str(stated[metric])
    unanswered = [name for name, owner in owners.items() if owner is None or name not in _answered(usable[owner][1])]
    if unanswered:
        meant = misspelt(unanswered, metrics, owners)
        problems.append(f"declared but not returned: {', '.join(unanswered)}{meant}")
    return Merged(metrics, reasons, "validator_failed" if problems else "valid", "; ".join(problems + dropped))


def _attributed(
    usable: Results, owners: Mapping[str, int | None]
) -> tuple[list[tuple[str, str, Mapping[str, Any]]], list[str]]:
    """Under which key each returned metric is kept, with the payload that holds it, and a note on each one dropped."""
    kept, dropped = [], []
    returned = Counter(metric for _, payload in usable for metric in _answered(payload))
    for position, (name, payload) in enumerate(usable):
        for metric in _answered(payload):
            key = metric if metric in owners or returned[metric] == 1 else f"{name}.{metric}"
            if owners.get(metric, position) != position or (key != metric and key in owners):
                dropped.append(f"{metric} of {name} ignored, {key} is declared elsewhere")
            else:
                kept.append((key, metric, payload))
    return kept, dropped


def _usable(results: Results) -> list[tuple[str, Mapping[str, Any]]]:
    return [(name, payload) for name, payload in results if not _problem(name, payload)]


def _owners(usable: Results, declared: Declared) -> dict[str, int | None]:
    """Where in `usable` a declared metric is taken from: by declaration, else the first that answers it."""
    if isinstance(declared, Mapping):
        places = {name: position for position, (name, _) in reversed(list(enumerate(usable)))}
        return {metric: places.get(name) for name, metrics in declared.items() for metric in metrics}
    answers = [set(_answered(payload)) for _, payload in usable]
    return {metric: next((i for i, names in enumerate(answers) if metric in names), None) for metric in declared}


def _answered(payload: Mapping[str, Any]) -> list[str]:
    return [*payload["metrics"], *payload.get("unjudged", {})]


def _problem(name: str, payload: Any) -> str:
    """Why what a validator returned is no verdict, empty when it is one."""
    if payload is None:
        return f"{name} failed"
    if not isinstance(payload, Mapping) or not isinstance(payload.get("metrics"), Mapping):
        return f"{name} returned no object with metrics"
    for part in ("reasons", "unjudged"):
        if not isinstance(payload.get(part, {}), Mapping):
            return f"{name} returned {part} that is no object"
    if both := sorted(set(payload["metrics"]) & set(payload.get("unjudged", {}))):
        return f"{name} returned {', '.join(both)} both with a value and as unjudged"
    if infinite := [metric for metric, value in payload["metrics"].items() if not _finite(value)]:
        return f"{name} returned a number that is not finite: {', '.join(infinite)}"
    return ""


def _finite(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def fill_manual(run: Run, manual: Mapping[str, Any]) -> list[str]:
    """Fill the holes of a run with values given by hand; returns a sentence for each one refused.

    A value that is there is never overwritten.
    """
    refusals = []
    for metric, value in manual.items():
        if metric in run.metrics:
            refusals.append(
                f"{metric} of run {run.id} is already measured: it is kept, and the answer given by hand is not."
            )
        else:
            run.metrics[metric] = value
            run.unjudged.pop(metric, None)
    return refusals


def valid_runs(runs: Iterable[Run], validity: Sequence[str] = ()) -> list[Run]:
    """The runs a cell may be aggregated over: valid, with every metric named in `validity` true."""
    return [run for run in runs if run.state == "valid" and all(run.metrics.get(name) is True for name in validity)]


def rate(runs: Iterable[Run], metric: str) -> tuple[int, int]:
    """How many runs had the metric true, out of how many could say."""
    values = [value for run in runs if isinstance(value := run.metrics.get(metric), bool)]
    return sum(values), len(values)


@dataclass(frozen=True)
class Tally:
    """How the runs of a cell came down to those it is aggregated over.

    `untrue` and `unjudged` count, for each validity metric, the valid runs it removed by being other than true and by
    not being judged; a run removed by two metrics counts under both.
    """

    runs: int
    valid: int
    kept: int
    untrue: Mapping[str, int]
    unjudged: Mapping[str, int]

    def sentence(self) -> str:
        """The count in words: `10 runs, 9 valid, 2 counted: delivered was not true in 7`."""
        removed = [f"{name} was not true in {count}" for name, count in self.untrue.items() if count]
        removed += [f"{name} was not judged in {count}" for name, count in self.unjudged.items() if count]
        text = f"{counted(self.runs, 'run')}, {self.valid} valid, {self.kept or 'none'} counted"
        return f"{text}: {', '.join(removed)}" if removed else text


def tally(runs: Iterable[Run], validity: Sequence[str] = ()) -> Tally:
    """Count what each validity metric removed from the runs of a cell."""
    runs = list(runs)
    valid = valid_runs(runs)
    absent = {name: sum(name not in run.metrics for run in valid) for name in validity}
    untrue = {name: sum(run.metrics.get(name) is not True for run in valid) - absent[name] for name in validity}
    return Tally(len(runs), len(valid), len(valid_runs(runs, validity)), untrue, absent)

"""From a metrics file and its assertions to a grade, and from a grade to metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trysquare.custom_metrics.conditions import Conditions, check, is_number, label_all
from trysquare.custom_metrics.reading import Broken, Root, find, values

EXTRAS = 1000
"""Values nobody asserts or declares that a verdict keeps."""


@dataclass(frozen=True)
class Outcome:
    """What one assertion came to."""

    label: str
    metric: str
    passed: bool
    evidence: str


@dataclass(frozen=True)
class Grade:
    """What all assertions of one block came to.

    `passed` when every one holds, `score` the share of them that do. `values` are those of the file, None when it gave
    none; then no assertion holds.
    """

    passed: bool
    score: float
    evidence: str
    outcomes: tuple[Outcome, ...]
    values: Mapping[str, Any] | None = field(default=None, repr=False)


def grade(path: str, assertions: Sequence[Conditions], roots: Sequence[Root]) -> Grade:
    """Grade the file below the first root that has it. Never raises on what a run may have left there."""
    try:
        file, root = find(path, roots)
    except Broken as failure:
        return broken(assertions, str(failure))
    try:
        held = values(file, path)
    except Broken as failure:
        return broken(assertions, f"{failure} (from {root.name})")
    outcomes = tuple(
        Outcome(label, assertion["metric"], *check(assertion, held))
        for label, assertion in zip(_labels(assertions), assertions, strict=True)
    )
    kept = sum(outcome.passed for outcome in outcomes)
    failures = [outcome.evidence for outcome in outcomes if not outcome.passed]
    evidence = "; ".join([f"{kept} of {len(outcomes)} assertions hold of {path} from {root.name}", *failures])
    return Grade(not failures, kept / len(outcomes), evidence, outcomes, held)


def broken(assertions: Sequence[Conditions], evidence: str) -> Grade:
    """The grade of a file that gives no values: nothing holds, not even that a metric is absent."""
    outcomes = tuple(
        Outcome(label, assertion["metric"], False, evidence)
        for label, assertion in zip(_labels(assertions), assertions, strict=True)
    )
    return Grade(False, 0.0, evidence, outcomes)


def _labels(assertions: Sequence[Conditions]) -> list[str]:
    return label_all((assertion.get("name"), assertion["metric"]) for assertion in assertions)


def verdict(graded: Grade, prefix: str = "", declared: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """A grade as what a validator returns: `passed`, `score`, `assert.<label>` and `value.<metric>`, all with `prefix`.

    The value of an asserted or declared metric that the file lacks, or that no metric can hold, is unjudged.
    """
    metrics: dict[str, Any] = {"passed": graded.passed, "score": graded.score}
    metrics |= {f"assert.{outcome.label}": outcome.passed for outcome in graded.outcomes}
    reasons = {} if graded.passed else {"passed": graded.evidence}
    reasons |= {f"assert.{outcome.label}": outcome.evidence for outcome in graded.outcomes if not outcome.passed}
    start = f"{prefix}value."
    wanted = [name.removeprefix(start) for name in declared if name.startswith(start)]
    wanted = list(dict.fromkeys([*(outcome.metric for outcome in graded.outcomes), *wanted]))
    held = graded.values or {}
    unjudged = {}
    for name in wanted:
        if why := _missing(name, graded):
            unjudged[f"value.{name}"] = why
        else:
            metrics[f"value.{name}"] = held[name]
    others = [name for name, value in held.items() if name not in wanted and _scalar(value)]
    metrics |= {f"value.{name}": held[name] for name in others[:EXTRAS]}
    return {
        part: {f"{prefix}{name}": value for name, value in found.items()}
        for part, found in (("metrics", metrics), ("reasons", reasons), ("unjudged", unjudged))
    }


def _missing(name: str, graded: Grade) -> str:
    """Why the raw value of a metric is none, empty when it is one."""
    if graded.values is None:
        return graded.evidence
    if name not in graded.values:
        return f"metric '{name}' not found"
    value = graded.values[name]
    if value is None:
        return f"metric '{name}' is null"
    return "" if _storable(value) else f"metric '{name}' holds a number too large to hold"


def _scalar(value: Any) -> bool:
    return isinstance(value, bool | str) or is_number(value)


def _storable(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_storable, value.values()))
    if isinstance(value, list):
        return all(map(_storable, value))
    return value is None or _scalar(value)

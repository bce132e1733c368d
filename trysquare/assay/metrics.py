"""What a validator answers with, and how it says that it cannot."""

import json
import math
import os
from collections.abc import Mapping, Set
from typing import Any, NamedTuple

from trysquare.errors import TrysquareError


class CannotJudge(TrysquareError):
    """A run that cannot be scored, which is not the same as scoring it badly."""


class ProbeTimeout(CannotJudge):
    """A probe that did not end in time; a validator that knows this to be the work's failure catches it and scores."""


class Metric(NamedTuple):
    """A value and, when it helps, the reason it came out that way.

    There is no value that means "I could not tell": that is `Metric.unjudged`. An empty reason is not published.
    """

    value: Any = None
    reason: str = ""
    judged: bool = True

    @classmethod
    def unjudged(cls, reason: str) -> "Metric":
        """A metric that could not be judged; the other metrics of the run stand."""
        return cls(None, reason, judged=False)

    def __bool__(self) -> bool:
        raise TypeError("a Metric is neither true nor false: read its .value, once .judged says that there is one")


def plain(value: Any) -> Any:
    """A metric value reduced to JSON: sets become sorted lists, tuples lists, paths strings.

    Raises
    ------
    TypeError
        When JSON has no such value.
    ValueError
        When a number is NaN or infinite.
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a measurement; return Metric.unjudged(reason) when there is none")
        return value
    if isinstance(value, Metric):
        raise TypeError("a Metric stands for one metric and cannot be part of a value")
    if isinstance(value, Set):
        return _ordered([plain(item) for item in value])
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        if unfit := [key for key in value if not isinstance(key, str)]:
            raise TypeError(f"{unfit[0]!r} is no key of a JSON object; use a string")
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{type(value).__name__} has no JSON form; return a bool, a number, a string, a list or a dict")


def _ordered(items: list[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=lambda item: (type(item).__name__, json.dumps(item, sort_keys=True)))


def report(returned: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What a validator returned, split into `metrics`, `reasons` and, when there are any, `unjudged`.

    Raises
    ------
    TypeError, ValueError
        Naming the metric, when what was returned cannot be published.
    """
    if not isinstance(returned, Mapping):
        raise TypeError(f"a validator returns a dictionary of metrics, not {type(returned).__name__}")
    metrics: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    unjudged: dict[str, str] = {}
    for name, value in returned.items():
        metric = value if isinstance(value, Metric) else Metric(value)
        if not isinstance(name, str) or not isinstance(metric.reason, str):
            raise TypeError(f"metric {name!r}: its name and its reason are strings")
        if not metric.judged:
            unjudged[name] = metric.reason
            continue
        try:
            metrics[name] = plain(metric.value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"metric {name!r}: {error}") from None
        if metric.reason:
            reasons[name] = metric.reason
    payload: dict[str, dict[str, Any]] = {"metrics": metrics, "reasons": reasons}
    return {**payload, "unjudged": unjudged} if unjudged else payload

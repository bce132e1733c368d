"""What one validator returned, read strictly."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from trysquare.refusals import misspelt

SHOWN = 60
"""Characters of an unreadable answer that are repeated."""


@dataclass(frozen=True)
class Result:
    """What one validator returned, or why it did not.

    `payload` holds `metrics`, `reasons` and `unjudged`, and is None when the run is `validator_failed`: `detail` then
    says why in one line. `stderr` is what the validator wrote there, its beginning left out when it was too long, and
    `seconds` how long a script ran.
    """

    mode: str
    payload: Mapping[str, Any] | None
    stderr: str = ""
    detail: str = ""
    seconds: float = field(default=0.0, compare=False)


class Unusable(Exception):
    """An answer that breaks the contract; its text says how, in one line."""


def answer(text: bytes, declared: Sequence[str]) -> dict[str, Any]:
    """The payload a validator printed, with all of `metrics`, `reasons` and `unjudged`.

    Raises
    ------
    Unusable
        When it is not strict JSON, has another shape, or leaves a declared metric unanswered.
    """
    if not text.strip():
        raise Unusable("printed nothing, where one JSON object with `metrics` belongs on its standard output")
    try:
        data = json.loads(text.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_unique)
        _check_values(data)
    except (ValueError, RecursionError) as error:
        raise Unusable(f"printed no readable JSON: {error}; it begins with {_beginning(text)}") from None
    if not isinstance(data, dict):
        raise Unusable(f"printed a JSON {_kind(data)} where an object with `metrics` belongs")
    payload = {key: data.get(key, {}) for key in ("metrics", "reasons", "unjudged")}
    if "metrics" not in data:
        raise Unusable("printed an object without `metrics`")
    for key, value in payload.items():
        if not isinstance(value, dict):
            raise Unusable(f"printed a JSON {_kind(value)} as `{key}`, where an object belongs")
    for key in ("reasons", "unjudged"):
        for name, text_of in payload[key].items():
            if not isinstance(text_of, str):
                raise Unusable(f"printed a JSON {_kind(text_of)} as {key}.{name}, where a string belongs")
    _check_names(payload, declared)
    return payload


def _beginning(text: bytes) -> str:
    line = text.strip().splitlines()[0].decode("utf-8", "replace")
    return repr(line if len(line) <= SHOWN else f"{line[:SHOWN]}...")


def _check_names(payload: Mapping[str, Mapping[str, Any]], declared: Sequence[str]) -> None:
    metrics, unjudged = payload["metrics"], payload["unjudged"]
    if both := sorted(metrics.keys() & unjudged.keys()):
        raise Unusable(f"gave {_quoted(both)} a value and called it unjudged")
    if missing := [name for name in declared if name not in metrics and name not in unjudged]:
        meant = misspelt(missing, [*metrics, *unjudged], declared)
        raise Unusable(f"did not answer the declared {_quoted(missing)}{meant}")
    if null := [name for name in declared if name in metrics and metrics[name] is None]:
        raise Unusable(
            f"answered null for the declared {_quoted(null)}: a value, or an entry in `unjudged`, belongs there"
        )


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} is there twice")
    return found


def _check_values(value: Any) -> None:
    """Refuse what JSON can spell and a file cannot hold: an infinite number, half a surrogate pair."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number is too large")
    if isinstance(value, str):
        value.encode("utf-8", "surrogateescape")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_values(key)
            _check_values(item)
    elif isinstance(value, list):
        for item in value:
            _check_values(item)


def _kind(value: Any) -> str:
    names = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def _quoted(names: Sequence[str]) -> str:
    return "metric " + ", ".join(f"'{name}'" for name in names)

"""What one assertion says of the values of a metrics file."""

import json
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from trysquare.custom_metrics.patterns import Unsearched, search

SHOWN = 80
"""Characters of a value that an outcome repeats."""

Conditions = Mapping[str, Any]
"""One assertion: its metric, perhaps a name, and its conditions, none of them None."""


class Fails(Exception):
    """A condition that does not hold; its text says why."""


def check(assertion: Conditions, values: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether every condition of an assertion holds, and a sentence that says so or names the first that does not."""
    metric = assertion["metric"]
    if "absent" in assertion:
        return metric not in values, f"metric '{metric}' is {'there' if metric in values else 'absent'}"
    if metric not in values:
        return False, f"metric '{metric}' not found"
    try:
        said = [holds(values[metric], assertion) for name, holds in _CHECKS.items() if name in assertion]
    except Fails as failure:
        return False, f"metric '{metric}' {failure}"
    return True, f"metric '{metric}' {' and '.join(said)}"


def label_all(asserted: Iterable[tuple[str | None, str]]) -> list[str]:
    """A label for each (name, metric): the name, else the metric; one used again gets `#2`, `#3`, ..."""
    seen: Counter[str] = Counter()
    labels = []
    for name, metric in asserted:
        label = name or metric
        seen[label] += 1
        labels.append(label if seen[label] == 1 else f"{label}#{seen[label]}")
    return labels


def is_number(value: Any) -> bool:
    """Whether a JSON value is a finite number; booleans are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -math.inf < value < math.inf


def plain(value: int | float | bool | str) -> str:
    """A value as text: `true`, `false`, and numbers as JavaScript writes them (1.0 is `1`), whole ones exactly."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _float(value) if isinstance(value, float) and is_number(value) else str(value)


def _float(value: float) -> str:
    digits, exponent = Decimal(repr(abs(value))).normalize().as_tuple()[1:]
    assert isinstance(exponent, int)
    text, point = "".join(map(str, digits)), len(digits) + exponent
    sign = "-" if value < 0 else ""
    if exponent >= 0 and point <= 21:
        return f"{sign}{text}{'0' * exponent}"
    if 0 < point <= 21:
        return f"{sign}{text[:point]}.{text[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{text}"
    return f"{sign}{text[0]}{'.' * (len(text) > 1)}{text[1:]}e{point - 1:+d}"


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number" if is_number(value) else "number too large to hold"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def _exact(number: Any) -> Fraction:
    """A number by its shortest decimal form: 1.01 is 1.01."""
    return Fraction(repr(number))


def _show(value: Any) -> str:
    text = plain(value) if is_number(value) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def _expect(value: Any, wanted: str, condition: str) -> None:
    if _kind(value) != wanted:
        raise Fails(f"has the wrong type: {condition} expects {wanted}, got {_kind(value)}")


def _bound(name: str, sign: str, holds: Callable[[Any, Any], Any]) -> Callable[[Any, Conditions], str]:
    def check_bound(value: Any, assertion: Conditions) -> str:
        _expect(value, "number", name)
        bound = assertion[name]
        if not holds(_exact(value), _exact(bound)):
            raise Fails(f"is {_show(value)}, expected {sign} {_show(bound)}")
        return f"is {_show(value)} {sign} {_show(bound)}"

    return check_bound


def _equals(value: Any, assertion: Conditions) -> str:
    wanted, tolerance = assertion["equals"], assertion.get("tolerance", 0)
    _expect(value, _kind(wanted), "equals")
    about = f"{_show(wanted)} +- {_show(tolerance)}" if tolerance else _show(wanted)
    same = abs(_exact(value) - _exact(wanted)) <= _exact(tolerance) if is_number(wanted) else value == wanted
    if not same:
        raise Fails(f"is {_show(value)}, expected {about}")
    return f"equals {about}"


def _matches(value: Any, assertion: Conditions) -> str:
    _expect(value, "string", "matches")
    pattern = f"/{assertion['matches']}/"
    try:
        found = search(assertion["matches"], value)
    except Unsearched as reason:
        raise Fails(f"could not be matched with {pattern}: {reason}") from None
    if not found:
        raise Fails(f"is {_show(value)}, which does not match {pattern}")
    return f"matches {pattern}"


def _contains(value: Any, assertion: Conditions) -> str:
    if _kind(value) not in ("string", "number", "boolean"):
        raise Fails(f"has the wrong type: contains expects string, number or boolean, got {_kind(value)}")
    needle = plain(assertion["contains"])
    if needle.casefold() not in plain(value).casefold():
        raise Fails(f"is {_show(value)}, which does not contain {_show(needle)}")
    return f"contains {_show(needle)}"


_CHECKS: Mapping[str, Callable[[Any, Conditions], str]] = {
    "min": _bound("min", ">=", operator.ge),
    "max": _bound("max", "<=", operator.le),
    "gt": _bound("gt", ">", operator.gt),
    "lt": _bound("lt", "<", operator.lt),
    "equals": _equals,
    "matches": _matches,
    "contains": _contains,
    "present": lambda value, assertion: "is there",
}

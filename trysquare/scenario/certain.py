"""Assertions that are settled before any run: those that hold of every text, and those that exclude each other."""

import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations

from trysquare.custom_metrics.conditions import plain
from trysquare.refusals import show
from trysquare.scenario.assertions import BOUNDS, Assertion, is_number, satisfiable

PLACES = re.compile(r"\\[AbBZ0-9]|[$^]|\(\?(?!:)")
"""What in a regular expression may look at the place, or at what was matched; a group without a name may not."""


def certainties(assertion: Assertion) -> Iterator[str]:
    """Why an assertion cannot fail of any text, as the end of a sentence."""
    pattern = assertion.matches
    if pattern is not None and assertion.equals is None and _finds_everything(pattern):
        yield f"matches = {show(pattern)} is found in every text; write the part to look for, or present = true."


def _finds_everything(pattern: str) -> bool:
    """Whether an expression certainly finds nothing at all, which is in every text, at its beginning or at its end."""
    bare = re.sub(r"\\[^AbBZ0-9]|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", pattern)
    bare = re.sub(r"\A\(\?[aimsux]+\)", "", bare)
    sides = (re.sub(r"\A(?:\^|\\A)", "", bare), re.sub(r"(?:\$|\\Z)\Z", "", bare))
    return any(not PLACES.search(side) and _matches_nothing(side) for side in sides)


def _matches_nothing(pattern: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.match(pattern, "") is not None
    except (re.error, OverflowError, RecursionError):
        return False


def contradictions(assertions: Sequence[Assertion]) -> Iterator[str]:
    """Why the assertions about one metric cannot all hold, each as the end of a sentence."""
    for first, second in combinations(assertions, 2):
        if first.metric == second.metric and _exclude(first, second):
            yield (
                f"{_said(first)} and {_said(second)} of {show(first.metric)} never hold together, so that passed is "
                "false in every run; correct one of them, or declare their assert. metrics instead of passed."
            )


def _said(assertion: Assertion) -> str:
    return ", ".join(f"{name} = {show(getattr(assertion, name))}" for name in assertion.conditions)


def _exclude(first: Assertion, second: Assertion) -> bool:
    """Whether no value of the file meets both, as far as that is certain."""
    if not first.conditions or not second.conditions:
        return False
    if (first.absent is None) != (second.absent is None):
        return True
    kinds = [kind for kind in map(_kind, (first, second)) if kind is not None]
    if len(set(kinds)) > 1:
        return True
    if set(kinds) == {"number"} and not satisfiable(first, second):
        return True
    values = [each.equals for each in (first, second) if each.equals is not None]
    if len(values) == 2 and not all(map(is_number, values)):
        return values[0] != values[1]
    needles = [plain(each.contains).casefold() for each in (first, second) if each.contains is not None]
    return any(needle not in plain(value).casefold() for value in values for needle in needles if not is_number(value))


def _kind(assertion: Assertion) -> str | None:
    """The type that the conditions ask of the value; None when several will do."""
    if assertion.matches is not None or isinstance(assertion.equals, str):
        return "text"
    if isinstance(assertion.equals, bool):
        return "boolean"
    given = set(assertion.conditions)
    return "number" if given & {*BOUNDS, "equals"} else None

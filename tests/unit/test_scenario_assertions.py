"""Which assertions of a custom-metrics validator mean something."""

from typing import Any

import pytest
from pydantic import ValidationError

from trysquare.scenario.assertions import Assertion, problems, produced


def found(**conditions: Any) -> list[str]:
    return list(problems(Assertion(metric="m", **conditions)))


@pytest.mark.parametrize(
    "conditions",
    [
        {"min": 1, "max": 1},
        {"min": 1, "gt": 1},
        {"max": 2, "lt": 2},
        {"min": 1, "max": 3, "equals": 2},
        {"max": 1.0, "equals": 1.01, "tolerance": 0.01},
        {"equals": 0},
        {"equals": False},
        {"equals": ""},
        {"equals": "autopilot", "matches": "^autopilot$"},
        {"equals": "autopilot", "matches": "pil.t"},
        {"matches": "(a+)+$"},
        {"matches": "[[a]"},
        {"contains": "ok"},
        {"contains": 1.0},
        {"contains": False},
        {"contains": "ok", "present": True},
        {"present": True},
        {"present": True, "min": 1},
        {"absent": True},
        {"equals": 1, "tolerance": 0},
    ],
)
def test_conditions_that_can_hold_and_fail_are_accepted(conditions: dict[str, Any]) -> None:
    assert found(**conditions) == []


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        ({}, "asserts nothing"),
        ({"min": 2, "max": 1}, "no number meets min = 2, max = 1"),
        ({"gt": 1, "lt": 1}, "no number meets"),
        ({"min": 1, "lt": 1}, "no number meets"),
        ({"gt": 1, "max": 1}, "no number meets"),
        ({"min": 3, "equals": 2}, "no number meets min = 3, equals = 2"),
        ({"gt": 2, "equals": 2}, "no number meets"),
        ({"max": 1.0, "equals": 1.02, "tolerance": 0.01}, "no number meets"),
        ({"min": 1, "equals": "a"}, "equals is none"),
        ({"min": 1, "equals": True}, "equals is none"),
        ({"min": 1, "matches": "a"}, "matches about texts"),
        ({"tolerance": 1}, "numeric equals"),
        ({"tolerance": 1, "equals": "a"}, "numeric equals"),
        ({"tolerance": 1, "equals": True}, "numeric equals"),
        ({"tolerance": -1, "equals": 1}, "negative"),
        ({"matches": "("}, "no regular expression"),
        ({"matches": "a", "equals": 1}, "equals is none"),
        ({"matches": "b", "equals": "a"}, "not seen to match"),
        ({"matches": "(a+)+$", "equals": "a" * 40 + "b"}, "not seen to match"),
        ({"matches": ".*.*.*.*.*x", "equals": "a" * 500}, "not seen to match"),
        ({"contains": ""}, "true of every text"),
        ({"contains": "a", "equals": "a"}, "stands alone"),
        ({"contains": "a", "min": 1}, "stands alone"),
        ({"contains": "a", "matches": "a"}, "stands alone"),
        ({"absent": True, "present": True}, "absent cannot be combined"),
        ({"absent": True, "equals": 1}, "absent cannot be combined"),
        ({"absent": False}, "says nothing"),
        ({"present": False}, "says nothing"),
    ],
)
def test_conditions_that_cannot_mean_anything_are_refused(conditions: dict[str, Any], said: str) -> None:
    assert any(said in problem for problem in found(**conditions))


@pytest.mark.parametrize(
    "conditions",
    [
        {"min": "1"},
        {"min": True},
        {"max": float("nan")},
        {"gt": float("inf")},
        {"equals": [1]},
        {"equals": {"a": 1}},
        {"equals": float("nan")},
        {"present": 1},
        {"present": "true"},
        {"matches": 1},
        {"contains": []},
        {"minimum": 1},
        {"turn": 1},
    ],
)
def test_conditions_of_the_wrong_type_are_no_assertion(conditions: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Assertion(metric="m", **conditions)


def test_numbers_stay_what_they_are() -> None:
    assert Assertion(metric="m", equals=2**60 + 1).equals == 2**60 + 1
    assert Assertion(metric="m", equals=True).equals is True


def test_the_metrics_answered_are_numbered_where_a_label_is_asserted_again() -> None:
    declared = [Assertion(metric="a", min=1), Assertion(metric="a", max=3), Assertion(metric="b", name="a", equals=1)]
    assert produced(declared) == ["passed", "score", "assert.a", "assert.a#2", "assert.a#3", "value.a", "value.b"]

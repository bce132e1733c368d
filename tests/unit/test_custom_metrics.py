"""The decision table of custom-metrics: every condition on every type of value."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trysquare.custom_metrics.conditions import check, plain

MISSING = object()

VALUES = {
    "number": 1.5,
    "boolean": True,
    "string": "Autopilot",
    "null": None,
    "array": [1],
    "object": {"a": 1},
    "missing": MISSING,
}

NOT_FOUND = "metric 'm' not found"


def outcome(value: Any, **conditions: Any) -> tuple[bool, str]:
    return check({"metric": "m", **conditions}, {} if value is MISSING else {"m": value})


def mismatch(wanted: str) -> dict[str, str]:
    """What each type says where only `wanted` is accepted: both types."""
    return {name: f"expects {wanted}, got {name}" for name in VALUES if name not in (wanted, "missing")}


PASS = ""

NUMERIC = {**mismatch("number"), "missing": NOT_FOUND}

TEXTUAL = {**mismatch("string"), "missing": NOT_FOUND}

TABLE = [
    ({"min": 1.5}, {**NUMERIC, "number": PASS}),
    ({"min": 1.6}, {**NUMERIC, "number": "is 1.5, expected >= 1.6"}),
    ({"max": 1.5}, {**NUMERIC, "number": PASS}),
    ({"max": 1}, {**NUMERIC, "number": "is 1.5, expected <= 1"}),
    ({"gt": 1}, {**NUMERIC, "number": PASS}),
    ({"gt": 1.5}, {**NUMERIC, "number": "is 1.5, expected > 1.5"}),
    ({"lt": 2}, {**NUMERIC, "number": PASS}),
    ({"lt": 1.5}, {**NUMERIC, "number": "is 1.5, expected < 1.5"}),
    ({"equals": 1.5}, {**NUMERIC, "number": PASS}),
    ({"equals": 2}, {**NUMERIC, "number": "is 1.5, expected 2"}),
    ({"equals": 1.4, "tolerance": 0.1}, {**NUMERIC, "number": PASS}),
    ({"equals": 1.3, "tolerance": 0.1}, {**NUMERIC, "number": "is 1.5, expected 1.3 +- 0.1"}),
    ({"equals": True}, {**mismatch("boolean"), "missing": NOT_FOUND, "boolean": PASS}),
    ({"equals": False}, {**mismatch("boolean"), "missing": NOT_FOUND, "boolean": "is true, expected false"}),
    ({"equals": "Autopilot"}, {**TEXTUAL, "string": PASS}),
    ({"equals": "autopilot"}, {**TEXTUAL, "string": 'is "Autopilot", expected "autopilot"'}),
    ({"matches": "pil.t$"}, {**TEXTUAL, "string": PASS}),
    ({"matches": "^pil"}, {**TEXTUAL, "string": "does not match /^pil/"}),
    (
        {"contains": "t"},
        {
            "number": 'does not contain "t"',
            "boolean": PASS,
            "string": PASS,
            **{name: f"expects string, number or boolean, got {name}" for name in ("null", "array", "object")},
            "missing": NOT_FOUND,
        },
    ),
    ({"present": True}, {**dict.fromkeys(VALUES, PASS), "missing": NOT_FOUND}),
    ({"absent": True}, {**dict.fromkeys(VALUES, "metric 'm' is there"), "missing": PASS}),
]


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize(("conditions", "row"), TABLE, ids=[json.dumps(conditions) for conditions, _ in TABLE])
def test_every_condition_on_every_type_of_value(conditions: dict[str, Any], row: dict[str, str], kind: str) -> None:
    passed, evidence = outcome(VALUES[kind], **conditions)

    assert passed is (row[kind] == PASS)
    assert row[kind] in evidence


@pytest.mark.parametrize(
    ("value", "conditions", "passes"),
    [
        (1, {"equals": 1.0}, True),
        (-0.0, {"equals": 0}, True),
        (1, {"equals": True}, False),
        (True, {"equals": 1}, False),
        ("1", {"equals": 1}, False),
        (1.01, {"equals": 1.0, "tolerance": 0.01}, True),
        (0.99, {"equals": 1.0, "tolerance": 0.01}, True),
        (1.0100000000000002, {"equals": 1.0, "tolerance": 0.01}, False),
        (0.3, {"min": 0.3, "max": 0.3}, True),
        (2**60 + 1, {"equals": 2**60}, False),
        (2**60 + 1, {"equals": 2**60, "tolerance": 1}, True),
        (10**23, {"equals": 1e23}, True),
        (float("inf"), {"gt": 1}, False),
        (5, {"min": 1, "max": 4}, False),
        (5, {"present": True, "min": 6}, False),
        (" done ", {"equals": "done"}, False),
        ("done\n", {"matches": "done$"}, False),
        ("done\nmore", {"matches": "(?m)done$"}, True),
        ("a$b", {"matches": r"a\$b$"}, True),
        ("a$", {"matches": "^a[$]$"}, True),
        ("a\nb", {"matches": "(?m:a$)\nb$"}, True),
        ("a\nb\n", {"matches": "(?m:a$)\nb$"}, False),
        ("ab", {"matches": "a(?#$)b"}, True),
        ("STRASSE", {"contains": "straße"}, True),
        (1.0, {"contains": "1"}, True),
        (1.0, {"contains": "."}, False),
        (10, {"contains": 1.0}, True),
        (True, {"contains": "TRUE"}, True),
        ("is true", {"contains": True}, True),
        (float("inf"), {"contains": "i"}, False),
        (None, {"present": True}, True),
    ],
)
def test_the_decisions_about_single_values(value: Any, conditions: dict[str, Any], passes: bool) -> None:
    assert outcome(value, **conditions)[0] is passes


@pytest.mark.parametrize(("pattern", "text"), [("(a+)+$", "a" * 40 + "b"), ("x*y", "x" * 100_000)])
def test_a_search_that_takes_too_long_fails_saying_so(pattern: str, text: str) -> None:
    passed, evidence = outcome(text, matches=pattern)

    assert not passed
    assert "the search took more than 1 s" in evidence


def test_a_text_too_long_to_search_fails_saying_so() -> None:
    assert "more than 100000 characters" in outcome("x" * 100_001, matches="x")[1]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"), (-0.0, "0"), (0.1, "0.1"), (1e21, "1e+21"), (1e20, "100000000000000000000"), (1e-6, "0.000001"),
        (1e-7, "1e-7"), (-1.5e-9, "-1.5e-9"), (123.25, "123.25"), (1.5e300, "1.5e+300"), (2**70, str(2**70)),
    ],
)  # fmt: skip
def test_numbers_as_text_are_those_of_javascript(value: float, text: str) -> None:
    assert plain(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_as_text_is_that_number(value: float) -> None:
    assert float(plain(value)) == value

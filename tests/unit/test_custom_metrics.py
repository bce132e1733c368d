"""The decision table of custom-metrics: every condition on every type of value, and every case of the file."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trysquare.custom_metrics import Root, broken, grade, inside, normal, verdict
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


# The file


@pytest.fixture
def roots(tmp_path: Path) -> list[Root]:
    made = [Root(tmp_path / "artifacts", "artifact dir"), Root(tmp_path / "work", "workspace")]
    for root in made:
        root.path.mkdir()
    return made


def graded(roots: list[Root], content: str | bytes | None = None, path: str = "custom_metrics.json", **conditions: Any):
    """The grade of one assertion over a file of the artifact dir."""
    if content is not None:
        file = roots[0].path / path
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return grade(path, [{"metric": "m", **(conditions or {"equals": 1})}], roots)


def test_the_score_is_the_share_of_assertions_that_hold(roots: list[Root]) -> None:
    (roots[1].path / "custom_metrics.json").write_text('{"a": 1, "b": 2}')

    found = grade(
        "custom_metrics.json",
        [{"metric": "a", "equals": 1}, {"metric": "b", "equals": 1}, {"metric": "c", "min": 0}],
        roots,
    )

    assert (found.passed, found.score) == (False, 1 / 3)
    assert "1 of 3 assertions hold of custom_metrics.json from workspace" in found.evidence
    assert [each.passed for each in found.outcomes] == [True, False, False]
    assert found.outcomes[2].evidence == "metric 'c' not found"


@pytest.mark.parametrize(
    ("content", "passes"),
    [
        ('{"m": 1}', True),
        ('{"schema": "v1", "values": {"m": 1}}', True),
        ('{"m": 1, "values": {}}', False),
        ('{"m": 1, "values": 3}', True),
        ('{"m": 1, "values": null}', True),
        ('{"m": 1, "values": [1]}', True),
        ('\ufeff{"m": 1}', True),
        ('{"m": 1, "bad": [1, {"x": null}], "huge": 1e999}', True),
        ('{"m": 1e999}', False),
        ('  {"m": 1}\n', True),
    ],
)
def test_values_are_read_flat_or_from_their_envelope(roots: list[Root], content: str, passes: bool) -> None:
    assert graded(roots, content).passed is passes


def test_a_dotted_name_is_one_key(roots: list[Root]) -> None:
    (roots[0].path / "f.json").write_text('{"a.b": 1, "a": {"b": 2}}')
    assert grade("f.json", [{"metric": "a.b", "equals": 1}], roots).passed


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "nope", '{"m": NaN}', '{"m": -Infinity}', '{"m": 1, "m": 1}', '{"x": {"a": 1, "a": 2}}',
        b'{"m": "\xff"}', "[" * 100_000, "\ufeff\ufeff{}", "{'m': 1}", '{"m": ' + "9" * 5000 + "}", "{} {}",
    ],
)  # fmt: skip
def test_what_is_no_strict_json_fails_without_fallback(roots: list[Root], content: str | bytes) -> None:
    (roots[1].path / "custom_metrics.json").write_text('{"m": 1}')

    found = graded(roots, content, absent=True)

    assert (found.passed, found.score) == (False, 0.0)
    assert found.evidence.startswith("failed to parse custom_metrics.json as JSON: ")
    assert found.evidence.endswith("(from artifact dir)")


@pytest.mark.parametrize("content", ["[]", "3", "null", '"text"', "true"])
def test_a_root_that_is_no_object_fails(roots: list[Root], content: str) -> None:
    assert graded(roots, content).evidence.startswith("custom_metrics.json must contain a JSON object")


def test_a_missing_file_fails_every_assertion_also_that_a_metric_is_absent(roots: list[Root]) -> None:
    found = graded(roots, absent=True)

    assert found.evidence == "expected metrics file at custom_metrics.json (not found)"
    assert (found.passed, found.score, found.outcomes[0].passed) == (False, 0.0, False)


def test_a_file_of_more_than_ten_megabytes_fails(roots: list[Root]) -> None:
    assert "more than 10 MB" in graded(roots, b'{"m": 1}' + b" " * (10 * 2**20)).evidence


def test_the_artifact_dir_goes_first_and_the_workspace_is_the_fallback(roots: list[Root]) -> None:
    (roots[1].path / "custom_metrics.json").write_text('{"m": 1}')
    assert "from workspace" in graded(roots).evidence
    assert "from artifact dir" in graded(roots, '{"m": 2}').evidence
    assert not graded(roots).passed


def test_a_root_that_is_gone_costs_nothing(roots: list[Root], tmp_path: Path) -> None:
    (roots[0].path / "custom_metrics.json").write_text('{"m": 1}')
    assert graded([roots[0], Root(tmp_path / "gone", "workspace")]).passed
    assert graded([Root(tmp_path / "gone", "artifact dir"), Root(roots[0].path, "workspace")]).passed


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../m.json", "a/../../m.json", "", "..", ".", "C:\\m.json", "c:m", "\\m", "a\0b"]
)
def test_a_path_that_leaves_its_root_fails(roots: list[Root], path: str) -> None:
    assert not inside(path)
    assert "no relative path" in graded(roots, path=path).evidence


def test_dots_inside_the_root_are_resolved(roots: list[Root]) -> None:
    assert normal("a/./b/../c.json") == "a/c.json"
    (roots[0].path / "m.json").write_text('{"m": 1}')
    assert graded(roots, path="a/../m.json").passed


def test_a_link_out_of_the_root_fails_without_fallback(roots: list[Root], tmp_path: Path) -> None:
    (tmp_path / "outside.json").write_text('{"m": 1}')
    (roots[0].path / "custom_metrics.json").symlink_to(tmp_path / "outside.json")
    (roots[1].path / "custom_metrics.json").write_text('{"m": 1}')
    assert "leads out of the artifact dir" in graded(roots).evidence


def test_a_link_within_the_root_is_followed(roots: list[Root]) -> None:
    (roots[0].path / "real.json").write_text('{"m": 1}')
    (roots[0].path / "custom_metrics.json").symlink_to("real.json")
    assert graded(roots).passed


def test_a_dangling_link_falls_back(roots: list[Root]) -> None:
    (roots[0].path / "custom_metrics.json").symlink_to("nowhere")
    (roots[1].path / "custom_metrics.json").write_text('{"m": 1}')
    assert graded(roots).passed


def test_a_directory_of_that_name_is_there_and_fails(roots: list[Root]) -> None:
    (roots[0].path / "custom_metrics.json").mkdir()
    (roots[1].path / "custom_metrics.json").write_text('{"m": 1}')
    assert "Is a directory" in graded(roots).evidence


def test_a_pipe_of_that_name_fails_and_is_not_waited_for(roots: list[Root]) -> None:
    os.mkfifo(roots[0].path / "custom_metrics.json")
    assert "no regular file" in graded(roots).evidence


# Metrics


def test_the_metrics_of_a_grade(roots: list[Root]) -> None:
    (roots[0].path / "f.json").write_text('{"a": 1, "s": "x", "n": null, "deep": [1], "extra": 2, "other": {"a": 1}}')
    assertions = [
        {"metric": "a", "min": 1},
        {"metric": "a", "max": 0},
        {"metric": "s", "name": "text", "equals": "y"},
        {"metric": "n", "present": True},
        {"metric": "gone", "absent": True},
    ]

    found = verdict(grade("f.json", assertions, roots), "p.", ["p.value.deep", "p.value.lacking", "p.passed"])

    assert found["metrics"] == {
        "p.passed": False,
        "p.score": 0.6,
        "p.assert.a": True,
        "p.assert.a#2": False,
        "p.assert.text": False,
        "p.assert.n": True,
        "p.assert.gone": True,
        "p.value.a": 1,
        "p.value.s": "x",
        "p.value.deep": [1],
        "p.value.extra": 2,
    }
    assert found["unjudged"] == {
        "p.value.n": "metric 'n' is null",
        "p.value.gone": "metric 'gone' not found",
        "p.value.lacking": "metric 'lacking' not found",
    }
    assert found["reasons"]["p.assert.a#2"] == "metric 'a' is 1, expected <= 0"
    assert "from artifact dir" in found["reasons"]["p.passed"]


def test_a_number_no_metric_can_hold_is_unjudged(roots: list[Root]) -> None:
    (roots[0].path / "f.json").write_text('{"a": [1e999]}')
    found = verdict(grade("f.json", [{"metric": "a", "present": True}], roots))
    assert "too large" in found["unjudged"]["value.a"]


def test_the_metrics_of_a_broken_file_are_all_answered() -> None:
    found = verdict(broken([{"metric": "a", "absent": True}], "why"))
    assert found["metrics"] == {"passed": False, "score": 0.0, "assert.a": False}
    assert found["unjudged"] == {"value.a": "why"}

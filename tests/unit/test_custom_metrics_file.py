"""Every case of the file of custom-metrics, and the metrics of its grade."""

import os
from pathlib import Path
from typing import Any

import pytest

from trysquare.custom_metrics import Root, broken, grade, inside, normal, verdict


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

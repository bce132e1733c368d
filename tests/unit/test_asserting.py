"""Grading the metrics file of an archived run: from what was collected, the tree only where that is needed."""

from pathlib import Path
from typing import Any

import pytest

from trysquare.archive import collect_files
from trysquare.asserting import assess
from trysquare.layout import RunLayout
from trysquare.matrix import ValidatorPlan

NAME = "custom_metrics.json"


def validator(path: str = NAME, **settings: Any) -> ValidatorPlan:
    assertions = [{"metric": "m", "equals": 1}]
    held = {"path": path, "assertions": assertions, **settings}
    return ValidatorPlan("custom-metrics", "custom-metrics", ("passed",), "d" * 24, settings=held)


def configuration(touched: tuple[str, ...] = (), ignored: tuple[str, ...] = (), dropped: tuple[str, ...] = ()) -> Any:
    return {"touched": [*touched], "ignored": [*ignored], "collected": {"kept": [], "dropped": [*dropped]}}


@pytest.fixture
def run(tmp_path: Path) -> RunLayout:
    made = RunLayout(tmp_path / "run")
    (made.collected / "out").mkdir(parents=True)
    return made


def gone() -> Path:
    raise AssertionError("the tree was asked for")


@pytest.mark.parametrize(
    ("name", "touched", "ignored"),
    [
        (NAME, (NAME,), ()),
        (NAME, (), (NAME,)),
        ("out/m.json", (), ("out/",)),
        ("out/m.json", ("out/m.json",), ()),
    ],
)
def test_a_collected_file_is_graded_without_the_tree(
    run: RunLayout, name: str, touched: tuple[str, ...], ignored: tuple[str, ...]
) -> None:
    (run.collected / name).write_text('{"m": 1}')
    result = assess(run, validator(f"./{name}"), configuration(touched, ignored), gone)
    assert result.payload["metrics"] == {"passed": True, "score": 1.0, "assert.m": True, "value.m": 1}


def test_a_file_the_run_did_not_write_fails_saying_so(run: RunLayout) -> None:
    (run.collected / NAME).write_text('{"m": 1}')
    result = assess(run, validator(), configuration(("other",), ("o/",)), gone)
    assert result.payload["metrics"] == {"passed": False, "score": 0.0, "assert.m": False}
    assert "unchanged since the base commit" in result.payload["reasons"]["passed"]
    assert "unchanged" in result.payload["unjudged"]["value.m"]


def test_a_file_too_large_for_the_archive_fails_saying_so(run: RunLayout) -> None:
    result = assess(run, validator(), configuration((NAME,), dropped=(NAME,)), gone)
    assert "too large" in result.payload["reasons"]["passed"]


def test_a_run_that_wrote_no_file_fails_without_the_tree(run: RunLayout) -> None:
    result = assess(run, validator(), configuration(), gone)
    assert result.payload["reasons"]["passed"] == f"expected metrics file at {NAME} (not found)"


def test_a_file_an_older_archive_did_not_collect_comes_from_the_tree(run: RunLayout, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / NAME).write_text('{"m": 2}')
    result = assess(run, validator(prefix="late."), configuration((NAME,)), lambda: tmp_path / "tree")
    assert result.payload["metrics"]["late.value.m"] == 2
    assert "from workspace" in result.payload["reasons"]["late.passed"]


def test_a_file_named_in_full_is_collected_before_what_patterns_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trysquare.archive.COLLECTED_LIMIT", 12)
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("a.log", "m[1].json"):
        (tree / name).write_bytes(b"0123456789")
    found = collect_files(tree, ["*.log", "m[1].json"], tmp_path / "kept")
    assert (found.kept, found.dropped) == (("m[1].json",), ("a.log",))

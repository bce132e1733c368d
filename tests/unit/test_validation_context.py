import json
import os
from pathlib import Path
from typing import Any

import pytest

from trysquare.validation import where, write_context

EVERYTHING: dict[str, Any] = {
    "response_file": "run/response.md",
    "test_command": "pytest 'a b'",
    "prepare": ["npm ci"],
    "artefacts": ["node_modules"],
    "touched": {"b", "a"},
    "files": ["z", "a"],
    "given": ["probe.py"],
    "declared": ["y", "x"],
    "etalon_commit": "c" * 40,
    "collected": "run/collected",
    "base_commit": "b" * 40,
}


def written(directory: Path, blind: bool = False, **parts: Any) -> dict[str, Any]:
    path = write_context(
        directory, "tree", "v1", "source", "run/prompt.md", "run/session", None, "rule / high", 3, blind, **parts
    )
    context: dict[str, Any] = json.loads(path.read_text())
    return context


def test_everything_is_written_with_absolute_paths_and_in_a_fixed_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = os.path.realpath(tmp_path)
    assert written(tmp_path, **EVERYTHING) == {
        "repo": f"{here}/tree",
        "etalon": {"tag": "v1", "checkout": f"{here}/source", "commit": "c" * 40},
        "prompt": f"{here}/run/prompt.md",
        "response": f"{here}/run/response.md",
        "session": f"{here}/run/session",
        "collected": f"{here}/run/collected",
        "cell": "rule / high",
        "repetition": 3,
        "test_command": "pytest 'a b'",
        "prepare": ["npm ci"],
        "artefacts": ["node_modules"],
        "touched": ["a", "b"],
        "files": ["a", "z"],
        "given": ["probe.py"],
        "declared": ["y", "x"],
        "base_commit": "b" * 40,
    }


def test_what_is_unknown_is_absent(tmp_path: Path) -> None:
    assert set(written(tmp_path)) == {"repo", "etalon", "prompt", "session", "cell", "repetition", "declared"}


def test_what_is_empty_is_there_and_empty(tmp_path: Path) -> None:
    empty: dict[str, Any] = {key: [] for key in ("prepare", "artefacts", "touched", "files", "given", "declared")}
    assert empty.items() <= written(tmp_path, **empty).items()


def test_a_trace_is_named_while_there_is_one(tmp_path: Path) -> None:
    path = write_context(tmp_path, "t", "v1", "s", "p", "s", tmp_path / "trace.jsonl", "a", 0)
    assert json.loads(path.read_text())["trace"] == where(tmp_path / "trace.jsonl")


def test_a_blind_context_holds_nothing_of_the_configuration(tmp_path: Path) -> None:
    context = written(tmp_path, blind=True, **EVERYTHING)
    assert not context.keys() & {"cell", "repetition", "given", "session", "trace", "base_commit"}
    assert context["test_command"] == "pytest 'a b'"
    assert context["declared"] == ["y", "x"]
    assert "rule" not in json.dumps(context) and "probe.py" not in json.dumps(context)


def test_a_blind_context_that_would_name_the_cell_through_a_path_is_not_written(tmp_path: Path) -> None:
    telling = tmp_path / "runs" / "rule_high" / "0a1b2c3d" / "response.md"
    with pytest.raises(ValueError, match="`response`"):
        written(tmp_path, blind=True, response_file=telling)
    assert not (tmp_path / "context.json").exists()
    assert written(tmp_path, response_file=telling)["response"] == str(telling)


def test_the_same_facts_are_the_same_bytes(tmp_path: Path) -> None:
    written(tmp_path / "one", **EVERYTHING)
    written(tmp_path / "two", **{**EVERYTHING, "touched": ["a", "b"]})
    assert (tmp_path / "one" / "context.json").read_bytes() == (tmp_path / "two" / "context.json").read_bytes()


def test_a_path_is_absolute_wherever_it_is_asked_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert where("results/a") == os.path.realpath(tmp_path) + "/results/a"
    assert where(Path("/x/../y")) == "/y"

"""The shipped validator, run against the fixture it is documented with, so that it cannot go stale."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trysquare.scenario import Validator
from trysquare.validation import run_script, write_context

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "validator.py"
TINY = Path(__file__).parent / "fixtures" / "tiny"
METRICS = ("delivered", "in_scope", "tests", "counts_up", "test_first", "lines_added")


def git(*args: str, cwd: Path) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    return subprocess.run(["git", *identity, *args], cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The context of the fixture's run: its tree, its session, and a repository that holds its etalon."""
    source, tree = tmp_path / "source", tmp_path / "work" / "repo"
    shutil.copytree(TINY / "etalon", source)
    shutil.copytree(TINY / "tree", tree)
    git("init", "-q", "-b", "main", cwd=source)
    git("add", "-A", cwd=source)
    git("commit", "-q", "-m", "the etalon", cwd=source)
    git("tag", "etalon-v1", cwd=source)
    facts: dict[str, Any] = json.loads((TINY / "facts.json").read_text())
    return write_context(
        tmp_path / "validation" / "script",
        tree,
        "etalon-v1",
        source,
        TINY / "prompt.md",
        TINY / "session",
        None,
        facts.pop("cell"),
        facts.pop("repetition"),
        response_file=TINY / "response.md",
        files=git("ls-files", cwd=source).splitlines(),
        declared=METRICS,
        etalon_commit=git("rev-parse", "HEAD", cwd=source),
        **facts,
    )


def score(context: Path) -> dict[str, Any]:
    result = run_script(Validator("script", METRICS, {"command": str(EXAMPLE)}), context, 60)
    assert result.detail == "", result.stderr
    assert result.payload is not None
    return dict(result.payload)


def test_the_example_scores_the_run_of_the_fixture(run: Path) -> None:
    payload = score(run)
    assert payload["metrics"] == {
        "delivered": True,
        "in_scope": True,
        "tests": True,
        "counts_up": True,
        "test_first": True,
        "lines_added": 3,
        "touched": ["counter.py", "coverage.txt", "suite.py"],
    }
    assert "in_scope" not in payload["reasons"]
    assert payload["reasons"]["tests"].startswith("Ran 2 tests in ")
    assert payload["reasons"]["test_first"] == "call 3 wrote the suite, call 5 the source"
    assert payload["unjudged"] == {}


def test_a_run_that_broke_the_counter_is_red_and_says_what_the_runner_said(run: Path) -> None:
    tree = Path(json.loads(run.read_text())["repo"])
    shutil.copy(TINY / "etalon" / "counter.py", tree)
    payload = score(run)
    assert payload["metrics"]["tests"] is False
    assert payload["reasons"]["tests"].endswith("FAILED (failures=1)")
    assert payload["metrics"]["counts_up"] is False


def test_a_run_without_a_session_keeps_every_metric_but_the_one_that_reads_it(run: Path, tmp_path: Path) -> None:
    context = json.loads(run.read_text())
    (tmp_path / "none").mkdir()
    run.write_text(json.dumps({**context, "session": str(tmp_path / "none")}))
    payload = score(run)
    assert list(payload["unjudged"]) == ["test_first"]
    assert payload["metrics"]["tests"] is True


def test_scoring_leaves_the_tree_as_the_agent_left_it(run: Path) -> None:
    tree = Path(json.loads(run.read_text())["repo"])
    before = {path.name: path.read_bytes() for path in tree.iterdir()}
    score(run)
    assert {path.name: path.read_bytes() for path in tree.iterdir()} == before
    assert [path.name for path in tree.parent.iterdir()] == ["repo"]


def test_the_example_scores_by_hand_with_the_archived_context(run: Path) -> None:
    by_hand = subprocess.run([sys.executable, EXAMPLE, run], capture_output=True, text=True, check=True)
    assert json.loads(by_hand.stdout)["metrics"]["tests"] is True

"""When a launch that measured nothing is tried again, without the agent."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_talk import TALK

from trysquare import agent


class Attempts:
    """Launches that each play one of some sources, and what was noted of them."""

    def __init__(self, tmp_path: Path, *sources: str) -> None:
        self.tmp_path, self.sources = tmp_path, sources
        self.started: list[int] = []
        self.failed: list[tuple[int, str]] = []

    def arguments(self, attempt: int) -> list[str]:
        self.started.append(attempt)
        return [sys.executable, "-c", TALK + self.sources[attempt - 1]]

    def run(self, attempts: int, **options: Any) -> agent.Outcome:
        return agent.run_until_productive(
            self.tmp_path,
            self.arguments,
            60,
            attempts,
            self.tmp_path / "trace.jsonl",
            failed=lambda attempt, outcome: self.failed.append((attempt, outcome.detail)),
            **options,
        )


def test_silence_is_tried_again_until_something_is_produced(tmp_path: Path) -> None:
    attempts = Attempts(tmp_path, "pass", "say(b'why', sys.stderr.buffer)", "answer()", "answer()")
    assert attempts.run(4).produced_something
    assert attempts.started == [1, 2, 3]
    assert attempts.failed == [(1, "no tokens consumed"), (2, "why")]


def test_silence_is_tried_again_only_so_often(tmp_path: Path) -> None:
    attempts = Attempts(tmp_path, "pass", "pass", "answer()")
    assert not attempts.run(2).produced_something
    assert [attempt for attempt, _ in attempts.failed] == [1, 2]


@pytest.mark.parametrize(
    "source",
    [
        "os.kill(os.getpid(), 15)",
        "while True: say({'type': 'x', 'text': 'y' * 1000})",
        "answer(); answer('', 'error', errorMessage='busy', usage={})",
    ],
    ids=["signalled", "runaway", "given-up-after-a-turn"],
)
def test_what_would_end_so_again_or_has_touched_the_tree_is_not_tried_again(source: str, tmp_path: Path) -> None:
    attempts = Attempts(tmp_path, source, "answer()")
    assert not attempts.run(3, ceiling=10_000).produced_something
    assert attempts.started == [1]
    assert [attempt for attempt, _ in attempts.failed] == [1]


def test_the_recorded_model_is_the_last_of_the_last_session(tmp_path: Path) -> None:
    for name, ids in (("a", ["one"]), ("b", ["two", "three"]), ("c", [])):
        entries = [json.dumps({"type": "model_change", "modelId": each}) for each in ids]
        (tmp_path / name).write_text("\n".join(entries))
    assert agent.recorded_model([tmp_path / "a", tmp_path / "b"]) == "three"
    assert agent.recorded_model([tmp_path / "a", tmp_path / "c"]) is None
    assert agent.recorded_model([]) is None

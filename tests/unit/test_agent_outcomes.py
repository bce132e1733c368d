"""What is kept of any output of an agent, and what each way of ending is worth, without the agent."""

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from agent_talk import talk

from trysquare import agent, interrupt
from trysquare.measure.stream import LINE_LIMIT


def test_what_says_the_same_again_is_not_kept_and_everything_else_is(tmp_path: Path) -> None:
    outcome = talk(
        tmp_path,
        """
say({"type": "session"})
for n in range(200):
    say({"type": "message_update", "text": "x" * 10_000})
    say({"type": "tool_execution_update", "text": "x" * 10_000})
say(b"not an event\\r")
say(b"\\xff\\n")
answer("It says message_update.")
say(b'{"type":"torn')
""",
    )
    lines = outcome.trace.read_bytes().split(b"\n")
    assert lines[:2] == [b'{"type":"session"}', b"not an event\r\xff"]
    assert lines[3:] == [b'{"type":"torn']
    assert outcome.usage == {
        **{"input": 10, "output": 2, "cacheRead": 0, "cacheWrite": 0, "turns": 1, "retries": 0},
        "cost": 0.5,
    }
    assert (outcome.response, outcome.model, outcome.code) == ("It says message_update.", "m-1", 0)
    assert (outcome.produced_something, outcome.detail, outcome.error, outcome.stderr) == (True, "", "", "")


def test_a_watcher_is_given_every_kept_event_and_a_sign_of_life_for_each_other(tmp_path: Path) -> None:
    seen: list[Any] = []
    go = tmp_path / "go"
    os.mkfifo(go)

    def watch(event: Any) -> None:
        seen.append(event)
        if event["type"] == "first":
            go.write_text("go on")

    outcome = talk(
        tmp_path,
        f"say({{'type': 'first'}}); open({str(go)!r}).read(); say({{'type': 'message_update'}}); answer()",
        watch=watch,
    )
    assert [event["type"] for event in seen] == ["first", "message_update", "message_end"]
    kept = [event for event in seen if event["type"] != "message_update"]
    assert kept == [json.loads(line) for line in outcome.trace.read_text().splitlines()]


def test_a_watcher_that_fails_ends_the_agent_and_is_heard(tmp_path: Path) -> None:
    def watch(event: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        talk(tmp_path, "say({'type': 'a'})\nwhile True: say({'type': 'b', 'text': 'x' * 1000})", watch=watch)


def test_a_trace_that_cannot_be_written_is_an_error_and_not_a_measurement(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").mkdir()
    with pytest.raises(IsADirectoryError):
        talk(tmp_path, "answer()")


def test_past_the_ceiling_the_agent_is_stopped_and_nothing_was_measured(tmp_path: Path) -> None:
    outcome = talk(tmp_path, "answer()\nwhile True: say({'type': 'message_end', 'text': 'x' * 1000})", ceiling=100_000)
    assert (outcome.overflowed, outcome.code, outcome.produced_something) == (True, None, False)
    assert "ceiling" in outcome.detail
    assert outcome.usage["turns"] == 1
    assert 90_000 < outcome.trace.stat().st_size <= 100_000


def test_what_is_not_kept_does_not_count_against_the_ceiling(tmp_path: Path) -> None:
    source = f"""
say({{"type": "message_update", "text": "x" * 1_000_000}})
say(b"y" * {2 * LINE_LIMIT} + b"\\n")
answer()
"""
    outcome = talk(tmp_path, source, ceiling=10_000)
    assert outcome.produced_something


def test_a_flood_of_complaints_is_bounded_and_its_end_is_kept(tmp_path: Path) -> None:
    outcome = talk(tmp_path, "say(b'noise' * 2_000_000 + b'\\nthe\\n reason', sys.stderr.buffer)")
    assert len(outcome.stderr) == 65536
    assert outcome.stderr.endswith("\nthe\n reason")
    assert len(outcome.detail) <= 500
    assert len(outcome.detail.splitlines()) == 1


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        ("pass", "no tokens consumed"),
        ("say(b'why\\n not', sys.stderr.buffer)", "why not"),
        (
            "say(b'noise', sys.stderr.buffer); answer('', 'error', errorMessage='busy\\r\\nnow', usage={})",
            "busy now",
        ),
        ("answer(); answer('', 'error', errorMessage='busy', usage={})", "busy"),
        ("answer(); answer('', 'aborted', usage={})", "the provider's answer ended with aborted"),
        ("answer('', usage={'input': 3, 'output': 0})", "no tokens consumed"),
        ("answer(); os.kill(os.getpid(), 9)", "ended from outside by SIGKILL"),
        ("answer(); sys.exit(143)", "ended from outside by SIGTERM"),
    ],
)
def test_a_launch_that_measured_nothing_says_why_in_one_line(source: str, detail: str, tmp_path: Path) -> None:
    outcome = talk(tmp_path, source)
    assert not outcome.produced_something
    assert outcome.detail == detail


@pytest.mark.parametrize("code", [0, 1, 128])
def test_the_exit_status_of_an_agent_that_ends_by_itself_proves_nothing(code: int, tmp_path: Path) -> None:
    outcome = talk(tmp_path, f"answer(); sys.exit({code})")
    assert (outcome.code, outcome.produced_something, outcome.signalled) == (code, True, False)


def test_a_provider_that_recovered_did_not_give_up(tmp_path: Path) -> None:
    outcome = talk(tmp_path, "answer('', 'error', errorMessage='busy', usage={}); answer()")
    assert (outcome.error, outcome.gave_up, outcome.produced_something) == ("busy", "", True)


LATE = {
    "with-tokens": ("answer(); time.sleep(60)", True, ""),
    "without": ("time.sleep(60)", False, "no tokens consumed before the time limit"),
    "failing": ("answer('', 'error', errorMessage='busy'); time.sleep(60)", False, "busy"),
    "aborted-by-it": (
        """
import signal
def abort(*_): answer('', 'aborted', errorMessage='aborted', usage={}); sys.exit(143)
signal.signal(signal.SIGTERM, abort)
answer()
time.sleep(60)
""",
        True,
        "",
    ),
}


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> dict[str, agent.Outcome]:
    """What launches that overran their time limit were worth, run side by side."""
    with ThreadPoolExecutor() as pool:
        runs = {name: pool.submit(talk, tmp_path_factory.mktemp(name), case[0], 3.0) for name, case in LATE.items()}
        return {name: run.result() for name, run in runs.items()}


@pytest.mark.parametrize("name", LATE)
def test_a_time_limit_leaves_a_measurement_when_anything_was_consumed(
    name: str, late: dict[str, agent.Outcome]
) -> None:
    _, measured, detail = LATE[name]
    assert (late[name].timed_out, late[name].code) == (True, None)
    assert (late[name].produced_something, late[name].signalled, late[name].detail) == (measured, False, detail)


def test_a_stop_is_no_outcome(tmp_path: Path) -> None:
    interrupt.stop(signal.SIGTERM)
    try:
        with pytest.raises(interrupt.Stopped):
            talk(tmp_path, "answer()")
    finally:
        interrupt.reset()

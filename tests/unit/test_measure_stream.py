import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import captured, ended, said, usage_of

from trysquare import measure
from trysquare.measure.stream import Fold, Reading, decoded, read, read_file

# turns, input, output, retries, cost, whether it is a measurement
WORTH = {
    "ok": (3, 3536, 124, 0, 0.003784, True),
    "retry": (3, 3536, 124, 1, 0.003784, True),
    "gaveup": (1, 1043, 61, 3, 0.001165, False),
    "error500": (0, 0, 0, 3, 0, False),
    "cut": (1, 1043, 61, 3, 0.001165, False),
    "unauthorized": (0, 0, 0, 0, 0, False),
}


@pytest.mark.parametrize("name", WORTH)
def test_a_captured_stream_folds_to_what_the_provider_billed(name: str) -> None:
    turns, sent, said, retries, cost, measured = WORTH[name]
    reading = read_file(captured(name, "stream"))
    assert reading.usage == {
        "input": sent,
        "output": said,
        "cacheRead": 0,
        "cacheWrite": 0,
        "turns": turns,
        "retries": retries,
        "cost": pytest.approx(cost),
    }
    assert (measure.consumed_tokens(reading.usage) and not reading.gave_up) == measured
    assert reading.model == "rehearsal-1-large"


@pytest.mark.parametrize("name", WORTH)
def test_the_session_of_a_capture_gives_the_numbers_of_its_stream(name: str) -> None:
    session = captured(name, "session").read_text()
    assert measure.strip_session(session) == {**read_file(captured(name, "stream")).usage, "retries": None}
    assert measure.models(session) == ["rehearsal-1-large"]
    assert measure.thinking_levels(session) == ["high"]


@pytest.mark.parametrize("name", WORTH)
def test_a_stream_held_in_memory_reads_as_the_one_on_disk(name: str) -> None:
    text = captured(name, "stream").read_text()
    assert read(measure.events(text)) == read_file(captured(name, "stream"))
    assert measure.final_text(text) == read_file(captured(name, "stream")).response


def test_the_response_is_the_last_prose_of_the_agent() -> None:
    assert read_file(captured("ok", "stream")).response == "Fixed `counter.py`: it now increments. The suite passes."
    assert read_file(captured("gaveup", "stream")).response == "I will fix the counter."
    assert read_file(captured("unauthorized", "stream")).response == ""


def test_an_error_is_told_in_one_line_and_given_up_only_when_it_was_the_end() -> None:
    overloaded = '503: {"message":"upstream overloaded\\r\\nplease retry","type":"server_error"}'
    survived, died = read_file(captured("retry", "stream")), read_file(captured("gaveup", "stream"))
    assert (survived.error, survived.gave_up) == (overloaded, "")
    assert (died.error, died.gave_up) == (overloaded, overloaded)
    assert read_file(captured("cut", "stream")).gave_up == "Stream ended without finish_reason"
    assert read_file(captured("unauthorized", "stream")).gave_up.startswith("401: ")


def test_an_absent_stream_is_silence(tmp_path: Path) -> None:
    assert read_file(tmp_path / "none") == Reading(usage_of(), "", "")


@pytest.mark.parametrize(
    ("usage", "turns"),
    [
        ({"input": 1}, 1),
        ({"output": 1}, 1),
        ({"cacheRead": 1}, 1),
        ({"cacheWrite": 1}, 0),
        ({"input": 0, "output": 0, "cacheRead": 0}, 0),
        ({}, 0),
        (None, 0),
        ({"input": True, "output": "12", "cacheRead": float("nan"), "cost": float("inf")}, 0),
        ({"input": 10**400, "cost": {"total": 10**400}}, 0),
        ({"input": -5}, 0),
    ],
)
def test_a_turn_is_an_answer_that_was_billed(usage: Any, turns: int) -> None:
    assert read([ended(usage=usage)]).usage["turns"] == turns


def test_only_what_the_assistant_says_counts() -> None:
    usage = {"input": 5, "output": 5}
    others = [
        {"type": "message_end", "message": {"role": role, "content": [said("x")], "usage": usage}}
        for role in ("user", "toolResult", "system")
    ]
    assert read([*others, {"type": "turn_end", "message": ended(usage=usage)["message"]}]) == Reading(
        usage_of(), "", ""
    )


def test_an_aborted_answer_gives_up_even_when_it_says_nothing() -> None:
    assert "aborted" in read([ended(reason="aborted")]).gave_up


def test_thinking_and_tool_calls_are_no_part_of_the_response() -> None:
    stream = [
        ended(said("First."), said("Second."), {"type": "thinking", "thinking": "hm"}),
        ended({"type": "toolCall", "name": "bash", "arguments": {}}),
        ended(said("  ")),
    ]
    assert read(stream).response == "First.\nSecond."


def test_half_a_character_becomes_one_that_can_be_written() -> None:
    stream = json.dumps(ended(said("cut \ud83d"), model="m\udc00"))
    assert "\\ud83d" in stream
    reading = read(decoded([stream]))
    assert (reading.response, reading.model) == ("cut �", "m�")


def test_a_whole_character_written_as_two_halves_stays_itself() -> None:
    assert read(decoded([json.dumps(ended(said("\N{GRINNING FACE}")))])).response == "\N{GRINNING FACE}"


@pytest.mark.parametrize(
    ("usage", "consumed"),
    [
        (usage_of(turns=1, input=1, output=1), True),
        (usage_of(turns=1, cacheRead=1, output=1), True),
        (usage_of(turns=1, cacheWrite=1, output=1), True),
        (usage_of(turns=1, output=1), False),
        (usage_of(turns=1, input=1), False),
        (usage_of(input=1, output=1), False),
        ({}, False),
    ],
)
def test_a_measurement_has_turns_input_of_some_kind_and_output(usage: dict[str, Any], consumed: bool) -> None:
    assert measure.consumed_tokens(usage) is consumed


def test_models_and_levels_are_told_in_the_order_they_ran() -> None:
    entries = [
        {"type": "model_change", "modelId": "a"},
        {"type": "message", "message": {"role": "assistant", "model": "a", "thinkingLevel": "low"}},
        {"type": "message", "message": {"role": "user", "model": "not one"}},
        {"type": "model_change", "modelId": "b"},
        {"type": "thinking_level_change", "thinkingLevel": "high"},
        {"type": "model_change", "modelId": "a"},
    ]
    session = "\n".join(map(json.dumps, entries))
    assert measure.models(session) == ["a", "b", "a"]
    assert measure.thinking_levels(session) == ["low", "high"]


@pytest.mark.parametrize(
    ("n", "noun", "plural", "text"),
    [
        (0, "run", None, "0 runs"),
        (1, "run", None, "1 run"),
        (2, "pass", "passes", "2 passes"),
        (1, "pass", "x", "1 pass"),
    ],
)
def test_counts_agree_with_their_nouns(n: int, noun: str, plural: str | None, text: str) -> None:
    assert measure.counted(n, noun, plural) == text


@given(st.text())
def test_one_line_is_one_line(text: str) -> None:
    line = measure.one_line(text)
    assert len(line.splitlines()) <= 1
    assert line == line.strip() == measure.one_line(line)


def test_a_board_that_folds_as_events_arrive_ends_on_the_recorded_numbers() -> None:
    fold = Fold()
    turns = [_advance(fold, event)["turns"] for event in _events("ok")]
    assert turns == sorted(turns)
    assert fold.reading == read_file(captured("ok", "stream"))


def _advance(fold: Fold, event: dict[str, Any]) -> dict[str, Any]:
    fold.add(event)
    return fold.reading.usage


def _events(name: str) -> Iterator[dict[str, Any]]:
    return measure.events(captured(name, "stream").read_text())

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trysquare import measure
from trysquare.measure.stream import DISCARDED, Fold, Reading, bounded, decoded, read, read_file

CAPTURES = Path(__file__).parent.parent / "fixtures" / "pi"

# turns, input, output, retries, cost, whether it is a measurement
WORTH = {
    "ok": (3, 3536, 124, 0, 0.003784, True),
    "retry": (3, 3536, 124, 1, 0.003784, True),
    "gaveup": (1, 1043, 61, 3, 0.001165, False),
    "error500": (0, 0, 0, 3, 0, False),
    "cut": (1, 1043, 61, 3, 0.001165, False),
    "unauthorized": (0, 0, 0, 0, 0, False),
}


def captured(name: str, kind: str) -> Path:
    return CAPTURES / name / f"{kind}.jsonl"


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


def usage_of(**known: float) -> dict[str, Any]:
    names = ("input", "output", "cacheRead", "cacheWrite", "turns", "retries", "cost")
    return {**dict.fromkeys(names, 0), **known}


def ended(*content: Any, reason: str = "stop", usage: Any = None, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": list(content), "stopReason": reason, "usage": usage, **more}
    return {"type": "message_end", "message": message}


def said(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


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


@given(st.lists(st.one_of(st.binary(max_size=40), st.sampled_from([b"\n", b'{"type":"message_end"', b"}", b"\r"]))))
def test_no_bytes_make_reading_fail(parts: list[bytes]) -> None:
    read(decoded(bounded(io.BytesIO(b"".join(parts)))))


ASSISTANT = ("usage", "content", "stopReason", "errorMessage", "model", "thinkingLevel")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["message_end", "message", "auto_retry_start", "model_change"])},
        optional={
            "errorMessage": JSON,
            "modelId": JSON,
            "message": JSON
            | st.fixed_dictionaries(
                {"role": st.just("assistant")},
                optional=dict.fromkeys(
                    ("usage", "content", "stopReason", "errorMessage", "model", "thinkingLevel"), JSON
                ),
            ),
        },
    )
)
def test_no_shape_of_an_event_makes_reading_fail(event: dict[str, Any]) -> None:
    line = json.dumps(event)
    json.dumps(read(decoded([line])).usage, allow_nan=False)
    measure.strip_session(line)
    measure.models(line)
    measure.thinking_levels(line)


def test_nesting_too_deep_to_decode_is_passed_over() -> None:
    assert list(decoded(['{"a":' * 100_000, '{"b": 1}'])) == [{"b": 1}]


class Pieces(io.RawIOBase):
    """A pipe that hands its bytes over in given pieces."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = [piece for piece in pieces if piece]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.pieces:
            return 0
        piece = self.pieces.pop(0)
        taken, rest = piece[: len(buffer)], piece[len(buffer) :]
        if rest:
            self.pieces.insert(0, rest)
        buffer[: len(taken)] = taken
        return len(taken)


@given(st.lists(st.integers(0, 40_000), max_size=12))
def test_how_a_stream_is_cut_into_pieces_changes_nothing(cuts: list[int]) -> None:
    data = captured("retry", "stream").read_bytes()
    edges = [0, *sorted(cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(edges) if end > start]
    handle = io.BufferedReader(Pieces(pieces))
    assert read(decoded(bounded(handle))) == read_file(captured("retry", "stream"))  # type: ignore[arg-type]


@given(st.binary())
def test_lines_are_cut_after_line_feeds_alone(data: bytes) -> None:
    lines = list(bounded(io.BytesIO(data)))
    assert b"".join(lines) == data
    assert all(line.find(b"\n") in (-1, len(line) - 1) for line in lines)


@pytest.mark.parametrize("excess", [-1, 0, 1, 2, measure.LINE_LIMIT, 3 * measure.LINE_LIMIT])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_line_longer_than_the_limit_is_dropped_whole_and_no_other(excess: int, end: bytes) -> None:
    line = b"x" * (measure.LINE_LIMIT + excess) + end
    found = [len(each) for each in bounded(io.BytesIO(b"a\n" + line + (b"b\n" if end else b"")))]
    kept = [len(line)] if excess <= 0 else []
    assert found == [2, *kept, *([2] if end else [])]


@pytest.mark.parametrize("prefix", DISCARDED)
def test_what_is_discarded_is_known_by_how_the_line_begins_only(prefix: bytes) -> None:
    quoting = json.dumps({"type": "x", "text": prefix.decode()})
    assert list(decoded([prefix + b"}", quoting.encode()])) == [json.loads(quoting)]


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


FOLDER = """
import json, sys
from pathlib import Path
from trysquare.measure.stream import bounded, decoded, read
usage = read(decoded(bounded(sys.stdin.buffer))).usage
[peak] = [line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
print(json.dumps([usage["turns"], usage["input"], int(peak)]))
"""


def test_a_stream_of_a_gigabyte_folds_in_less_than_100_megabytes() -> None:
    update = DISCARDED[0] + b',"text":"' + b"x" * (measure.LINE_LIMIT - 100) + b'"}\n'
    endless = b"y" * len(update)
    turn = json.dumps(ended(said("z"), usage={"input": 7, "output": 1})).encode() + b"\n"
    text = "\N{GRINNING FACE}" * (measure.LINE_LIMIT // 4 - 100)
    wide = json.dumps(ended(said(text), usage={"input": 7, "output": 1}), ensure_ascii=False).encode() + b"\n"
    argv = [sys.executable, "-c", FOLDER]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as folder:
        assert folder.stdin is not None
        assert folder.stdout is not None
        sent = 0
        for number in range(128):
            sent += folder.stdin.write(endless if number % 16 == 1 else update) + folder.stdin.write(turn)
        sent += folder.stdin.write(wide)
        folder.stdin.close()
        turns, tokens, peak = json.load(folder.stdout)
    assert sent > 1e9
    # A turn that follows bytes without a line feed is part of that overlong line.
    assert (turns, tokens) == (121, 847)
    assert peak * 1024 < 100e6

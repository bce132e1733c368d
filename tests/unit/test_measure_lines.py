import io
import json
import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import captured, ended, said

from trysquare import measure
from trysquare.measure.stream import DISCARDED, bounded, decoded, read, read_file


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

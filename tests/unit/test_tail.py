import os

from hypothesis import given, settings
from hypothesis import strategies as st

from trysquare.tail import Tail


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text("abcdef", min_size=1, max_size=40), max_size=20), st.integers(1, 60))
def test_the_end_of_everything_written_is_kept_however_it_arrives(chunks: list[str], limit: int) -> None:
    with Tail(limit) as tail:
        for chunk in chunks:
            os.write(tail.fd, chunk.encode())
    written = "".join(chunks)
    dropped = max(0, len(written) - limit)
    assert tail.dropped == dropped
    assert tail.text == (f"[{dropped} bytes dropped]\n" if dropped else "") + written[dropped:]


def test_lines_end_in_one_way_and_bytes_that_are_no_text_do_not_stop_the_reading() -> None:
    with Tail(100) as tail:
        os.write(tail.fd, b"a\r\nb\rc\xff")
    assert tail.text == "a\nb\nc\ufffd"

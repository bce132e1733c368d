import io

from hypothesis import given
from hypothesis import strategies as st

from trysquare.progress import OFF, Segment, bar, clock, drawn, eta_seconds, fitted, wanted


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_estimate_is_the_throughput_since_launch():
    assert eta_seconds(5, 32, 600.0) == 27 * 600.0 / 5
    assert eta_seconds(0, 32, 600.0) is None
    assert eta_seconds(33, 32, 600.0) == 0


@given(st.integers(1, 1000), st.integers(1, 1000), st.floats(0, 1e6))
def test_the_estimate_is_never_negative(completed, total, elapsed):
    assert eta_seconds(completed, total, elapsed) >= 0


def test_a_duration_is_said_at_the_scale_it_is_read_at():
    assert [clock(s) for s in (None, 0, 59.4, 59.6, 425, 3599.6, 4320)] == [
        "-",
        "0s",
        "59s",
        "1m 00s",
        "7m 05s",
        "1h 00m",
        "1h 12m",
    ]


def test_a_bar_is_drawn_on_a_terminal_only_and_can_be_turned_off(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv(OFF, raising=False)
    assert wanted(Terminal())
    assert not wanted(io.StringIO())
    assert not wanted(Terminal(), no_progress=True)
    monkeypatch.setenv(OFF, "1")
    assert not wanted(Terminal())
    monkeypatch.delenv(OFF)
    monkeypatch.setenv("TERM", "dumb")
    assert not wanted(Terminal())


def test_without_a_bar_a_line_is_plain(capsys):
    with bar(3, "runs", enabled=False) as plain:
        plain.tick()
        plain.line("[1/3] ok  rule / off")
        plain.warn("careful")
    captured = capsys.readouterr()
    assert captured.out == "[1/3] ok  rule / off\n"
    assert captured.err == "careful\n"


segments = st.lists(st.builds(Segment, st.text("abc 1/", max_size=12), st.integers(0, 9)), max_size=8)


@given(segments, st.integers(0, 80))
def test_a_line_is_never_wider_than_the_terminal(parts, width):
    assert len(fitted(parts, width)) <= width


@given(segments, st.integers(0, 80))
def test_what_is_left_out_weighs_no_more_than_what_is_shown(parts, width):
    told = [Segment(f"<{number}{part.text}>", part.weight) for number, part in enumerate(parts)]
    line = fitted(told, width)
    shown = [part.weight for part in told if part.text in line]
    missing = [part.weight for part in told if part.text not in line]
    assert not shown or not missing or max(missing) <= max(shown)


def test_where_there_is_room_everything_is_shown_in_its_order():
    parts = [Segment("trysquare", 1), Segment("3/9", 9), Segment("", 5), Segment("eta 7m 05s", 8)]
    assert fitted(parts, 80) == "trysquare  3/9  eta 7m 05s"
    assert fitted(parts, 15) == "3/9  eta 7m 05s"
    assert fitted(parts, 14) == "3/9"


def test_a_bar_is_full_at_the_end_and_drawn_with_what_the_terminal_has():
    assert drawn(0, 4) == "─" * 24
    assert drawn(2, 4) == "━" * 12 + "─" * 12
    assert drawn(9, 4, "ascii") == "#" * 24
    assert drawn(0, 0, "ascii") == "-" * 24

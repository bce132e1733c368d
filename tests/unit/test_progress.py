import io

from hypothesis import given
from hypothesis import strategies as st

from trysquare.progress import OFF, bar, clock, eta_seconds, wanted


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

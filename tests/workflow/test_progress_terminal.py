"""What a person sees of a launch: on a real pseudo-terminal a bar, in a file plain lines."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

pytestmark = pytest.mark.workflow

ESCAPE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(rb"\x1b\[[0-9;]*(3[0-7]|9[0-7]|38;5;\d+)[0-9;]*m")


def on_a_terminal(bench, columns, **variables):
    """Everything a launch writes to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {
        key: value for key, value in bench.environment.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")
    }
    engine = subprocess.Popen(
        bench.command("run"),
        cwd=bench.root,
        env={**environment, "TERM": "xterm-256color", **variables},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    written = b""
    try:
        while chunk := os.read(ours, 65536):
            written += chunk
    except OSError:  # how Linux says that the other end is closed
        pass
    finally:
        os.close(ours)
    assert engine.wait(timeout=60) == 0
    return written


def plain(written):
    return ESCAPE.sub(b"", written).decode()


def test_a_wide_terminal_gets_one_bar_with_everything_and_the_lines_above_it(bench):
    written = on_a_terminal(bench, 160)
    text = plain(written)
    assert ESCAPE.search(written)
    assert len(re.findall(r"ok  (?:plain|rule)  \d+s  [\d ]+ in / [\d ]+ out  2 turns  0 retries", text)) == 4
    assert re.search(
        r"trysquare  ━*─*  \d+/\d+  measured \d/4  scored \d/4  \d in flight  [\d ]+ in / [\d ]+ out", text
    )
    assert re.search("[1-9] in flight", text)
    assert written.count(b"\x1b[?25l") == written.count(b"\x1b[?25h")


def test_a_narrow_terminal_without_colour_gets_a_bar_that_fits_and_no_colour(bench):
    written = on_a_terminal(bench, 32, NO_COLOR="1")
    bars = [line for line in re.split(r"[\r\n]+", plain(written)) if re.match(r"\d+/\d+  ", line)]
    assert bars
    assert max(map(len, bars)) < 32
    assert not COLOUR.search(written)


def test_a_dumb_terminal_and_a_file_get_no_escape_sequence(bench):
    assert "\x1b" not in bench.snakemake("run")
    bench.edit("scenario.toml", "repetitions = 2", "repetitions = 1")
    written = on_a_terminal(bench, 100, TERM="dumb")
    assert b"\x1b" not in written
    assert b"ok  plain" in written

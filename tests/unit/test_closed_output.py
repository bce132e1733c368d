"""Output that nobody reads to its end, as in `trysquare status DIR | head -2`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.matrices import matrix, rows, written

COMMAND = [sys.executable, "-c", "from trysquare.cli import main; raise SystemExit(main())"]


def heard_out(command: list[str], place: Path) -> tuple[int, str]:
    """The exit status of a command whose standard output is closed, and its standard error."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, cwd=place, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", [["status", "m"], ["grade", "eval.yaml", "--lint"], ["grade", "eval.yaml"]])
def test_a_command_that_nobody_reads_ends_quietly(tmp_path: Path, words: list[str]) -> None:
    plan = matrix()
    written(tmp_path / "m", plan, rows(plan))
    block = "{type: custom-metrics, config: {assertions: [{metric: m, min: 1}]}}"
    (tmp_path / "eval.yaml").write_text(f"graders: [{', '.join([block] * 500)}]")
    assert heard_out([*COMMAND, *words], tmp_path) == (1, "")


def test_a_refusal_and_the_help_are_no_failure_of_the_output(tmp_path: Path) -> None:
    code, said = heard_out([*COMMAND, "status", "nowhere"], tmp_path)
    assert code == 1 and "nowhere" in said and "Traceback" not in said
    assert heard_out([*COMMAND, "--help"], tmp_path)[1] == ""

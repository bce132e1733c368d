"""A launch for a Slurm that does not answer: one sentence, before anything is submitted or written."""

import os
from pathlib import Path

import pytest

from tests.workflow.conftest import ROOT

pytestmark = pytest.mark.workflow
pytest.importorskip("snakemake_executor_plugin_slurm")

ADVICE = "launch where `sinfo` answers, or leave Slurm's profile or executor out to measure on this machine."
PROFILE = ("--profile", str(ROOT / "profiles/slurm"))
COMMANDS = {"sinfo", "squeue", "sbatch", "scancel", "scontrol", "sacct", "srun"}


def said(output):
    [line] = [line for line in output.splitlines() if "Slurm is not reached" in line]
    return line


@pytest.fixture
def absent(tmp_path, monkeypatch):
    """A PATH on which everything is found but the commands of Slurm."""
    place = tmp_path / "bin"
    place.mkdir()
    for folder in map(Path, os.environ["PATH"].split(os.pathsep)):
        for program in folder.iterdir() if folder.is_dir() else ():
            if program.name not in COMMANDS and not (place / program.name).is_symlink():
                (place / program.name).symlink_to(program)
    monkeypatch.setenv("PATH", str(place))
    return place


@pytest.fixture
def unreachable(absent):
    """The same with the commands there, and no controller that answers them."""
    for name in COMMANDS:
        (absent / name).write_text(
            f"#!/bin/sh\necho '{name}: trying' >&2\necho '{name}: fatal: no controller' >&2\nexit 1\n"
        )
        (absent / name).chmod(0o755)
    return absent


def test_a_machine_without_slurm_is_told_so(bench, absent):
    line = said(bench.snakemake("run", "--executor", "slurm", "--jobs", "2", code=1))
    assert "(`sinfo` cannot be started (no such file or directory)), and nothing was submitted or spent" in line
    assert line.endswith(ADVICE)
    assert not (bench.root / "results").exists()


def test_a_controller_that_does_not_answer_is_named_with_what_slurm_says(bench, unreachable):
    by_profile = said(bench.snakemake("run", *PROFILE, code=1))
    by_command = said(bench.trysquare("run", "scenario.toml", "--profile", "profiles/slurm", code=1))
    assert by_profile == by_command
    assert "(`sinfo` fails: fatal: no controller), and nothing was submitted or spent" in by_profile
    assert not (bench.root / "results").exists()


def test_what_submits_no_job_asks_no_slurm(finished, unreachable):
    page = finished.matrix / "synthesis.html"
    page.unlink()
    next(finished.matrix.glob("ledger/render.*")).unlink()
    assert "complete, 4 of 4 runs valid" in finished.snakemake("run", *PROFILE)
    assert page.exists()
    next(finished.matrix.glob("runs/*/*/validation/.script.*")).unlink()
    assert said(finished.snakemake("score", *PROFILE, code=1)).endswith(ADVICE)

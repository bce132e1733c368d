"""Every way a launch can end early: what was paid for stays, nobody is left running, the next launch completes."""

import html
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from dataclasses import replace

import psutil
import pytest

from tests.workflow.conftest import below, launched, until
from trysquare.watching.server import Server

pytestmark = pytest.mark.workflow

SECONDS_TO_END = 8
HIDE, SHOW = b"\x1b[?25l", b"\x1b[?25h"


@pytest.fixture
def slow(bench):
    """Four runs of about a second each, so that a launch can be met half way."""
    bench.edit("rehearsal.toml", 'text = "Fixed."', 'text = "Fixed."\npause = 700')
    return bench


def finish_and_compare(bench, kept, requests):
    """Complete the matrix; the runs that were finished must be untouched and asked for nothing more."""
    assert kept
    bench.snakemake("run")
    assert bench.state()["complete"] is True
    assert kept.items() <= bench.evidence().items()
    finished = {name.split("/")[2] for name in kept}
    after = bench.requests_by_run
    assert {run: after[run] for run in finished} == {run: requests[run] for run in finished}


def test_killing_the_engine_keeps_what_is_finished_and_leaves_nobody(slow):
    with launched(slow, "run") as engine:
        until(engine, " ok ")
        processes = below(engine)
        engine.kill()
        engine.wait()
        _, alive = psutil.wait_procs(processes, timeout=SECONDS_TO_END)
    assert alive == []
    kept, requests = slow.evidence(), slow.requests_by_run
    assert not list(slow.matrix.glob("runs/*/*/session")) or all(
        path.parent.joinpath("run.json").exists() for path in slow.matrix.glob("runs/*/*/session")
    )

    finish_and_compare(slow, kept, requests)


ASKED = {
    "INT to main": (signal.SIGINT, "main", 1),
    "TERM to main": (signal.SIGTERM, "main", 1),
    "HUP to main": (signal.SIGHUP, "main", 1),
    "INT to the group": (signal.SIGINT, "group", 1),
    "TERM to the group": (signal.SIGTERM, "group", 1),
    "HUP to the group": (signal.SIGHUP, "group", 1),
    "INT twice to the group": (signal.SIGINT, "group", 2),
    "TERM thrice to main": (signal.SIGTERM, "main", 3),
}


def test_every_signal_ends_everything_and_the_last_launch_completes(slow):
    """One matrix and one launch per way of asking; each launch finishes a run or two before it is asked."""
    slow.edit("scenario.toml", "repetitions = 2", "repetitions = 12")
    many, kept = replace(slow, repetitions=12), {}
    for how, (number, whom, times) in ASKED.items():
        with launched(many, "run") as engine:
            until(engine, " ok ")
            processes = below(engine)
            for _ in range(times):
                (os.killpg if whom == "group" else os.kill)(engine.pid, number)
            output = engine.stdout.read()
            code = engine.wait(timeout=SECONDS_TO_END)
            _, alive = psutil.wait_procs(processes, timeout=SECONDS_TO_END)
        assert alive == [], how
        assert code == 130, f"{how}:\n{output}"
        assert "Traceback" not in output, how
        assert kept.items() <= many.evidence().items(), how
        kept, requests = many.evidence(), many.requests_by_run

    finish_and_compare(many, kept, requests)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("told", ["snakemake -s", "Using "], ids=["being started", "loaded"])
def test_a_launch_that_has_barely_begun_is_ended_without_a_traceback(bench, number, told):
    command = [sys.executable, "-c", "from trysquare.cli import main; raise SystemExit(main())", "run", "scenario.toml"]
    with launched(bench, command=command) as engine:
        until(engine, told)
        engine.send_signal(number)
        output = engine.stdout.read()
        assert engine.wait(timeout=SECONDS_TO_END) == 130, output
    assert output.splitlines()[-1] == "interrupted" and "Traceback" not in output
    assert not list(bench.root.rglob("requests.jsonl"))


def test_a_hangup_that_is_ignored_ends_nothing(slow):
    with launched(slow, "run", nohup=True) as engine:
        until(engine, " ok ")
        os.killpg(engine.pid, signal.SIGHUP)
        engine.stdout.read()
        assert engine.wait(timeout=60) == 0
    assert slow.state()["complete"] is True
    assert set(slow.requests_by_run.values()) == {2}


def test_ctrl_c_gives_the_terminal_back_as_it_was(slow):
    outside, inside = pty.openpty()
    before = termios.tcgetattr(inside)
    engine = subprocess.Popen(
        ["setsid", "--ctty", *slow.command("run")],
        cwd=slow.root,
        env={**slow.environment, "TERM": "xterm"},
        stdin=inside,
        stdout=inside,
        stderr=inside,
    )
    seen = b""
    while b" ok " not in seen:
        seen += os.read(outside, 4096)
    processes = below(engine)
    os.write(outside, b"\x03")
    while engine.poll() is None or select.select([outside], [], [], 0)[0]:
        if select.select([outside], [], [], 0.1)[0]:
            seen += os.read(outside, 4096)
    _, alive = psutil.wait_procs(processes, timeout=SECONDS_TO_END)
    assert alive == []
    assert engine.returncode == 130
    assert termios.tcgetattr(inside) == before
    assert b"eta" in seen and seen.count(HIDE) > 0, "a bar was drawn"
    assert seen.rindex(SHOW) > seen.rindex(HIDE)
    os.close(outside)
    os.close(inside)


def test_a_second_launch_on_the_same_matrix_says_so_and_leaves(slow):
    with launched(slow, "run") as engine:
        until(engine, " ok ")
        output = slow.snakemake("run", code=1)
        engine.stdout.read()
        assert engine.wait(timeout=60) == 0
    assert "is being run by another launch" in output
    assert slow.state()["complete"] is True
    assert set(slow.requests_by_run.values()) == {2}


def test_nobody_is_told_to_launch_what_is_being_run(bench):
    silence = '\n[[fault]]\nanswer = "silence"\nheals_after = 1\ncells = ["rule"]\n'
    bench.write("rehearsal.toml", (bench.root / "rehearsal.toml").read_text(encoding="utf-8") + silence)
    with launched(bench, "run") as engine:
        until(engine, " ok ")
        while_at_work = everywhere(bench)
    assert {re.sub(r".*no synthesis", "", line) for line in while_at_work} == {" yet: it is being run now"}
    assert {re.sub(r".*no synthesis", "", line) for line in everywhere(bench)} == {
        ": launch the target `run` again to complete it"
    }


def everywhere(bench):
    """How far the matrix is by the command, by the target and by the page that is watched."""
    matrix = str(bench.matrix.relative_to(bench.root))
    command = bench.trysquare("status", matrix).splitlines()[0]
    [target] = [line for line in bench.snakemake("status").splitlines() if line.startswith(f"{matrix}: ")]
    with Server(bench.matrix) as server:
        page = re.search('<p data-complete="no">(.*?)</p>', server.pages.at("/"))
    return command, target, html.unescape(page[1])

"""Every way a launch can end early: what was paid for stays, nobody is left running, the next launch completes."""

import os
import signal

import psutil
import pytest

from tests.workflow.conftest import below, launched, until

pytestmark = pytest.mark.workflow

SECONDS_TO_END = 8


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("whom", ["the main process", "the group"])
def test_a_signal_ends_everything_and_the_next_launch_completes(slow, number, whom):
    with launched(slow, "run") as engine:
        until(engine, " ok ")
        processes = below(engine)
        if whom == "the group":
            os.killpg(engine.pid, number)
        else:
            engine.send_signal(number)
        engine.stdout.read()
        code = engine.wait(timeout=SECONDS_TO_END)
        _, alive = psutil.wait_procs(processes, timeout=SECONDS_TO_END)
    assert alive == []
    assert code != 0
    kept, requests = slow.evidence(), slow.requests_by_run

    finish_and_compare(slow, kept, requests)


def test_a_second_launch_on_the_same_matrix_says_so_and_leaves(slow):
    with launched(slow, "run") as engine:
        until(engine, " ok ")
        output = slow.snakemake("run", code=1)
        engine.stdout.read()
        assert engine.wait(timeout=60) == 0
    assert "is being run by another launch" in output
    assert slow.state()["complete"] is True
    assert set(slow.requests_by_run.values()) == {2}

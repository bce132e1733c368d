"""The same experiment on a cluster: a real Slurm of one node, and a submit command that is only a shell."""

import json
import os
import re
import shutil
import signal
import threading
from contextlib import contextmanager
from dataclasses import replace

import psutil
import pytest

from tests.workflow import slurm
from tests.workflow.conftest import ROOT, launched, until
from tests.workflow.slurm import wait_for

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.skipif(bool(slurm.missing()) and "TRYSQUARE_SLURM" not in os.environ, reason=slurm.missing()),
]

SECONDS_TO_END = 30
LONGEST = 300
QUICK = ("--latency-wait", "5", "--seconds-between-status-checks", "1")
PROFILES = {
    "slurm": ("--profile", str(ROOT / "profiles/slurm"), "--slurm-init-seconds-before-status-checks", "1", *QUICK),
    "cluster-generic": ("--profile", str(ROOT / "profiles/cluster-generic"), *QUICK),
}
SILENCE = '\n[[fault]]\nanswer = "silence"\nheals_after = 1\n'


@pytest.fixture(scope="module")
def cluster():
    made = slurm.made()
    try:
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(made.root)


@pytest.fixture
def bench(bench, cluster, monkeypatch):
    """The small experiment, where nothing times out, with the commands of the cluster first on the PATH."""
    monkeypatch.setenv("PATH", f"{cluster.bin}:{os.environ['PATH']}")
    bench.edit("scenario.toml", "timeout = 60", "timeout = 600")
    return bench


@contextmanager
def on_the_cluster(bench, profile):
    """A launch that is ended when nothing comes of it, so that no test waits for ever."""
    with launched(bench, "run", *PROFILES[profile]) as engine:
        watchdog = threading.Timer(LONGEST, engine.kill)
        watchdog.start()
        try:
            yield engine
        finally:
            watchdog.cancel()


def once(bench):
    """The same with one repetition."""
    bench.edit("scenario.toml", "repetitions = 2", "repetitions = 1")
    return replace(bench, repetitions=1)


def script(bench, text):
    bench.write("rehearsal.toml", (bench.root / "rehearsal.toml").read_text(encoding="utf-8") + text)


def under_way(bench):
    return list(bench.root.glob("results/rehearsals/*/.live/*.json"))


def recorded(bench):
    return list(bench.root.glob("results/rehearsals/*/runs/*/*/run.json"))


def wait_for_silence(bench, engine, finished=0):
    """Until so many runs are recorded and two others are under way; says why when the launch ends before."""
    wait_for(lambda: engine.poll() is not None or (len(recorded(bench)), len(under_way(bench))) == (finished, 2))
    assert engine.poll() is None, engine.stdout.read()


def left(bench):
    """The processes of this experiment, wherever they were started."""
    mine = str(bench.root.parent).encode()
    found = []
    for process in psutil.process_iter():
        try:
            environment = "\0".join(process.environ().values())
            words = "\0".join(process.cmdline())
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        if process.pid != os.getpid() and mine.decode() in environment + words:
            found.append(process)
    return found


def test_the_demo_is_measured_by_jobs_of_the_cluster(bench, cluster):
    output = bench.snakemake("run", *PROFILES["slurm"], f"scenario={ROOT}/examples/demo/scenario.toml", "repetitions=1")

    assert "complete, 4 of 4 runs valid" in output
    [matrix] = bench.root.glob("results/rehearsals/demo_*_n1")
    assert {json.loads(path.read_text())["launch"]["executor"] for path in matrix.glob("runs/*/*/run.json")} == {
        "slurm"
    }
    assert len(list(matrix.glob("runs/*/*/run.json"))) == 4
    assert (cluster.queue, left(bench)) == ([], [])


def test_a_cancelled_run_and_one_whose_node_dies_are_missing_and_the_next_launch_completes(bench, cluster):
    bench.edit("scenario.toml", "concurrency = 2", "concurrency = 4")
    script(bench, SILENCE + 'cells = ["rule"]\n')
    with on_the_cluster(bench, "slurm") as engine:
        wait_for_silence(bench, engine, finished=2)
        cancelled, dying = (path.stem for path in under_way(bench))
        [job] = cluster.jobs_of(cancelled, "rule_measure")
        cluster.command("scancel", job)
        until(engine, f"failed  rule  {cancelled}  measure: ")
        cluster.kill_node()
        until(engine, f"failed  rule  {dying}  measure: ")
        cluster.start_node()
        output = engine.stdout.read()
        assert engine.wait(timeout=60) == 1
    assert re.search(r"incomplete, [0-2] of 4 runs valid, .*2 missing", output)
    assert (cluster.queue, left(bench)) == ([], [])
    kept, requests = bench.evidence(), bench.requests_by_run

    bench.snakemake("run")

    assert bench.state()["complete"] is True
    assert kept.items() <= bench.evidence().items()
    finished = {name.split("/")[2] for name in kept}
    assert finished.isdisjoint({cancelled, dying})
    assert {bench.requests_by_run[run] for run in finished} == {requests[run] for run in finished} == {2}


@pytest.mark.parametrize(
    ("profile", "number"),
    [("slurm", signal.SIGINT), ("slurm", signal.SIGTERM), ("cluster-generic", signal.SIGTERM)],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_signal_leaves_an_empty_queue_and_nobody_running(bench, cluster, profile, number):
    bench = once(bench)
    script(bench, SILENCE)
    with on_the_cluster(bench, profile) as engine:
        wait_for_silence(bench, engine)
        engine.send_signal(number)
        output = engine.stdout.read()
        assert engine.wait(timeout=SECONDS_TO_END) != 0
        wait_for(lambda: cluster.queue == [] and left(bench) == [])
    assert "stopping: cancelling 2 jobs\n" in output
    assert "incomplete, 0 of 2 runs valid, 2 missing" in output


SUBMIT = """#!/bin/sh
place={place}
setsid sh -c 'sh "$1"; echo $? > "$0"' "$place/$$.ended" "$1" > /dev/null 2>&1 &
echo "$$ $!" >> "$place/submitted"
echo $$
"""
SLOW_STATUS = """#!/bin/sh
touch {place}/asked
exec cat {place}/never
"""
STATUS = """#!/bin/sh
ended={place}/$1.ended
if [ ! -s "$ended" ]; then echo running; elif [ "$(cat "$ended")" = 0 ]; then echo success; else echo failed; fi
"""
CANCEL = """#!/bin/sh
for id; do kill -TERM -$(sed -n "s/^$id //p" {place}/submitted); done
"""


def by_shell(place, **commands):
    """The options that make shell scripts the commands of a scheduler."""
    options = []
    for name, text in {"submit": SUBMIT, "status": STATUS, "cancel": CANCEL, **commands}.items():
        path = place / name
        path.write_text(text.format(place=place), encoding="utf-8")
        path.chmod(0o755)
        options += [f"--cluster-generic-{name}-cmd", str(path)]
    return options


def test_a_submit_command_that_is_only_a_shell_measures_a_matrix_too(bench, tmp_path):
    bench = once(bench)

    bench.snakemake("run", *PROFILES["cluster-generic"], *by_shell(tmp_path))

    assert bench.state()["complete"] is True
    assert len((tmp_path / "submitted").read_text().splitlines()) == 4
    assert set(bench.requests_by_run.values()) == {2}


def test_a_stop_while_the_scheduler_is_asked_for_its_jobs_cancels_them_all_the_same(bench, tmp_path):
    bench = once(bench)
    script(bench, SILENCE)
    os.mkfifo(tmp_path / "never")
    with launched(bench, "run", *PROFILES["cluster-generic"], *by_shell(tmp_path, status=SLOW_STATUS)) as engine:
        wait_for(lambda: len(under_way(bench)) == 2 and (tmp_path / "asked").exists())
        engine.send_signal(signal.SIGTERM)
        output = engine.stdout.read()
        assert engine.wait(timeout=SECONDS_TO_END) == 130
        wait_for(lambda: left(bench) == [])
    assert "stopping: cancelling 2 jobs\n" in output

"""Validators, suites and agents that take more than they should: bounded, reported, cleaned up."""

import json
import os
import shutil

import psutil
import pytest

from trysquare import measuring
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.repo import changes

pytestmark = pytest.mark.workflow

HOSTILE = """
import json, os, signal, subprocess, sys, time

context = json.load(open(sys.argv[1]))
what = (context["cell"], context["repetition"])
DAEMON = "trap '' TERM HUP; sleep 600.0{mark}"
good = json.dumps({{"metrics": {{"delivered": True, "in_scope": True, "tests": True}}}})
if what == ("plain", 0):
    while True:
        sys.stdout.write("x" * 65536)
if what == ("plain", 1):
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    subprocess.run(["sh", "-c", DAEMON])
if what == ("rule", 0):
    for _ in range(30):
        subprocess.Popen(["setsid", "sh", "-c", DAEMON], stdout=subprocess.DEVNULL)
    sys.stderr.write("y" * 10**7)
if what == ("rule", 1):
    while True:  # every child is orphaned at once and does the same
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                subprocess.run(["sh", "-c", DAEMON])
            os._exit(0)
        os.wait()
        time.sleep(0.01)
print(good)
"""


def alive(mark):
    return [process for process in psutil.process_iter(["cmdline"]) if f"600.0{mark}" in str(process.info["cmdline"])]


def test_hostile_validators_cost_their_own_verdict_and_leave_nothing_behind(finished):
    mark = f"{os.getpid()}7"
    finished.write("validator.py", HOSTILE.format(mark=mark))
    finished.edit("scenario.toml", 'command = "validator.py"', 'command = "validator.py"\ntimeout = 6')

    output = finished.snakemake("run", code=1)

    assert alive(mark) == []
    runs = finished.state()["runs"].values()
    details = {(run["cell"], run["repetition"]): run.get("detail", "") for run in runs}
    assert "printed more than" in details["plain", 0]
    assert "did not end within 6 s" in details["plain", 1]
    assert "did not end within 6 s" in details["rule", 1]
    assert details["rule", 0] == "", details
    assert "incomplete" in output
    [stderr] = [path for path in finished.matrix.glob("runs/rule/*/validation/*.stderr") if path.stat().st_size]
    assert stderr.stat().st_size < 300_000 and "bytes dropped" in stderr.read_text()[:100]
    trees = finished.root.parent / "work" / "trees"
    assert [path for path in trees.iterdir() if path.is_dir()] == []


def test_a_suite_that_leaves_daemons_is_judged_and_rid_of_them(finished):
    mark = f"{os.getpid()}8"
    finished.write("suite.sh", f"setsid sh -c \"trap '' TERM; sleep 600.0{mark}\" >/dev/null 2>&1 &\nexit 0\n")
    text = (finished.root / "scenario.toml").read_text()
    line = next(line for line in text.splitlines() if line.startswith("test_command"))
    finished.edit("scenario.toml", line, f"test_command = \"sh '{finished.root}/suite.sh'\"")

    finished.snakemake("run")

    assert alive(mark) == []
    assert finished.state()["complete"] is True


@pytest.fixture
def writer(bench):
    """An experiment whose agent writes 60 MB, frozen and ready to be measured in this process."""
    bench.edit("rehearsal.toml", '"edit"', '"bash"')
    text = (bench.root / "rehearsal.toml").read_text()
    arguments = next(line for line in text.splitlines() if line.startswith("arguments"))
    bench.edit("rehearsal.toml", arguments, 'arguments = { command = "head -c 60000000 /dev/zero > large.bin" }')
    bench.snakemake("run", "only=rule")
    for record in bench.records:
        shutil.rmtree(record.parent)
    layout = Layout(bench.matrix)
    matrix = Matrix.load(layout.plan)
    return layout, matrix, next(run for run in matrix.runs.values() if run.cell == "rule")


def spent(layout, matrix, run):
    """Measure one run here; returns what its attempts say."""
    assert measuring.measure(layout, matrix, run.directory, may_spend=True) == measuring.EMPTY
    assert not layout.run(run.directory).record.exists()
    assert list(layout.incoming.iterdir()) == []
    assert [path for path in (layout.root.parents[2].parent / "work" / "trees").iterdir() if path.is_dir()] == []
    assert list(layout.attempt_sessions(run.id).glob("*.jsonl"))
    return [json.loads(line)["detail"] for line in layout.attempts(run.id).read_text().splitlines()]


def test_an_agent_that_fills_the_disk_is_stopped_and_its_run_is_empty(writer, monkeypatch):
    monkeypatch.setattr(measuring, "SPACE", 2_000_000)
    assert spent(*writer) == ["wrote more than 2 MB to disk and was stopped"]


def test_a_change_too_large_to_be_kept_is_no_measurement(writer, monkeypatch):
    monkeypatch.setattr(changes, "PATCH_LIMIT", 10_000)
    [detail] = spent(*writer)
    assert detail == "its changes make a patch of more than 0.01 MB, which is not kept."

"""A machine that gets in the way: a full disk, results that cannot be written, a clock that jumps, leftover locks."""

import os
import shutil
import subprocess
import time

import pytest

from tests.faults.conftest import Ledger

pytestmark = pytest.mark.workflow

LARGE = """
[[play]]
name = "large"
cells = ["rule"]

[[play.turn]]
text = "I will write a lot."
[[play.turn.call]]
tool = "bash"
arguments = { command = "head -c 6000000 /dev/urandom > large.bin" }

[[play.turn]]
text = "Written."
"""


@pytest.fixture
def small_disk(bench):
    """The experiment with its results on a disk of a few megabytes."""
    results = bench.root / "results"
    results.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(results)]
    if os.geteuid() or shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk here")
    yield bench
    subprocess.run(["umount", "--lazy", str(results)], check=True)


def remount(bench, options):
    subprocess.run(["mount", "-o", f"remount,{options}", str(bench.root / "results")], check=True)


def test_nothing_is_spent_on_a_run_that_no_disk_has_room_for(small_disk):
    (small_disk.root / "results" / "filling").write_bytes(bytes(3_300_000))

    output = small_disk.snakemake("run", code=1)

    assert output.count("for a run (0.") >= 4 and "nothing was spent on it" in output
    assert small_disk.requests == 0
    (small_disk.root / "results" / "filling").unlink()
    small_disk.snakemake("run")
    assert small_disk.state()["complete"] is True


def test_a_disk_that_is_full_costs_the_runs_that_do_not_fit_and_nothing_else(small_disk):
    small_disk.edit("rehearsal.toml", 'name = "fix"', 'name = "fix"\ncells = ["plain"]')
    small_disk.write("rehearsal.toml", (small_disk.root / "rehearsal.toml").read_text() + LARGE)

    output = small_disk.snakemake("run", code=1)

    assert "no space left on device" in output and "what is recorded is kept" in output
    ledger = Ledger(small_disk)
    ledger.check()
    assert {path.parent.parent.name for path in small_disk.records} == {"plain"}
    assert list((small_disk.matrix / ".incoming").iterdir()) == []
    remount(small_disk, "size=64m")
    ledger.complete()


def test_results_that_cannot_be_written_are_one_sentence_and_cost_nothing(small_disk):
    small_disk.snakemake("run", "only=plain")
    ledger = Ledger(small_disk)
    ledger.check()
    remount(small_disk, "ro")

    output = small_disk.snakemake("run", code=1)

    assert "must not be written into; name another directory for the results" in output
    ledger.check()
    assert set(ledger.requests) == {path.parent.name for path in small_disk.records}
    remount(small_disk, "rw")
    ledger.complete()


@pytest.mark.parametrize("jump", [10 * 365 * 86400, -10 * 365 * 86400], ids=["forwards", "backwards"])
def test_a_clock_that_jumps_measures_nothing_again(finished, jump):
    ledger = Ledger(finished)
    ledger.check()
    then = time.time() + jump
    for path in (*finished.root.rglob("*"), *finished.root.rglob(".*")):
        os.utime(path, (then, then), follow_symlinks=False)
    assert "measure" not in finished.snakemake("run").partition("jobs:")[2]
    ledger.check()
    finished.edit("validator.py", '"in_scope": work <=', '"in_scope": not work <=')
    os.utime(finished.root / "validator.py", (1, 1))

    assert "score_run 4" in finished.snakemake("run")
    ledger.complete()


def test_what_a_killed_engine_leaves_behind_holds_nothing_up(finished):
    """Its locks, its markers of incomplete files, and the lock file of a launch that is no more."""
    ledger = Ledger(finished)
    ledger.check()
    shutil.rmtree(finished.records[0].parent)
    ledger = Ledger(finished)
    pointer = str(finished.records[0].relative_to(finished.root).with_name("measured.json"))
    for name in ("locks/0.input.lock", "locks/0.output.lock"):
        finished.write(f".snakemake/{name}", f"{pointer}\n")
    finished.write(f".snakemake/incomplete/{pointer.replace('/', '_')}", "")
    (finished.matrix / ".locks").mkdir(exist_ok=True)
    (finished.matrix / ".locks" / "launch").touch()

    ledger.complete()


def test_no_flag_measures_a_recorded_run_again_although_the_engine_forgot_it(finished):
    ledger = Ledger(finished)
    ledger.check()
    shutil.rmtree(finished.root / ".snakemake")
    for record in finished.records[:2]:
        (record.parent / "measured.json").unlink()
    for name in ("validator.py", "rehearsal.toml"):
        finished.write(name, (finished.root / name).read_text())

    finished.snakemake("run", "--forceall", "--rerun-incomplete")

    ledger.complete()


def test_deleting_all_that_the_engine_knows_of_measures_nothing_again(finished):
    ledger = Ledger(finished)
    ledger.check()

    finished.snakemake("run", "--delete-all-output", code=None)
    ledger.complete()
    finished.snakemake("run", "--touch", code=None)
    ledger.complete()


def test_a_run_that_was_staged_whole_and_not_committed_is_not_bought_again(finished):
    ledger = Ledger(finished)
    ledger.check()
    run = finished.records[0].parent
    stage = finished.matrix / ".incoming" / f"{run.name}-killed"
    stage.parent.mkdir(exist_ok=True)
    run.rename(stage)
    shutil.rmtree(stage / "validation")
    half = finished.matrix / ".incoming" / f"{run.name}-half"
    shutil.copytree(stage, half)
    (half / "diff.patch").unlink()

    ledger.complete()

    assert list(stage.parent.glob(f"{run.name}-*")) == []

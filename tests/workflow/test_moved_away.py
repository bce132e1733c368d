"""What the archive needs is in the archive: sources that moved away, and files that somebody removed from a matrix."""

import json
import shutil

import pytest

pytestmark = pytest.mark.workflow

BELOW_PROC = "/proc/trysquare"
"""Where nobody can make anything, root included."""


@pytest.mark.parametrize("gone", ["repository", "validator"])
def test_the_archive_is_told_collected_and_rendered_without_what_it_was_made_from(finished, gone):
    evidence = finished.evidence()
    if gone == "repository":
        machine = f'[repos]\ncounter = "{finished.root}/moved"\n\n[defaults]\nworkdir = "{finished.root}/work"\n'
        finished.write("trysquare.toml", machine)
        reason = "moved is no directory"
    else:
        (finished.root / "validator.py").unlink()
        reason = '"validator.py" is a path and cannot be read'
    for name in ("measures.json", "synthesis.md"):
        (finished.matrix / name).unlink()

    output = finished.snakemake("collect")
    assert reason in output and "taken as frozen at the last launch" in output
    assert (finished.matrix / "measures.json").exists()
    finished.snakemake("render")
    assert (finished.matrix / "synthesis.md").exists()
    assert "complete, 4 of 4 runs valid" in finished.snakemake("status")

    output = finished.snakemake("score", code=1)
    assert reason in output and "name the matrix instead: --config scenario=results" in output
    output = finished.snakemake("run", code=1)
    assert reason in output and "frozen" not in output
    assert finished.evidence() == evidence


def cells_of(matrix):
    return json.loads((matrix / "plan.json").read_text())["cells"]


def test_a_plan_and_bricks_that_were_removed_are_written_again_and_nothing_is_measured(finished):
    cells, requests = cells_of(finished.matrix), finished.requests
    (finished.matrix / "plan.json").unlink()
    assert "plan.json was removed; `run` writes it again" in finished.snakemake("status")
    assert "plan.json was removed; `run` writes it again" in finished.snakemake("collect", code=1)
    assert "plan.json does not exist" in finished.trysquare("status", str(finished.matrix), code=1)
    shutil.rmtree(finished.matrix / "bricks")

    assert "GONE: " in finished.snakemake("run")

    assert cells_of(finished.matrix) == cells
    assert finished.requests == requests
    (brick, *_) = (finished.matrix / "bricks").iterdir()
    brick.unlink()
    assert "1 frozen file of" in finished.snakemake("run")
    assert brick.exists() and finished.requests == requests
    assert "GONE" not in finished.snakemake("run")


def test_a_record_that_was_removed_is_not_offered_for_measuring(finished):
    requests, record = finished.requests, finished.records[0]
    content = record.read_bytes()
    record.unlink()
    remedy = "restore it from a copy, or delete "

    output = finished.snakemake("run", code=1)
    assert "run.json is missing, although measured.json says that this run was measured" in output and remedy in output
    assert "1 damaged" in finished.snakemake("status")
    assert remedy in finished.trysquare("status", str(finished.matrix))
    assert finished.requests == requests

    record.write_bytes(content)
    finished.snakemake("run")
    assert "complete, 4 of 4" in finished.snakemake("status")
    assert finished.requests == requests


def test_a_launch_with_nowhere_to_work_or_to_write_spends_nothing(bench):
    machine = (bench.root / "trysquare.toml").read_text()
    bench.write("trysquare.toml", machine.partition("[defaults]")[0] + f'[defaults]\nworkdir = "{BELOW_PROC}"\n')
    assert f"[defaults] workdir: {BELOW_PROC} cannot be used" in bench.snakemake("run", code=1)
    bench.write("trysquare.toml", machine)
    assert "name another directory for the results" in bench.snakemake("run", f"output={BELOW_PROC}", code=1)
    assert "name another directory for the results" in bench.snakemake("run", "output=rule.md", code=1)
    assert not (bench.root / "results").exists()


def test_what_was_measured_before_is_not_said_to_be_measured_again(finished):
    requests = finished.requests
    output = finished.snakemake("run", "--forceall")
    assert output.count(" kept  ") == 4 and " ok  " not in output
    assert finished.requests == requests

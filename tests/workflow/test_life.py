"""One matrix from nothing to a synthesis, and what a second launch does. Real engine, real agent, scripted model."""

import json
import shutil

import pytest

from tests.workflow.conftest import ROOT

pytestmark = pytest.mark.workflow


def test_a_first_launch_measures_scores_and_renders_everything(bench):
    output = bench.snakemake("run")

    assert len(bench.records) == 4
    assert bench.state()["complete"] is True
    assert "complete, 4 of 4 runs valid" in output
    rows = json.loads((bench.matrix / "measures.json").read_text())
    assert [(row["cell"], row["repetition"]) for row in rows] == [("plain", 0), ("plain", 1), ("rule", 0), ("rule", 1)]
    assert all(row["metrics"] == {"delivered": True, "in_scope": True, "tests": True} for row in rows)
    assert all(row["usage"]["turns"] == 2 and row["rehearsed"] for row in rows)
    assert "scripted" in (bench.matrix / "synthesis.html").read_text().lower()
    configuration = json.loads((bench.records[0].parent / "configuration.json").read_text())
    assert configuration["model_id"] == "rehearsal-1-large"
    assert configuration["touched"] == ["counter.py"]
    verdict = json.loads((bench.records[0].parent / "validation" / "script.json").read_text())
    assert 0 < verdict["validator_seconds"] <= verdict["duration"]


def test_every_file_of_a_matrix_is_on_the_page_of_the_archive(finished):
    page = (ROOT / "docs" / "archive.md").read_text(encoding="utf-8")
    names = {path.name for path in finished.matrix.iterdir()} - {".incoming", ".locks", ".live", "ledger", "logs"}
    kept = {path.name for path in finished.records[0].parent.iterdir()} - {"validation", "session"}
    assert {"plan.json", "synthesis.html"} <= names and {"run.json", "diff.patch"} <= kept
    assert not [name for name in names | kept if name not in page]


def test_a_second_launch_does_nothing(finished):
    before, requests = finished.evidence(), finished.requests

    output = finished.snakemake("run")

    assert "jobs:" not in output
    assert "complete, 4 of 4 runs valid; open " in output
    assert finished.requests == requests
    assert finished.evidence() == before


def test_derived_files_that_were_damaged_are_written_again(finished):
    names = ("measures.json", "measures.parquet", "state.json", "synthesis.md", "synthesis.html")
    before = {name: (finished.matrix / name).read_bytes() for name in names}
    requests = finished.requests
    for damaged in (names[:3], names[3:]):
        for name in damaged:
            (finished.matrix / name).write_bytes(before[name][: len(before[name]) // 2])

        output = finished.snakemake("run")

        assert "measure " not in output and "score_run" not in output
        assert {name: (finished.matrix / name).read_bytes() for name in names} == before
        assert "jobs:" not in finished.snakemake("run")
    assert finished.requests == requests


@pytest.mark.parametrize(
    "flags", [("--forceall",), ("-R", "measure"), ("--rerun-triggers", "mtime", "code", "params", "input")]
)
def test_no_flag_of_the_engine_measures_a_recorded_run_again(finished, flags):
    before, requests = finished.evidence(), finished.requests

    finished.snakemake("run", *flags)

    assert finished.requests == requests
    assert finished.evidence() == before


def test_lost_metadata_and_touched_files_measure_nothing_again(finished):
    before, requests = finished.evidence(), finished.requests
    shutil.rmtree(finished.root / ".snakemake")
    for path in finished.root.rglob("*"):
        path.touch()

    finished.snakemake("run")

    assert finished.requests == requests
    assert finished.evidence() == before


def test_lost_pointers_are_written_again_for_nothing(finished):
    requests = finished.requests
    for record in finished.records:
        (record.parent / "measured.json").unlink()

    finished.snakemake("run")

    assert finished.requests == requests
    assert all((record.parent / "measured.json").exists() for record in finished.records)


def test_deleting_one_run_measures_and_scores_exactly_that_run(finished):
    lost = finished.records[0].parent
    kept = {name: data for name, data in finished.evidence().items() if lost.name not in name}
    before = finished.requests_by_run
    shutil.rmtree(lost)

    output = finished.snakemake("run")

    assert "measure 1" in output
    assert "score_run 1," in output
    assert "render_matrix 1" in output
    assert "GONE: 1 run of " in output and f" ({lost.name}) had been measured, and the directory was removed" in output
    assert "was removed from the archive, and was asked for again" in (finished.matrix / "synthesis.md").read_text()
    assert finished.requests_by_run - before == {lost.name: before[lost.name]}
    assert kept.items() <= finished.evidence().items()


def test_editing_the_validator_scores_everything_again_and_measures_nothing(finished):
    requests = finished.requests
    finished.edit("validator.py", '"in_scope": work <=', '"in_scope": not work <=')

    output = finished.snakemake("run")

    assert "score_run 4" in output
    assert "measure " not in output
    assert finished.requests == requests
    rows = json.loads((finished.matrix / "measures.json").read_text())
    assert all(row["metrics"]["in_scope"] is False for row in rows)


def test_what_a_job_starts_sees_the_path_of_the_launch_and_not_the_interpreter_of_the_harness(finished):
    finished.edit("validator.py", "run.tests()", 'run.tests(), "path": __import__("os").environ["PATH"]')

    finished.snakemake("run")

    rows = json.loads((finished.matrix / "measures.json").read_text())
    assert {row["metrics"]["path"] for row in rows} == {finished.environment["PATH"]}


def test_a_validator_edited_and_put_back_leaves_the_first_verdicts(finished):
    finished.edit("validator.py", "@validator", "undefined\n\n\n@validator")
    output = finished.snakemake("run", code=1)
    assert "4 failed by a validator" in output
    assert "correct the validator if it is at fault, launch the target `run` again to complete it" in output
    assert not (finished.matrix / "synthesis.html").exists()

    finished.edit("validator.py", "undefined\n\n\n@validator", "@validator")
    finished.snakemake("run")

    assert finished.state()["complete"] is True
    assert (finished.matrix / "synthesis.html").exists()


def test_a_dry_run_writes_nothing(bench):
    output = bench.snakemake("run", "-n")

    assert "2 cells x 2 repetitions = 4 runs" in output
    assert not (bench.root / "results").exists()


@pytest.mark.parametrize("target", ["render", "score", "collect", "status"])
def test_no_other_target_measures_a_missing_run(finished, target):
    requests = finished.requests
    shutil.rmtree(finished.records[0].parent)

    output = finished.snakemake(target, code=None)

    assert finished.requests == requests
    assert [line for line in output.splitlines() if "incomplete, 3 of 4 runs valid, 1 missing" in line]
    assert len(finished.records) == 3


@pytest.mark.parametrize("target", ["render", "score", "collect"])
def test_a_target_before_any_launch_says_what_to_do(bench, target):
    output = bench.snakemake(target, code=1)

    assert "nothing is measured yet; the target `run` measures it" in output


def test_asking_the_engine_for_a_file_does_not_buy_it(finished):
    requests = finished.requests
    lost = finished.records[0].parent
    shutil.rmtree(lost)

    output = finished.snakemake(str((lost / "measured.json").relative_to(finished.root)), code=1)

    assert "only the target `run` may spend" in output
    assert finished.requests == requests

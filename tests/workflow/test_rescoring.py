"""Scoring what is recorded again: exactly what is affected, from the archive alone, here or elsewhere."""

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from tests.workflow.conftest import ROOT

pytestmark = pytest.mark.workflow

SECOND = """
[[validation]]
mode = "script"
name = "size"
command = "size.py"
inputs = ["limits.json"]
metrics = ["small"]

[verdict]"""

SIZE = """
import json, pathlib

from trysquare.assay import Assay, validator


@validator
def evaluate(run: Assay) -> dict:
    limit = json.loads((pathlib.Path(__file__).parent / "limits.json").read_text())
    return {"small": len(run.touched) <= limit, "count": len(run.touched)}


if __name__ == "__main__":
    raise SystemExit(evaluate.cli())
"""


@pytest.fixture
def scored(finished):
    """A finished matrix with a second validator, which reads a declared file and returns one metric more than asked."""
    finished.edit("scenario.toml", "\n[verdict]", SECOND)
    finished.edit(
        "scenario.toml",
        '[[validation]]\nmode = "script"\ncommand',
        '[[validation]]\nmode = "script"\nname = "script"\ncommand',
    )
    finished.write("size.py", SIZE)
    finished.write("limits.json", "5")
    finished.snakemake("run")
    return finished


def rows(bench):
    return json.loads((bench.matrix / "measures.json").read_text())


def verdicts(bench, name):
    return {path: path.read_bytes() for path in bench.matrix.glob(f"runs/*/*/validation/{name}.json")}


def test_a_new_validator_and_a_changed_input_score_nothing_but_what_they_touch(scored):
    requests, script = scored.requests, verdicts(scored, "script")
    assert all(row["metrics"]["small"] and row["metrics"]["count"] == 1 for row in rows(scored))
    scored.write("limits.json", "0")

    output = scored.snakemake("run")

    assert "score_run 4" in output and "measure" not in output.split("jobs:")[1].splitlines()[0]
    assert verdicts(scored, "script") == script
    assert scored.requests == requests
    assert not any(row["metrics"]["small"] for row in rows(scored))


def test_a_metric_declared_later_is_scored_by_collecting_where_it_was_returned(scored):
    lacking = sorted(verdicts(scored, "size"))[0]
    verdict = json.loads(lacking.read_text())
    del verdict["metrics"]["count"]
    lacking.write_text(json.dumps(verdict))
    kept = {path: data for path, data in verdicts(scored, "size").items() if path != lacking}
    scored.edit("scenario.toml", '["small"]', '["small", "count"]')

    output = scored.snakemake("run")

    assert "score_run 1," in output
    assert kept.items() <= verdicts(scored, "size").items()
    assert all(row["metrics"]["count"] == 1 for row in rows(scored))
    assert "count" in (scored.matrix / "synthesis.md").read_text()
    assert "jobs:" not in scored.snakemake("run")


def test_verdicts_that_were_deleted_or_damaged_are_made_again(finished):
    first, second, third = sorted(verdicts(finished, "script"))[:3]
    first.unlink()
    second.write_text("{")
    third.write_text("null")

    assert "score_run 3," in finished.snakemake("run")
    assert finished.state()["complete"] is True
    assert "jobs:" not in finished.snakemake("run")


def test_a_synthesis_never_stays_beside_measures_it_does_not_rest_on(finished):
    page, other = finished.matrix / "synthesis.html", finished.matrix / "synthesis_ref-rule.md"
    finished.snakemake("run", "reference=rule")
    finished.edit("validator.py", '"in_scope": work <=', '"in_scope": not work <=')

    output = finished.snakemake("score")

    stands = "complete, 4 of 4 runs valid; the target `render` writes the synthesis from them"
    assert output.count("complete, 4 of 4 runs valid") == 1 and stands in output
    assert stands in finished.snakemake("status")
    assert not page.exists() and not other.with_suffix(".html").exists()
    assert "its measures have changed; the target `render`" in page.with_suffix(".md").read_text()
    finished.snakemake("render")
    assert page.exists() and "its measures have changed" not in other.read_text()
    assert f"; open {page.relative_to(finished.root)}" in finished.snakemake("status")


def test_a_metric_that_loses_its_value_is_named(finished):
    name = finished.records[0].parent.name
    finished.edit("validator.py", "\nfrom", f"\nimport sys\n\nLAME = '{name}' in open(sys.argv[1]).read()\nfrom")
    finished.edit("validator.py", '"in_scope": work', '**({} if LAME else {"in_scope": True}), "other": work')

    output = finished.snakemake("run", code=1)

    [line] = [line for line in output.splitlines() if line.startswith("lost: in_scope")]
    assert name in line and "had the value true and has none now" in line
    assert "did not return the declared metric 'in_scope'" in line


def test_one_misspelt_metric_is_one_line_for_each_metric_it_takes_away_and_the_close_name_is_said(finished):
    finished.edit("validator.py", '"in_scope": work', '"in_scop": work')

    output = finished.snakemake("run", code=1)

    meant = "'in_scop' is not declared, did you mean 'in_scope'?"
    lines = output.splitlines()
    lost = [line for line in lines if line.startswith("lost: ")]
    assert [line.split()[1] for line in lost] == ["delivered", "in_scope", "tests"]
    assert all(" of 4 runs of 2 cells (" in line and meant in line for line in lost)
    [first] = [line for line in lines if "] failed  " in line and "  score_run: " in line]
    [others] = [line for line in lines if line.startswith("failed  score_run of 3 more runs, like ")]
    assert meant in first and others.split(", like ")[1][:8] in first
    [told] = finished.trysquare("status", str(finished.matrix)).splitlines()[1:]
    assert told.startswith("  failed by a validator  4 runs of 2 cells (") and meant in told
    note = (finished.matrix / "synthesis.md").read_text()
    assert note.count("\n") == 1 and "4 failed by a validator (script: " in note and meant in note


def test_a_validator_that_does_not_parse_is_refused_before_anything_is_scored_with_it(finished):
    kept = verdicts(finished, "script")
    plan = (finished.matrix / "plan.json").read_bytes()
    finished.edit("validator.py", "def evaluate(run: Assay) -> dict:", "def evaluate(run: Assay) -> dict")
    at = finished.root.joinpath("validator.py").read_text().splitlines().index("def evaluate(run: Assay) -> dict") + 1

    for told in (
        finished.snakemake("run", code=1),
        finished.snakemake("run", "-n", code=1),
        finished.snakemake("score", code=1),
        finished.trysquare("validate", "scenario.toml", code=1),
    ):
        assert f"[[validation]] #1 command: \"validator.py\" is not valid Python at line {at} (expected ':')" in told
    assert verdicts(finished, "script") == kept
    assert (finished.matrix / "plan.json").read_bytes() == plan
    assert "complete, 4 of 4 runs valid" in finished.snakemake("status")


def test_an_edited_validator_is_tried_on_one_run_and_then_on_one_cell_the_way_the_guide_says(finished):
    section = (ROOT / "docs" / "validators.md").read_text().partition("## Trying an edited validator")[2]
    replay, attempt, one_cell = map(shlex.split, section.split("```")[1].strip().splitlines())
    assert replay == ["trysquare", "replay", "results/my-matrix_n10"]
    assert one_cell == ["trysquare", "run", "scenario.toml", "--only", "rule"]
    kept, run = verdicts(finished, "script"), finished.records[-1].parent
    finished.edit("validator.py", '"tests": run.tests()', '"tests": run.tests(), "count": len(work)')

    told = finished.trysquare("replay", str(finished.matrix))
    [line] = [line for line in told.splitlines() if line.startswith(run.name)]
    place = attempt[2].replace("1b628c2c", run.name).partition(f"{run.name}/")[2]
    context = Path(line.partition(": ")[2]).parent / place
    assert attempt[:2] == ["python", "validator.py"]
    answered = json.loads(finished.done([sys.executable, "validator.py", str(context)]))

    assert answered["metrics"] == {"delivered": True, "in_scope": True, "tests": True, "count": 1}
    assert verdicts(finished, "script") == kept
    assert "incomplete, 2 of 4 runs valid, 2 still to be scored" in finished.trysquare(*one_cell[1:])
    scored = {path.parts[-4] for path, data in verdicts(finished, "script").items() if b'"count"' in data}
    assert scored == {"rule"}
    assert "complete, 4 of 4 runs valid" in finished.snakemake("run")


def test_a_metric_that_is_declared_no_more_is_said_once_and_not_called_lost(finished):
    finished.edit("scenario.toml", ', "tests"]', "]")
    finished.snakemake("run")
    finished.edit("validator.py", ', "tests": run.tests()', "")

    output = finished.snakemake("run")

    assert "lost: " not in output
    [line] = [line for line in output.splitlines() if line.startswith("not declared, and no longer returned: ")]
    assert line.partition(": ")[2].startswith("tests; it had the value true in 4 runs of 2 cells (")


def test_a_matrix_that_was_moved_is_replayed_and_scored_without_its_scenario(finished, tmp_path):
    place = tmp_path / "elsewhere"
    place.mkdir()
    moved = place / finished.matrix.name
    shutil.move(finished.matrix, moved)
    (finished.root / "trysquare.toml").rename(place / "trysquare.toml")
    finished.edit("validator.py", "def evaluate", "undefined\n\n\ndef evaluate")
    damaged = sorted(moved.glob("runs/*/*"))
    (damaged[0] / "diff.patch").write_bytes((damaged[0] / "diff.patch").read_bytes()[:-10])
    next((damaged[1] / "session").iterdir()).unlink()
    configuration = json.loads((damaged[2] / "configuration.json").read_text())
    (damaged[2] / "configuration.json").write_text(json.dumps({**configuration, "touched": []}))

    told = finished.trysquare("replay", str(moved), code=1)

    assert f"damaged: {damaged[0].name}" in told and "diff.patch was changed" in told
    assert "session/attempt-01.jsonl cannot be read" in told and "configuration.json was changed" in told
    sound = damaged[3].name
    [line] = [line for line in told.splitlines() if line.startswith(sound)]
    tree = tmp_path / "work" / "replays" / moved.name / sound
    assert str(tree / "tree") in line and "return n + 1" in (tree / "tree" / "counter.py").read_text()
    context = json.loads((tree / "contexts" / "script" / "context.json").read_text())
    assert context["repo"] == str(tree / "tree") and context["touched"] == ["counter.py"]

    for path in verdicts_of(moved):
        path.write_text("{}")
    output = finished.trysquare("replay", str(moved), "--rescore", code=1)

    assert output.count("is damaged: ") >= 3 and "1 of 4 runs valid" in output
    assert json.loads((damaged[3] / "validation" / "script.json").read_text())["metrics"]["in_scope"] is True


def verdicts_of(matrix):
    return sorted(matrix.glob("runs/*/*/validation/script.json"))


def test_a_damaged_record_is_reported_and_the_rest_goes_on(finished):
    requests = finished.requests
    edited, cut = (record for record in finished.records[:2])
    edited.write_text(edited.read_text().replace('"attempts": 1', '"attempts": 2'))
    cut.write_text("{")

    output = finished.trysquare("replay", str(finished.matrix), code=1)

    assert output.count("\ndamaged: ") + output.startswith("damaged: ") == 2
    assert "run.json is not the record its measured.json was written for" in output
    assert "incomplete, 2 of 4 runs valid, 2 damaged" in finished.snakemake("status")
    assert finished.snakemake("run", code=1)
    assert finished.requests == requests


def test_a_renamed_matrix_is_replayed_and_scored_and_never_measured(finished, tmp_path):
    other, requests = tmp_path / "kept for later", finished.requests
    shutil.move(finished.matrix, other)
    lines = finished.trysquare("replay", str(other)).splitlines()
    assert sum(f"/replays/{other.name}/" in line for line in lines) == 4
    finished.trysquare("replay", str(other), "--rescore")
    assert "complete, 4 of 4" in finished.snakemake("status", f"scenario={other}")
    assert len((other / "requests.jsonl").read_text().splitlines()) == requests


def test_the_target_run_refuses_a_directory(finished):
    assert "is a matrix: `run` needs its scenario" in finished.snakemake("run", f"scenario={finished.matrix}", code=1)
    assert "complete, 4 of 4" in finished.snakemake("status", f"scenario={finished.matrix}")


def test_what_could_be_freed_is_said_and_freed_on_request(finished, tmp_path):
    finished.snakemake("score", "-R", "score_run")
    finished.trysquare("replay", str(finished.matrix))
    (tmp_path / "work/trees/00000000-left").mkdir()
    (finished.matrix / ".incoming/00000000-half").mkdir(parents=True)

    told = finished.trysquare("clean", str(finished.matrix))

    for what in ("1 tree in", "1 replay in", "1 store in", "1 staged run in", "can be freed: add --yes"):
        assert what in told
    assert "freed" in finished.trysquare("clean", str(finished.matrix), "--yes")
    assert "nothing to free" in finished.trysquare("clean", str(finished.matrix))
    finished.snakemake("score", "-R", "score_run")


def test_pages_show_what_runs_were_given_although_it_was_edited_since(finished):
    plan, before = finished.matrix / "plan.json", (finished.matrix / "plan.json").read_bytes()
    page = (finished.matrix / "synthesis.html").read_bytes()
    finished.edit("rule.md", "Change nothing", "Change as little as you can")
    finished.edit("scenario.toml", 'title = "Counter"', 'title = "Counting"')

    finished.snakemake("render")

    cells = {name: cell["fingerprint"] for name, cell in json.loads(plan.read_bytes())["cells"].items()}
    assert cells == {name: cell["fingerprint"] for name, cell in json.loads(before)["cells"].items()}
    assert b"Counting" in (finished.matrix / "synthesis.html").read_bytes() != page
    assert "its context changed" in finished.snakemake("run", code=1)

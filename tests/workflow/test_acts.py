"""What one may want of a matrix beside finishing it: extend it, measure a cell again, some cells only, other pages."""

import json
import os
import pty
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

pytestmark = pytest.mark.workflow


def kinds(bench):
    lines = (bench.matrix / "launches.jsonl").read_text().splitlines()
    return [json.loads(line)["kind"] for line in lines]


def of_cell(bench, cell):
    return {path.parent.name for path in bench.records if path.parent.parent.name == cell}


def test_an_extended_matrix_carries_what_a_smaller_one_holds_and_measures_the_rest(finished):
    smaller = finished.evidence()
    larger = replace(finished, repetitions=3)
    told = finished.snakemake("run", "-n", "repetitions=3")
    assert "6 to perform" in told and "AVAILABLE: 4 of these runs" in told
    shutil.rmtree(finished.records[0].parent / "validation")

    output = finished.snakemake("run", "repetitions=3", "extend=true")

    assert "CARRIED: 4 runs" in output and "2 to perform, 0 kept, 4 carried" in output
    # The verdicts that came along are not made again; the one that was lost is.
    assert "carry 4, measure 2, score_run 3" in output
    assert smaller.items() <= larger.evidence().items()
    assert finished.evidence() == smaller
    carried = {path.parent.name for path in finished.records}
    assert set(larger.requests_by_run) == {path.parent.name for path in larger.records} - carried
    state = larger.state()
    assert state["complete"] is True
    assert {name for name, run in state["runs"].items() if run.get("carried")} == carried
    [entry] = state["carried"]
    assert (entry["directory"], entry["repetitions"], entry["runs"]) == (finished.matrix.name, 2, 4)
    assert kinds(larger) == ["launch", "carry"]
    assert "4 runs came from" in (larger.matrix / "synthesis.md").read_text()
    assert "jobs:" not in finished.snakemake("run", "repetitions=3", "extend=true")

    for path in finished.records:
        record = json.loads(path.read_text())
        path.write_text(json.dumps({**record, "duration": 0}))
    output = finished.snakemake("run", "repetitions=4", "extend=true")
    assert "CARRIED: 6 runs" in output and finished.matrix.name not in output.split("jobs:")[1]


def test_runs_that_were_measured_as_something_else_are_not_carried(finished):
    finished.edit("rule.md", "Change nothing", "Change as little as you can")

    output = finished.snakemake("run", "repetitions=3", "extend=true", code=1)

    assert "cannot be carried: the cell 'rule' had another context" in output
    assert (
        not replace(finished, repetitions=3)
        .root.joinpath("results/rehearsals", f"{finished.matrix.name[:-1]}3")
        .exists()
    )


def test_a_run_that_was_damaged_is_not_carried_and_not_measured_instead(finished):
    patch = finished.records[0].parent / "diff.patch"
    patch.write_bytes(patch.read_bytes()[:-20])

    output = finished.snakemake("run", "repetitions=3", "extend=true", code=1)

    assert "is damaged (diff.patch was changed)" in output and "leave extend out" in output
    assert len(list((finished.root / "results" / "rehearsals").iterdir())) == 1


def test_a_cell_that_is_overwritten_is_measured_again_and_nothing_else(finished):
    kept = {name: data for name, data in finished.evidence().items() if "/plain/" in name}
    before, again = finished.requests_by_run, of_cell(finished, "rule")
    finished.edit("rule.md", "Change nothing", "Change as little as you can")
    assert "its context changed" in finished.snakemake("run", code=1)

    finished.trysquare("run", "scenario.toml", "--overwrite", "rule")

    assert finished.requests_by_run - before == dict.fromkeys(again, 2)
    assert kept.items() <= finished.evidence().items()
    assert {path.name for path in (finished.matrix / "discarded").iterdir()} == {f"{run}.0" for run in again}
    assert finished.state()["complete"] is True
    assert kinds(finished) == ["launch", "discard", "launch"]
    assert "rule was measured again" in (finished.matrix / "synthesis.md").read_text()


def test_a_discard_is_refused_while_an_earlier_one_is_not_measured_again(finished):
    requests = finished.requests
    assert '2 runs of "rule"' in finished.snakemake("discard", "cell=rule")
    assert finished.state()["complete"] is False and finished.requests == requests
    assert (finished.matrix / "synthesis.md").read_text().count("\n") == 1

    output = finished.trysquare("run", "scenario.toml", "--overwrite", "rule", code=1)

    assert "2 of 2 are not measured again yet: launch `run` to finish that first" in output
    assert finished.requests == requests
    # What a smaller matrix holds of a run that was set aside is not carried in its place.
    larger = finished.snakemake("run", "-n", "repetitions=3", "extend=true")
    assert "CARRIED: 2 runs" in larger
    finished.snakemake("run")
    assert "set aside" in finished.snakemake("discard", "cell=rule")
    assert len(list((finished.matrix / "discarded").iterdir())) == 4


def test_a_discard_that_was_interrupted_is_finished_by_repeating_it(finished):
    finished.snakemake("discard", "cell=rule")
    moved = sorted((finished.matrix / "discarded").iterdir())[0]
    moved.rename(finished.matrix / "runs" / "rule" / moved.name[:-2])
    requests = finished.requests

    assert "was interrupted half way" in finished.snakemake("run", code=1)
    assert finished.requests == requests
    assert "1 run of" in finished.snakemake("discard", "cell=rule")
    finished.snakemake("run")
    assert finished.state()["complete"] is True


@pytest.mark.parametrize(
    ("target", "setting", "said"),
    [
        ("discard", "cell=rul", 'there is no cell "rul" (did you mean "rule"?); the cells are "plain", "rule"'),
        ("discard", "extend=false", "say whose runs are to be set aside"),
        ("run", "only=rul", 'there is no cell "rul" (did you mean "rule"?); the cells are "plain", "rule"'),
        ("run", "overwrite=rule", "the target `run` sets nothing aside"),
        ("run", "reference=rul", 'there is no cell "rul"'),
    ],
)
def test_what_names_no_cell_or_asks_too_much_is_one_sentence(bench, target, setting, said):
    assert said in bench.snakemake(target, setting, code=1)
    assert not (bench.root / "results").exists()


def test_only_some_cells_are_measured_and_that_is_no_failure(bench):
    output = bench.snakemake("run", "only=rule")

    assert {path.parent.parent.name for path in bench.records} == {"rule"}
    assert "incomplete, 2 of 4 runs valid, 2 missing" in output
    assert not (bench.matrix / "synthesis.html").exists()
    requests = bench.requests
    bench.snakemake("run", "only=rule")
    assert bench.requests == requests
    bench.snakemake("run", "only=plain")
    assert (bench.matrix / "synthesis.html").exists()
    assert "jobs:" not in bench.snakemake("run")


def test_another_reference_has_pages_of_its_own_from_the_same_measures(finished):
    declared = (finished.matrix / "synthesis.md").read_bytes()

    finished.snakemake("render", "reference=rule")

    page = finished.matrix / "synthesis_ref-rule.md"
    assert (finished.matrix / "synthesis.md").read_bytes() == declared
    assert page.with_suffix(".html").exists() and page.read_bytes() != declared
    first = page.read_bytes()
    page.unlink()
    assert str(page.with_suffix(".html").name) in finished.trysquare(
        "render", str(finished.matrix), "--reference", "rule"
    )
    assert page.read_bytes() == first
    finished.edit("validator.py", '"in_scope": work <=', '"in_scope": not work <=')
    finished.snakemake("run", "reference=rule")
    assert page.read_bytes() != first
    assert "jobs:" not in finished.snakemake("run", "reference=rule")


def test_pages_that_were_deleted_are_made_again_by_the_next_launch(finished):
    page = finished.matrix / "synthesis.html"
    for lost in (page, finished.matrix / "measures.json"):
        before = lost.read_bytes()
        lost.unlink()
        finished.snakemake("run")
        assert lost.read_bytes() == before
    assert "jobs:" not in finished.snakemake("run")


def test_a_tree_keeps_its_layout(bench):
    bench.snakemake("run", "only=rule")

    output = bench.trysquare("run", "scenario.toml", "--no-group-by-cell", code=1)

    assert "its runs are grouped and would become blind, and a tree never mixes both" in output


def test_an_option_of_the_engine_is_shown_where_the_engine_takes_it(bench):
    words = ("run", "scenario.toml", "-n", "--repetitions", "1", "--default-resources", "mem_mb=3")
    said = bench.trysquare(*words, code=2).splitlines()
    assert said[1] == "trysquare: error: unrecognized arguments: --default-resources mem_mb=3"
    program, *command = shlex.split(said[-1])
    assert program == "snakemake"
    assert "2 to perform" in bench.done([sys.executable, "-m", "snakemake", *command])
    assert "Snakemake" not in bench.trysquare("run", "scenario.toml", "other.toml", code=2)


def test_launching_until_complete_stops_when_it_is(bench):
    script = (bench.root / "rehearsal.toml").read_text()
    bench.write("rehearsal.toml", script + '\n[[fault]]\nanswer = 503\ncells = ["rule"]\nheals_after = 2\n')

    output = bench.trysquare("run", "scenario.toml", "--until-complete", "5")

    assert bench.state()["complete"] is True
    assert kinds(bench) == ["launch"] * 3
    assert output.count("2 empty") == 2


def test_launching_until_complete_does_not_repeat_what_is_refused_or_only_scored_badly(bench):
    bench.edit("validator.py", "@validator", "undefined\n\n\n@validator")

    bench.trysquare("run", "scenario.toml", "--until-complete", "5", code=1)

    assert kinds(bench) == ["launch"]
    bench.edit("rule.md", "Change nothing", "Change as little as you can")
    assert bench.trysquare("run", "scenario.toml", "--until-complete", "5", code=1).count("its context changed") == 1


class Terminal:
    """`trysquare run` on a terminal of its own, answered word by word."""

    def __init__(self, bench, *arguments):
        self.outside, inside = pty.openpty()
        code = "from trysquare.cli import main; raise SystemExit(main())"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, "run", "scenario.toml", *arguments],
            cwd=bench.root,
            env={**bench.environment, "TRYSQUARE_NO_PROGRESS": "1"},
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
        )
        os.close(inside)

    def until(self, text):
        seen = b""
        while text.encode() not in seen:
            seen += os.read(self.outside, 4096)
        return seen.decode()

    def answer(self, word):
        os.write(self.outside, word.encode() + b"\n")

    def rest(self):
        seen = b""
        try:
            while chunk := os.read(self.outside, 4096):
                seen += chunk
        except OSError:
            pass
        os.close(self.outside)
        return self.process.wait(60), seen.decode()


def test_on_a_terminal_results_that_exist_are_asked_about_once(bench):
    bench.snakemake("run", "only=rule")
    before, rule = bench.requests_by_run, of_cell(bench, "rule")

    asked = Terminal(bench)
    assert "holds 2 of 4 runs" in asked.until("difference, everything or abort? ")
    asked.answer("")
    asked.until("difference, everything or abort? ")
    asked.answer("abort")
    code, said = asked.rest()
    assert code == 1 and "nothing was done" in said and bench.requests_by_run == before

    asked = Terminal(bench)
    asked.until("difference, everything or abort? ")
    asked.answer("difference")
    code, said = asked.rest()
    assert code == 0, said
    assert all(bench.requests_by_run[run] == 2 for run in rule)

    asked = Terminal(bench)
    asked.until("difference, everything or abort? ")
    asked.answer("everything")
    code, said = asked.rest()
    assert code == 0, said
    assert set(bench.requests_by_run.values()) == {4}

    code, said = Terminal(bench, "--dry-run").rest()
    assert code == 0 and "everything or abort?" not in said

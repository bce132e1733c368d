"""Judges inside the engine: bought once, kept whatever the engine is told, bought again only as an act."""

import json
import shutil

import pytest

pytestmark = pytest.mark.workflow

JUDGE = """
[[validation]]
mode = "judge"
rubric = "rubric.md"
provider = "elsewhere"
model = "another-model"
thinking = "off"
metrics = ["usable", "names files"]
"""

VERDICTS = """
[[judge]]
name = "strict on the second repetition"
repetitions = [1]
[[judge.turn]]
call = [{ tool = "verdict", arguments = { usable = { value = false, reason = "It says nothing." } } }]
[[judge.turn]]
[[judge.turn.call]]
tool = "verdict"
[judge.turn.call.arguments]
usable = { value = false, reason = "It says nothing." }
metric_2 = { value = 2, reason = "Two of them." }
"""


@pytest.fixture
def judged(bench):
    """Two cells and two repetitions with a judge that corrects itself on the second one."""
    bench.edit("scenario.toml", "[verdict]", f"{JUDGE}\n[verdict]")
    bench.write("rubric.md", "Is the answer usable?\n")
    bench.edit("rehearsal.toml", "seed = 7", "seed = 7\nrecord = true")
    bench.write("rehearsal.toml", (bench.root / "rehearsal.toml").read_text() + VERDICTS)
    return bench


def bought(bench):
    """How many requests judges have made, by run."""
    lines = [json.loads(line) for line in (bench.matrix / "requests.jsonl").read_text().splitlines()]
    counts = {}
    for line in lines:
        if "judge" in line:
            counts[line["run"]] = counts.get(line["run"], 0) + 1
    return counts


def verdicts(bench):
    return {path: path.read_bytes() for path in bench.matrix.glob("runs/*/*/validation/judge/**/*") if path.is_file()}


def rows(bench):
    return json.loads((bench.matrix / "measures.json").read_text())


def metrics(bench):
    return {row["id"]: row["metrics"] for row in rows(bench)}


def test_a_judge_is_asked_once_for_each_run_and_knows_nothing_of_the_cell(judged):
    output = judged.snakemake("run")

    assert "judge: blind over 2 cells (pieces: prompt, response, diff)" in output
    assert sorted(bought(judged).values()) == [1, 1, 2, 2]
    assert [row["metrics"]["usable"] for row in rows(judged)] == [True, False, True, False]
    assert rows(judged)[1]["metrics"]["names files"] == 2
    assert rows(judged)[1]["reasons"]["names files"] == "Two of them."
    asked = [
        json.loads(line) for line in (judged.matrix / "requests.jsonl").read_text().splitlines() if '"judge"' in line
    ]
    for line in asked:
        told = json.dumps(line["body"])
        assert line["cell"] not in told.replace("plain text", "") and "rule.md" not in told
        assert [tool["function"]["name"] for tool in line["body"]["tools"]] == ["verdict"]
        assert "The counter goes down. Fix it." in told and "return n + 1" in told and "Fixed." in told
    context = json.loads(next(judged.matrix.glob("runs/rule/*/validation/judge/context.json")).read_text())
    assert not context.keys() & {"cell", "repetition", "given", "session", "base_commit"}
    assert "/rule/" not in json.dumps(context)


def test_nothing_but_the_act_buys_a_verdict_again(judged):
    judged.snakemake("run")
    requests, before, measured = judged.requests, verdicts(judged), metrics(judged)

    judged.snakemake("run", "--forceall")
    assert judged.requests == requests
    assert verdicts(judged) == before

    for record in judged.records:
        for pointer in record.parent.glob("validation/.judge.*"):
            pointer.unlink()
    (judged.records[0].parent / "validation" / "judge.json").unlink()
    shutil.rmtree(judged.root / ".snakemake")
    (judged.matrix / "plan.json").unlink()
    judged.snakemake("run")
    assert judged.requests == requests
    assert metrics(judged) == measured

    for record, text in zip(judged.records, ("{", "[]", '{"metrics": 3}'), strict=False):
        (record.parent / "validation" / "judge.json").write_text(text)
    judged.snakemake("run", "-R", "judge_run")
    assert judged.requests == requests
    assert metrics(judged) == measured
    assert verdicts(judged) == before


def test_an_edited_rubric_buys_nothing_until_it_is_asked_for_by_name(judged):
    judged.snakemake("run")
    requests, measured = judged.requests, judged.evidence()
    judged.write("rubric.md", "Is the answer usable at all?\n")

    assert "KEPT, though given by other criteria: 4 verdicts of judge" in judged.snakemake("run")
    assert judged.requests == requests
    assert "only the target `run` may" in judged.snakemake("score", "rejudge=judge", code=1)
    unknown = judged.snakemake("run", "rejudge=jduge", code=1)
    assert 'there is no judge "jduge" (did you mean "judge"?)' in unknown

    assert "REJUDGE: 4 verdicts of judge to buy again" in judged.snakemake("run", "rejudge=judge")
    assert judged.requests == requests + 6
    assert judged.evidence() == measured
    assert len(list(judged.matrix.glob("runs/*/*/validation/judge/judgements/[01]/verdict.json"))) == 8
    assert "KEPT" not in judged.snakemake("run")
    assert judged.requests == requests + 6


def test_a_round_that_was_not_finished_is_announced_and_a_place_that_is_taken_refused_before_it_is_paid(judged):
    judged.snakemake("run")
    judged.snakemake("run", "rejudge=judge")
    taken, lost = (record.parent / "validation" for record in judged.records[:2])
    for validation in (taken, lost):
        (validation / "judge" / "judgements" / "1" / "verdict.json").unlink()
        [pointer] = validation.glob(".judge.*")
        pointer.unlink()
    shutil.rmtree(lost / "judge" / "judgements" / "1")
    before = bought(judged)

    for arguments in (["run", "-n"], ["run"]):
        output = judged.snakemake(*arguments, code=None)
        assert "judge: 2 verdicts to buy, to finish the round of a rejudge" in output
    assert f"{taken}/judge/judgements/1 holds files but no verdict.json: restore it from a copy" in output
    after = bought(judged)
    assert after[taken.parent.name] == before[taken.parent.name]
    assert after[lost.parent.name] > before[lost.parent.name]
    assert (lost / "judge" / "judgements" / "1" / "verdict.json").exists()


def test_no_other_target_buys_a_verdict(judged):
    judged.snakemake("run")
    requests = judged.requests
    shutil.rmtree(judged.records[0].parent / "validation")

    for target in ("render", "score", "collect", "status", "form"):
        judged.snakemake(target, code=None)

    assert judged.requests == requests


def test_a_judge_that_gives_no_verdict_fails_its_runs_and_is_asked_again_by_the_next_launch(judged):
    judged.edit(
        "rehearsal.toml",
        'name = "strict',
        'name = "talks"\ncells = ["rule"]\n[[judge.turn]]\ntext = "It is fine: true."\n\n[[judge]]\nname = "strict',
    )
    output = judged.snakemake("run", code=1)

    assert "incomplete, 3 of 4 runs valid, 1 failed by a validator" in output
    assert "judge: the judge never called the tool `verdict` with a verdict" in json.dumps(judged.state())
    assert not (judged.matrix / "synthesis.html").exists()
    [failed] = [path.parent.parent for path in judged.matrix.glob("runs/rule/*/validation/judge/attempts")]
    assert (failed / "judge" / "attempts" / "attempt-01.jsonl").exists()
    assert "never called" in (failed / "judge.stderr").read_text()
    requests = bought(judged)

    judged.snakemake("run", code=1)

    again = {run: count - requests[run] for run, count in bought(judged).items()}
    assert sorted(again.values()) == [0, 0, 0, 1]
    assert len((failed / "judge" / "attempts.jsonl").read_text().splitlines()) == 2

"""What is stored of validators: a damaged file is named with what its remedy costs, and nothing is bought for it."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.matrices import matrix
from trysquare import archive, collecting, rounds, spending, stored
from trysquare.errors import ArchiveError
from trysquare.files import append_line, write_json, write_text
from trysquare.layout import Layout, RunLayout
from trysquare.losses import lost
from trysquare.matrix import Matrix, Rehearsal, ValidatorPlan
from trysquare.pointers import Pointers
from trysquare.watching.looking import CellView, Watcher

DIGEST = rounds.pointer_digest("quality", 0)
JUDGE = ValidatorPlan("quality", "judge", ("usable",), DIGEST, settings={"criteria": "c", "round": 0})
SCRIPT = ValidatorPlan("script", "script", ("delivered",), "d" * 24)
FORM = ValidatorPlan("form", "form", ("by_hand",), "e" * 24)
VERDICT = {"metrics": {"usable": True}, "reasons": {}, "unjudged": {}, "usage": {"cost": 2.0}}
WRONG = ["{", "[]", "null", "3", '"x"', "{}", '{"metrics": []}', '{"metrics": {"usable": true}']


@pytest.fixture
def place(tmp_path: Path) -> tuple[Layout, Matrix, RunLayout]:
    """One recorded run that a script, a judge and a person have scored."""
    layout, plan = Layout(tmp_path), replace(matrix(("a",), 1), validators={v.name: v for v in (SCRIPT, JUDGE, FORM)})
    [planned] = plan.runs.values()
    run = layout.run(planned.directory)
    record: dict[str, Any] = {"id": run.id, "cell": "a", "repetition": 1, "duration": 1.0, "attempts": 1}
    record |= {"usage": {"cost": 1.0}, "agent": {"version": "1"}, "isolation": "none", "launch": {"id": "l"}}
    write_json(run.record, record)
    write_json(run.judgement("quality", 0) / "verdict.json", VERDICT)
    write_json(run.verdict("quality"), {**VERDICT, "digest": DIGEST})
    write_json(run.verdict("script"), {"metrics": {"delivered": True}, "unjudged": {}, "digest": SCRIPT.digest})
    write_json(run.verdict("form"), {"metrics": {"by_hand": True}})
    for each in (SCRIPT, JUDGE):
        write_json(run.score_pointer(each.name, each.digest), {})
    archive.emit_pointer(run)
    return layout, plan, run


def standing(layout: Layout, plan: Matrix) -> tuple[str, str]:
    """The line of the matrix, and what it says of its one run."""
    state = collecting.derive(layout, plan)
    return collecting.status_line("m", state), state.runs[0].detail


@pytest.mark.parametrize("text", WRONG)
@pytest.mark.parametrize("validator", [SCRIPT, JUDGE], ids=["script", "judge"])
def test_a_damaged_file_that_is_derived_is_named_and_made_again_for_nothing(
    place: tuple[Layout, Matrix, RunLayout], validator: ValidatorPlan, text: str
) -> None:
    layout, plan, run = place
    path = run.verdict(validator.name)
    write_text(path, text)

    line, detail = standing(layout, plan)

    assert str(path) in detail and "launch `run`, which makes it again for nothing" in detail
    assert "1 failed by a validator" in line and "launch the target `run` again to complete it" in line
    [scores] = Pointers(str(layout.root), plan, "0" * 8).scores.values()
    assert [name.endswith("-00000000") for name in scores] == [validator is SCRIPT, validator is JUDGE]
    assert not any("to buy" in note for note in rounds.notes(plan, [run]))


@pytest.mark.parametrize("text", WRONG)
def test_a_damaged_verdict_that_was_bought_is_named_with_its_price(
    place: tuple[Layout, Matrix, RunLayout], text: str
) -> None:
    layout, plan, run = place
    path = run.judgement("quality", 0) / "verdict.json"
    write_text(path, text)

    line, detail = standing(layout, plan)

    bought = f"restore it from a copy, or delete {path.parent} to have exactly this verdict bought, and paid for, again"
    assert f"{path} is no" in detail and bought in detail and "run.json" not in detail
    assert "1 damaged" in line and "launch" not in line
    for refusing in (lambda: rounds.notes(plan, [run]), lambda: spending.spent(layout, plan.runs)):
        with pytest.raises(ArchiveError, match="bought, and paid for, again"):
            refusing()


@pytest.mark.parametrize("text", [*WRONG, '{"failed": "x"}'])
def test_damaged_answers_of_a_person_are_never_said_to_be_made_again(
    place: tuple[Layout, Matrix, RunLayout], text: str
) -> None:
    layout, plan, run = place
    write_text(run.verdict("form"), text)

    line, detail = standing(layout, plan)

    assert str(run.verdict("form")) in detail and "what it held is lost then" in detail and "run.json" not in detail
    assert "1 damaged" in line and "launch" not in line
    assert collecting.derive(layout, plan).runs[0].metrics == {"delivered": True, "usable": True}


def test_a_metric_declared_after_its_verdict_sends_to_the_act_that_buys_it(
    place: tuple[Layout, Matrix, RunLayout],
) -> None:
    layout, plan, _ = place
    later = replace(JUDGE, metrics=("usable", "clear"))
    line, detail = standing(layout, replace(plan, validators={**plan.validators, "quality": later}))

    assert detail == "quality: its verdict lacks clear, declared since: --config rejudge=quality buys it again"
    assert line.startswith(f"m: incomplete, 0 of 1 runs valid, 1 failed by a validator ({detail}); no synthesis: ")
    assert "launch the target `run` with --config rejudge=quality to complete it" in line


def test_a_rehearsal_of_what_can_be_paid_for_is_completed_by_a_rehearsal(
    place: tuple[Layout, Matrix, RunLayout],
) -> None:
    layout, plan, run = place
    shutil.rmtree(run.root)
    rehearsed = replace(plan, rehearsal=Rehearsal("f" * 24))
    always = replace(rehearsed, agent=replace(plan.agent, provider="rehearsal"))
    for asked, act in ((rehearsed, "with --config rehearse=true"), (always, "again"), (plan, "again")):
        line = collecting.status_line("m", collecting.derive(layout, asked))
        assert f"; no synthesis: launch the target `run` {act} to complete it" in line


def test_a_place_that_is_taken_is_refused_before_anything_is_paid(place: tuple[Layout, Matrix, RunLayout]) -> None:
    _, _, run = place
    directory = run.judgement("quality", 0)
    (directory / "verdict.json").unlink()
    stored.refuse_occupied(run, "quality", 0)
    write_text(directory / "session" / "a.jsonl", "{}\n")
    with pytest.raises(ArchiveError, match=f"{directory} holds files but no verdict.json: restore it from a copy, or "):
        stored.refuse_occupied(run, "quality", 0)
    stored.refuse_occupied(run, "quality", 1)


def test_attempts_that_gave_no_verdict_are_spent_too(place: tuple[Layout, Matrix, RunLayout]) -> None:
    layout, plan, run = place
    assert spending.spent(layout, plan.runs) == 3.0
    append_line(run.judge_attempts("quality"), {"attempt": 1, "usage": {"cost": 0.5}})
    assert spending.spent(layout, plan.runs) == 3.5
    append_line(layout.attempts(run.id), {"attempt": 1, "usage": {"cost": 0.25}})
    append_line(layout.attempts(run.id), {"attempt": None, "detail": "setup exited 1"})
    assert spending.spent(layout, plan.runs) == 3.75


@pytest.mark.parametrize("gone", ["the verdict", "its directory", "all of them"])
def test_a_bought_verdict_that_is_gone_is_asked_for_although_its_copy_stands(
    place: tuple[Layout, Matrix, RunLayout], gone: str
) -> None:
    layout, plan, run = place
    directory = run.judgement("quality", 0)
    write_text(directory / "session" / "a.jsonl", "{}\n")
    [planned] = plan.runs.values()
    assert not Pointers(str(layout.root), plan, "0" * 8).scores[planned.id][1].endswith("0" * 8)
    if gone == "the verdict":
        (directory / "verdict.json").unlink()
    else:
        shutil.rmtree(directory if gone == "its directory" else directory.parent)
    assert Pointers(str(layout.root), plan, "0" * 8).scores[planned.id][1].endswith("0" * 8)
    line, detail = standing(layout, plan)
    assert "incomplete, 0 of 1 runs valid, 1 still to be scored" in line and "quality: not scored yet" in detail


def test_a_verdict_that_is_still_to_come_is_no_lost_value(place: tuple[Layout, Matrix, RunLayout]) -> None:
    layout, plan, run = place
    before = [each.row() for each in collecting.derive(layout, plan).runs]
    later = replace(SCRIPT, digest="f" * 24)
    edited = collecting.derive(layout, replace(plan, validators={**plan.validators, "script": later}))
    assert edited.found[run.id].kind == "unscored"
    assert lost(before, edited.scored, edited.matrix.declared) == []

    [line] = collecting.problem_lines(edited)
    assert line == f"still to be scored  run {run.id} (a, repetition 1)  script: scored with an older validator"

    write_json(run.verdict("script"), {"failed": "it crashed", "digest": SCRIPT.digest})
    [sentence] = lost(before, collecting.derive(layout, plan).scored, plan.declared)
    assert sentence.startswith(f"lost: delivered of run {run.id}") and "it crashed" in sentence
    [line] = collecting.problem_lines(collecting.derive(layout, plan))
    assert line == f"failed by a validator  run {run.id} (a, repetition 1)  script: it crashed"


def test_what_is_watched_does_not_call_a_run_failed_that_no_validator_has_looked_at(
    place: tuple[Layout, Matrix, RunLayout],
) -> None:
    layout, plan, run = place
    plan.save(layout.plan)
    run.verdict("script").unlink()
    assert Watcher(layout).look().cells == (CellView("a", planned=1, done=0, in_flight=0, empty=0, failed=0),)
    write_json(run.verdict("script"), {"failed": "it crashed", "digest": SCRIPT.digest})
    assert Watcher(layout).look().cells[0].failed == 1

"""A judge in a plan: what it is blind to, and which verdicts of it are bought again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.matrices import cell_plan, matrix
from trysquare import rounds, validation
from trysquare.errors import TrysquareError
from trysquare.files import write_json
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import Matrix, ValidatorPlan
from trysquare.validation.blind import blindness_of, own_judges

# Blindness


def with_judge(plan: Matrix, **settings: Any) -> Matrix:
    held = {"provider": "p", "model": "other", "thinking": "off", "pieces": ["prompt", "diff"], "criteria": "c"}
    judge = ValidatorPlan("judge", "judge", ("usable",), rounds.pointer_digest("judge", 0), settings=held | settings)
    return replace(plan, validators={"judge": judge})


def test_a_judge_is_blind_unless_it_reads_a_prompt_that_differs() -> None:
    plan = with_judge(matrix(("a", "b")))
    assert validation.describe_blindness(blindness_of(plan), plan.cells) == [
        "judge: blind over 2 cells (pieces: prompt, diff)"
    ]
    plan = replace(plan, cells={**plan.cells, "b": cell_plan("b", prompt="0" * 24)})
    assert validation.describe_blindness(blindness_of(plan), plan.cells) == [
        "! judge is only partially blind: prompt varies between cells, so the judge can identify the treatment"
    ]
    plan = with_judge(plan, pieces=["diff"])
    assert validation.describe_blindness(blindness_of(plan), plan.cells) == ["judge: blind over 2 cells (pieces: diff)"]


@pytest.mark.parametrize(("model", "own"), [("model-4", True), ("x/MODEL-4-large:high", True), ("other", False)])
def test_a_judge_that_is_the_model_under_test_is_warned_of(model: str, own: bool) -> None:
    assert bool(own_judges(with_judge(matrix(("a",)), model=model))) is own


# Rounds


@pytest.fixture
def judged(tmp_path: Path):
    """A matrix of four runs, and what puts a judgement of some round into one of them."""
    layout, plan = Layout(tmp_path), with_judge(matrix(("a", "b"), repetitions=2))

    def put(position: int, round_: int) -> None:
        run = list(plan.runs.values())[position]
        write_json(
            layout.run(run.directory).judgement("judge", round_) / "verdict.json",
            {"metrics": {"usable": True}, "usage": {}, "round": round_, "criteria": "c"},
        )

    return layout, plan, put


def planned(layout: Layout, plan: Matrix, *asked: str) -> int:
    """The round of the judge in the plan that a launch freezes."""
    settled = rounds.settled(layout, plan, asked)
    settled.save(layout.plan)
    return rounds.of(settled.validators["judge"])


def test_only_the_act_begins_a_round_and_repeating_it_half_way_does_not(judged) -> None:
    layout, plan, put = judged
    assert planned(layout, plan, "judge") == 0
    for position in range(4):
        put(position, 0)
    assert planned(layout, plan) == 0
    assert planned(layout, plan, "judge") == 1
    put(0, 1)
    assert planned(layout, plan, "judge") == 1
    assert planned(layout, plan) == 1
    for position in (1, 2, 3):
        put(position, 1)
    assert planned(layout, plan) == 1
    assert planned(layout, plan, "judge") == 2


def test_other_criteria_begin_a_round_also_half_way(judged) -> None:
    layout, plan, put = judged
    put(0, 0)
    put(1, 0)
    assert planned(layout, plan, "judge") == 1
    put(0, 1)
    assert planned(layout, with_judge(plan, criteria="d"), "judge") == 2


def test_without_its_plan_a_matrix_buys_nothing_again(judged) -> None:
    layout, plan, put = judged
    put(0, 3)
    put(1, 1)
    assert planned(layout, plan) == 1


def recorded(layout: Layout, plan: Matrix, count: int) -> list[RunLayout]:
    """The runs of a plan, the first of them recorded."""
    runs = [layout.run(run.directory) for run in plan.runs.values()]
    for run in runs[:count]:
        write_json(run.record, {})
    return runs


def test_a_launch_says_of_every_verdict_it_buys_that_it_does(judged) -> None:
    layout, plan, put = judged
    runs = recorded(layout, plan, 3)
    for position in (0, 1):
        put(position, 0)
    put(0, 1)
    plan = with_judge(plan, round=1)
    due = ["judge: 1 verdict to buy", "judge: 1 verdict to buy, once the runs are measured"]
    assert rounds.notes(plan, runs) == ["judge: 1 verdict to buy, to finish the round of a rejudge", *due]
    assert rounds.notes(plan, runs, ["judge"]) == ["REJUDGE: 1 verdict of judge to buy again", *due]
    assert rounds.notes(plan, [None, *runs[:2]])[-1] == due[-1]


def test_what_is_there_under_other_criteria_or_without_a_metric_is_said(judged) -> None:
    layout, plan, put = judged
    put(0, 0)
    runs = recorded(layout, plan, 1)
    assert rounds.notes(plan, runs) == ["judge: 3 verdicts to buy, once the runs are measured"]
    changed = with_judge(plan, criteria="d")
    lacking = replace(changed.validators["judge"], metrics=("usable", "clear"))
    said = rounds.notes(replace(changed, validators={"judge": lacking}), runs)
    assert said[1:] == [
        "KEPT, though given by other criteria: 1 verdict of judge; --config rejudge=judge buys them again",
        "KEPT, though they lack clear: verdicts of judge; --config rejudge=judge buys them again",
    ]


def test_rejudging_what_is_no_judge_is_refused(judged) -> None:
    layout, plan, _ = judged
    with pytest.raises(TrysquareError, match='no judge "jduge"'):
        rounds.settled(layout, plan, ["jduge"])

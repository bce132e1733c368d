from dataclasses import replace

from synthesised import built, by_cell

from tests.matrices import CELLS, matrix, rows
from trysquare.measure import Run
from trysquare.synthesis import Evidence, markdown, page


def test_a_cost_gap_behind_which_a_run_was_retried_is_withheld_and_the_criterion_is_not():
    plan = matrix()
    runs = rows(plan)
    by_cell(runs, "rule / off")[0].usage["retries"] = 2
    s = built(plan, runs)
    assert [(claim.cell, claim.measure) for claim in s.withheld] == [("rule / off", "input tokens")]
    assert ("rule / off", "in_scope") in [(claim.cell, claim.measure) for claim in s.said]
    assert "rule / off, in: " not in markdown(s).partition("What is publishable")[2]
    assert any("retried" in warning and "rule / off (2 retries in 1 of 10 runs)" in warning for warning in s.warnings)
    assert markdown(s).count(" * (not to be quoted) |") == 1
    assert page(s).count("not to be quoted</span>") == 1
    [panel] = [panel for panel in s.panels if panel.title == "input tokens"]
    assert [gap.label for gap in panel.gaps if gap.established and not gap.said] == ["rule / off"]


def test_a_cost_gap_behind_which_a_run_was_cut_off_is_withheld_and_the_run_says_so():
    plan = matrix()
    runs = rows(plan)
    cut = by_cell(runs, "rule / off")[0]
    cut.timed_out = True
    s = built(plan, [Run.from_row(run.row()) for run in runs])
    assert [(claim.cell, claim.measure) for claim in s.withheld] == [("rule / off", "input tokens")]
    assert ("rule / off", "in_scope") in [(claim.cell, claim.measure) for claim in s.said]
    assert any("time limit" in warning and "rule / off (1 of 10 runs)" in warning for warning in s.warnings)
    assert page(s).count("it cut the run off") == 1


def test_a_retry_in_the_reference_withholds_every_cost_gap():
    plan = matrix()
    runs = rows(plan)
    by_cell(runs, CELLS[0])[3].usage["retries"] = 1
    s = built(plan, runs)
    assert {claim.measure for claim in s.said} == {"in_scope"}
    assert {claim.cell for claim in s.withheld} == {*CELLS[1:]}


def _judged(criteria):
    """A plan whose criterion a judge gives, and the evidence of its runs; `criteria` by cell."""
    plan = matrix(CELLS[:2])
    judge = replace(
        plan.validators["script"], mode="judge", metrics=("in_scope",), settings={"pieces": ["diff"], "model": "judge"}
    )
    plan = replace(plan, validators={"script": plan.validators["script"], "quality": judge})
    known = {run.id: Evidence("x", judges={"quality": (criteria[run.cell], "m")}) for run in plan.runs.values()}
    return plan, known


def test_a_gap_between_two_rubrics_is_withheld_and_its_costs_are_not():
    plan, known = _judged({CELLS[0]: "one", CELLS[1]: "other"})
    runs = _all_scopes_follow_cells(plan)
    s = built(plan, runs, evidence=known)
    assert [claim.column for claim in s.withheld] == ["in_scope"]
    assert "quality judged these runs by several sets of criteria" in page(s)
    assert "in_scope: " not in markdown(s).partition("What is publishable")[2]
    plan, known = _judged(dict.fromkeys(CELLS[:2], "one"))
    assert not built(plan, runs, evidence=known).withheld


def test_a_gap_between_cells_that_no_common_model_answered_is_withheld():
    plan = matrix(CELLS[:2])
    runs = _all_scopes_follow_cells(plan)
    models = {run.id: Evidence("x", models=("a" if run.cell == CELLS[0] else "b",)) for run in runs}
    s = built(plan, runs, evidence=models)
    assert not s.said and "other models answered here (b) than there (a)" in markdown(s)
    models |= {run.id: Evidence("x", models=("a",)) for run in runs[-1:]}
    assert built(plan, runs, evidence=models).said


def _all_scopes_follow_cells(plan):
    runs = rows(plan)
    for run in runs:
        run.metrics["in_scope"] = run.cell == CELLS[1]
    return runs

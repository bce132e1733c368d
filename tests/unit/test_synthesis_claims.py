from dataclasses import replace

from synthesised import Page, built, by_cell, demo

from tests.matrices import CELLS, matrix, rows
from trysquare.synthesis import markdown, page
from trysquare.table import cost_measures, criterion_measure, entry, gap_rows, group, level_entry


def test_every_gap_is_sorted_by_its_verdict_and_keeps_the_numbers_of_the_gap_table():
    plan = matrix()
    s = built(plan)
    measures = (*cost_measures(), criterion_measure("in_scope"))
    expected = gap_rows(group(rows(plan), CELLS), CELLS[0], measures, ("delivered",), 400, 20260729)
    verdicts = {(row.cell, each.name): (row.cases[each.name], each) for row in expected for each in measures}
    established = {key for key, (verdict, _) in verdicts.items() if verdict.established}
    names = {"input tokens": "in", "output tokens": "out"}
    said = {(claim.cell, names.get(claim.measure, claim.measure)): claim for claim in s.said}
    unsaid = {(claim.cell, names.get(claim.measure, claim.measure)): claim for claim in s.unsaid}
    assert set(said) == established and set(unsaid) == set(verdicts) - established and not s.withheld
    for key, claim in {**said, **unsaid}.items():
        verdict, measure = verdicts[key]
        assert claim.gap == measure.render(verdict.gap)
        assert claim.interval == f"{measure.render(verdict.low)} to {measure.render(verdict.high)}"
    for text in (markdown(s), Page(page(s)).text.replace("\u202f", " ")):
        for key, (verdict, measure) in verdicts.items():
            assert measure.render(verdict.gap) in text, key
    assert all(entry(*case) in markdown(s) for case in verdicts.values())
    assert all(
        level_entry(row.levels[each.name], each) in markdown(s) for row in s.tables.costs for each in s.tables.levels
    )


def test_an_established_rate_is_a_sentence_with_counts_and_the_criterion_comes_first():
    s, _, written = demo()
    first = next(claim for claim in s.said if claim.cell == "rule / off")
    assert (first.relation, first.levels) == ("in_scope is true more often", ("9 of 10 runs", "2 of 10"))
    assert "With **rule / off**, in_scope is true more often than with **nothing / off**: 9 of 10 runs" in written


def test_a_matrix_without_an_established_gap_says_that_nothing_may_be_said():
    plan = matrix()
    same = [replace(run, usage={**run.usage, "input": 1, "output": 1, "turns": 1}, duration=1.0) for run in rows(plan)]
    for run in same:
        run.metrics["in_scope"] = True
    s = built(plan, same)
    assert not s.said and len(s.unsaid) == 15
    assert "nothing: no gap survives resampling" in markdown(s)
    assert "Nothing: no gap survives resampling." in page(s)
    assert "cannot tell a difference from chance" in page(s) and "not shown by 10 runs" in page(s)


def test_a_claim_on_a_cell_of_which_runs_were_left_out_says_so():
    plan = matrix()
    runs = rows(plan)
    by_cell(runs, "rule / off")[0].metrics["delivered"] = False
    told = "Of the 10 runs of rule / off only 9 count here; the warnings say why."
    s = built(plan, runs)
    assert s.said and all((told in claim.cautions) == (claim.cell == "rule / off") for claim in s.said)
    assert told in page(s) and told in markdown(s)


def test_an_interval_of_one_value_is_no_proof_of_no_difference():
    plan = matrix()
    same = [replace(run, usage={**run.usage, "turns": 4}) for run in rows(plan)]
    [claim] = [claim for claim in built(plan, same).unsaid if (claim.cell, claim.column) == ("rule / off", "turns")]
    assert claim.interval == "+0 to +0" and "rarer or finer difference" in claim.cautions[0]


def test_a_gap_that_the_exact_test_does_not_confirm_carries_a_caution_in_both_forms():
    plan = matrix(CELLS[:2], repetitions=8)
    runs = rows(plan)
    for run in runs:
        run.metrics["in_scope"] = run.cell == CELLS[1] and run.repetition <= 3
    s = built(plan, runs)
    claim = next(claim for claim in s.said if claim.measure == "in_scope")
    assert "exact test does not confirm" in claim.cautions[0] and "exact p=0.082" in claim.figures
    assert claim.cautions[0] in markdown(s) and "(!)" in markdown(s)
    assert "⚠ not confirmed by the exact test" in page(s) and "⚠ not confirmed" not in demo()[1]
    assert page(s).count("⚠") >= 3


def test_a_gap_that_many_tests_at_once_may_have_given_says_so():
    plan = matrix()
    runs = rows(plan)
    for run in runs:
        run.metrics["in_scope"] = run.repetition <= (6 if run.cell == CELLS[1] else 1)
    claim = next(claim for claim in built(plan, runs).said if claim.measure == "in_scope")
    assert claim.cell == CELLS[1] and claim.cautions[-1].startswith("Where so many gaps are tested at once")
    assert not [each for each in demo()[0].said if each.cautions]


def test_three_runs_a_side_establish_nothing_and_the_page_says_why():
    plan = matrix(CELLS[:3], repetitions=3)
    runs = rows(plan)
    for run in runs:
        run.metrics["in_scope"] = run.cell == "rule / off"
    s = built(plan, runs)
    claim = next(claim for claim in s.unsaid if claim.measure == "in_scope" and claim.cell == "rule / off")
    assert not s.said and claim.cautions == ("3 and 3 runs are too few, each side needs 4, although zero is outside",)
    assert any(warning.startswith("Fewer than 4 runs count in") for warning in s.warnings)


def test_an_unjudged_criterion_leaves_the_denominator_and_is_never_a_no():
    plan = matrix(CELLS[:2])
    runs = rows(plan)
    for run in runs:
        run.metrics["in_scope"] = True
        if run.cell == CELLS[1] and run.repetition > 5:
            del run.metrics["in_scope"]
            run.unjudged["in_scope"] = "the tree is gone"
    s = built(plan, runs)
    claim = next(claim for claim in s.unsaid if claim.measure == "in_scope")
    assert claim.levels == ("5 of 5 runs", "10 of 10") and claim.gap == "+0 pts"
    assert any(
        warning.startswith(f"in_scope could not be judged in {CELLS[1]} (5 of 10 runs)") for warning in s.warnings
    )
    last = s.cells[1].runs[9]
    assert "not judged" in last.values and ("in_scope", "could not be judged: the tree is gone") in last.remarks


def test_an_established_gap_of_the_criterion_says_which_of_its_runs_were_not_judged():
    plan = matrix()
    runs = rows(plan)
    run = by_cell(runs, "rule / off")[0]
    del run.metrics["in_scope"]
    run.unjudged["in_scope"] = "the tree is gone"
    s = built(plan, runs)
    [said] = [claim for claim in s.said if (claim.cell, claim.measure) == ("rule / off", "in_scope")]
    told = "Of the 10 runs of rule / off that count, 1 could not be judged, left out here."
    assert said.cautions[-1] == told
    assert told in markdown(s) and "could not be judged, left out here" in page(s)
    assert not any("could not be judged" in caution for claim in s.said if claim != said for caution in claim.cautions)


def test_a_criterion_nobody_could_judge_in_a_cell_is_said_to_be_uncompared():
    plan = matrix(CELLS[:2])
    runs = rows(plan)
    for run in by_cell(runs, CELLS[1]):
        del run.metrics["in_scope"]
    s = built(plan, runs)
    claim = next(claim for claim in s.unsaid if claim.measure == "in_scope")
    assert claim.levels[0] == "no run judged" and claim.cautions == ("nothing to compare",)
    assert s.tested == 4 and "no run judged" in page(s)


def test_a_numeric_criterion_is_a_median():
    plan = matrix(CELLS[:2])
    runs = rows(plan)
    for run in runs:
        run.metrics["in_scope"] = 100 * (run.cell == CELLS[1]) + run.repetition
    s = built(plan, runs)
    claim = s.said[0]
    assert (claim.relation, claim.levels, claim.gap) == ("the median in_scope is higher", ("106", "5.5"), "+100")
    assert "in_scope (a number)" in page(s)

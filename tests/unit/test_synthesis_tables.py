import re
from dataclasses import replace

import pytest
from synthesised import built, by_cell, demo

from tests.matrices import CELLS, matrix, rows
from trysquare.matrix import ValidatorPlan
from trysquare.synthesis import markdown, page, tables


def test_declared_numbers_have_a_table_of_medians_over_the_runs_that_count():
    assert "The numbers that were declared" not in demo()[1] + demo()[2]
    plan = matrix(CELLS[:2])
    plan = replace(
        plan, validators={"script": ValidatorPlan("script", "script", (*plan.declared, "quality"), "d" * 24)}
    )
    runs = rows(plan)
    for run in runs:
        run.metrics["quality"] = 0.25 * run.repetition
        run.metrics["delivered"] = run.repetition > 1
        if run.cell == CELLS[1] and run.repetition > 9:
            del run.metrics["quality"]
            run.unjudged["quality"] = "no file"
    s = built(plan, runs)
    shown = {cell: [entry.text for entry in entries] for cell, entries in tables.medians(s).lines}
    assert tables.medians(s).columns == ("n", "quality")
    assert shown == {CELLS[0]: ["9", "1.500"], CELLS[1]: ["9", "1.375"]}
    assert tables.medians(s).lines[1][1][1].details[1] == "8 of 9 runs"
    assert [row.values[s.run_columns.index("quality")] for row in s.cells[0].runs[:2]] == ["0.25", "0.50"]
    assert "The numbers that were declared, over the runs that count" in page(s)
    assert re.search(r"^\| nothing / high \| 9 \| 1\.375 \[.*\] \(8 of 9 runs\) \|$", markdown(s), re.MULTILINE)


def test_a_number_that_no_statistic_takes_is_shown_where_its_run_is():
    plan = matrix(CELLS[:2])
    runs = rows(plan)
    runs[0].metrics["files"] = 10**400
    assert "1" + "0" * 198 + "…" in page(built(plan, runs))


def test_why_scores_and_gaps_count_differently_is_said_where_they_do():
    told = "Scores count every valid run; medians, costs and gaps only those in which delivered is true"
    assert told not in demo()[1] + demo()[2]
    plan = matrix(CELLS[:2])
    runs = rows(plan)
    by_cell(runs, CELLS[1])[0].metrics["delivered"] = False
    s = built(plan, runs)
    assert tables.gaps(s).lines[0][1][0].text == "9" and tables.scores(s).lines[1][1][1].text == "9/10"
    assert page(s).count(told) == 2 and told in markdown(s)


def test_a_gap_says_of_how_many_of_the_runs_that_count_it_is():
    plan = matrix(CELLS[:3])
    runs = rows(plan)
    for run in by_cell(runs, CELLS[1])[:4]:
        del run.metrics["in_scope"]
    s = built(plan, runs)
    said = {cell: entries[-1].details[2:] for cell, entries in tables.gaps(s).lines}
    assert said == {CELLS[1]: ("judged 6 of 10, reference 10 of 10",), CELLS[2]: ()}
    assert all(len(entry.details) == 2 for _, entries in tables.gaps(s).lines for entry in entries[1:-1])
    assert markdown(s).count("(judged 6 of 10, reference 10 of 10)") == 1


@pytest.mark.parametrize("name", ["cost", "retries", "attempts", "tokens in"])
def test_a_metric_named_like_what_a_run_took_has_a_column_of_its_own(name):
    plan = matrix(CELLS[:2])
    script = replace(plan.validators["script"], metrics=(name, "delivered"))
    plan = replace(plan, validators={"script": script}, verdict=replace(plan.verdict, criterion=name))
    runs = rows(plan)
    for run in runs:
        run.metrics[name] = run.metrics.pop("in_scope")
        run.usage["cost"] = 2.5
    s = built(plan, runs)
    first = dict(zip(s.run_columns, s.cells[0].runs[0].values, strict=True))
    assert first[f"metric.{name}"] == "no" and first[name] not in ("no", "yes")

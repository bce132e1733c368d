import random
import statistics
import subprocess
import sys

import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_runs import DRAWS, cells, criterion, run

from trysquare import table, verdict
from trysquare.errors import TrysquareError
from trysquare.table.tidy import flat


def test_an_unjudged_criterion_is_never_read_as_false():
    by_cell = cells(base=[True] * 10, other=[True] * 5 + [None] * 5)
    [row] = table.gap_rows(by_cell, "base", [criterion(by_cell)], draws=DRAWS)
    assert row.cases["passed"].gap == 0
    assert row.cases["passed"].state == "inconclusive"
    assert row.cases["passed"].runs == 5
    [_, scored] = table.score_rows(by_cell, ["passed"])
    assert scored.rates["passed"] == (5, 5)


def test_a_numeric_criterion_leaves_out_what_was_not_judged():
    by_cell = cells(base=[3, 4, 5, None], other=[None, 8, 9, 10])
    [row] = table.gap_rows(by_cell, "base", [criterion(by_cell)], draws=DRAWS)
    assert row.cases["passed"].gap == 5
    assert (row.cases["passed"].reference_runs, row.cases["passed"].runs) == (3, 3)


def test_each_measure_rests_on_its_own_judged_runs():
    by_cell = cells(base=[True] * 10, other=[None] * 10)
    measures = [*table.cost_measures(), criterion(by_cell)]
    [row] = table.gap_rows(by_cell, "base", measures, draws=DRAWS)
    assert row.cases["passed"] is None
    assert row.cases["in"].runs == 10
    assert "| - |" in table.gap_table([row], measures, DRAWS, 1)


@settings(max_examples=15, deadline=None)
@given(st.randoms())
def test_the_order_rows_are_written_in_changes_nothing(rng):
    runs = [run(cell, i, usage={"input": rng.randrange(10_000)}) for cell in ("base", "other") for i in range(1, 8)]
    shuffled = rng.sample(runs, len(runs))
    measures = table.cost_measures()
    expected = table.gap_rows(table.group(runs), "base", measures, draws=50)
    assert table.gap_rows(table.group(shuffled, ("base", "other")), "base", measures, draws=50) == expected
    by_cell = {cell: [each for each in shuffled if each.cell == cell] for cell in ("base", "other")}
    assert table.gap_rows(by_cell, "base", measures, draws=50) == expected
    assert table.spend_rows(by_cell, measures, draws=50) == table.spend_rows(table.group(runs), measures, draws=50)


def test_a_table_holds_the_verdicts_of_its_gaps_judged_one_by_one():
    rng = random.Random(3)
    by_cell = {
        cell: [
            run(cell, i, usage={"input": rng.randrange(9000)}, passed=rng.random() < 0.5) for i in range(1, size + 1)
        ]
        for cell, size in (("base", 10), ("a", 10), ("b", 7), ("c", 10))
    }
    measures = [*table.cost_measures(), criterion(by_cell)]
    rows = table.gap_rows(by_cell, "base", measures, draws=DRAWS, seed=11)
    p = []
    for row in rows:
        for measure in measures:
            samples = table.sample(by_cell["base"], measure), table.sample(by_cell[row.cell], measure)
            alone = verdict.judge(*samples, measure.stat, DRAWS, 11)
            assert row["cases"][measure.name]["draws"].tolist() == alone.draws.tolist()
            assert row.cases[measure.name].exact == alone.exact
            p.append(alone.p)
    assert [row.cases[each.name].holm for row in rows for each in measures] == verdict.holm(p)


def test_the_reference_may_be_any_cell_and_has_no_row():
    by_cell = cells(a=[True] * 4, b=[False] * 4, c=[True] * 4)
    rows = table.gap_rows(by_cell, "b", [criterion(by_cell)], draws=DRAWS)
    assert [row.cell for row in rows] == ["a", "c"]
    assert [row.cases["passed"].gap for row in rows] == [1, 1]


def test_only_runs_that_pass_validity_enter_and_the_score_table_ignores_it():
    runs = [run("base", i, delivered=True, passed=True) for i in range(1, 6)]
    runs += [run("other", i, delivered=i > 2, passed=i > 2) for i in range(1, 9)]
    by_cell = table.group(runs)
    [row] = table.gap_rows(by_cell, "base", [criterion(by_cell)], ["delivered"], DRAWS)
    assert (row.n, row.cases["passed"].runs, row.cases["passed"].gap) == (6, 6, 0)
    [_, scored] = table.score_rows(by_cell, ["delivered"])
    assert (scored.n, scored.rates["delivered"]) == (8, (6, 8))


def test_a_reference_without_a_run_left_explains_itself():
    runs = [run("base", i, delivered=False) for i in range(1, 4)]
    runs += [run("base", 4), run("base", 5, state="empty"), run("other", 1, delivered=True)]
    with pytest.raises(TrysquareError) as caught:
        table.gap_rows(table.group(runs), "base", table.cost_measures(), ["delivered"])
    assert isinstance(caught.value, ValueError)
    text = str(caught.value)
    assert "'base'" in text
    assert "5 runs, 4 valid, none counted: delivered was not true in 3, delivered was not judged in 1" in text
    assert "measures are intact" in text
    assert "`render` alone" in text


def test_an_unknown_reference_is_refused_with_the_cells_there_are():
    with pytest.raises(TrysquareError, match="no reference cell 'base': choose one of a, b"):
        table.gap_rows(cells(a=[True], b=[True]), "base", table.cost_measures())


def test_a_cell_without_a_run_left_has_a_row_without_verdicts():
    by_cell = {"base": [run("base", i, delivered=True) for i in range(4)], "lazy": [run("lazy", 1, delivered=False)]}
    measures = table.cost_measures()
    [row] = table.gap_rows(by_cell, "base", measures, ["delivered"], DRAWS)
    assert row.n == 0
    assert set(row.cases.values()) == {None}
    assert "| lazy | 0 | - | - | - | - |" in table.gap_table([row], measures, DRAWS, 1)


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([True, 1], "mixes booleans and numbers"),
        (["a"], "no boolean and no number"),
        ([True, None], "no boolean"),
        (["#1"], "no boolean"),
    ],
)
def test_a_criterion_of_no_single_type_is_refused(values, what):
    with pytest.raises(TrysquareError, match=what):
        table.criterion_measure("passed", values)


def test_a_value_of_another_type_than_the_criterion_is_refused_and_not_left_out():
    with pytest.raises(TrysquareError, match="3 in run base-1"):
        table.gap_rows(cells(base=[3], other=[True]), "base", [table.criterion_measure("passed")])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e200, "12", [3]])
def test_a_usage_that_is_no_number_is_refused_and_the_run_is_named(value):
    by_cell = {"base": [run("base", 1, usage={"input": value})], "other": [run("other", 1)]}
    for call in (table.gap_rows, lambda cells_, _, measures: table.spend_rows(cells_, measures)):
        with pytest.raises(TrysquareError, match=r"in of run base-1 is .* no number to compare"):
            call(by_cell, "base", table.cost_measures())


def test_a_number_too_large_to_square_is_no_criterion():
    with pytest.raises(TrysquareError, match="no number up to 1e150"):
        table.criterion_measure("size", [1.7e308])
    assert table.criterion_measure("size", [1e150]).stat is statistics.median


def test_the_type_of_the_criterion_decides_its_statistic_and_its_unit():
    assert table.criterion_measure("passed").stat is verdict.mean
    assert table.criterion_measure("passed", False).render(-0.1) == "-10 pts"
    assert table.criterion_measure("score", 0.5).stat is statistics.median
    assert table.criterion_measure("score", [1, 2.5]).render(0.25) == "+0.2"


@pytest.mark.parametrize("name", ["in", "out", "turns", "duration"])
def test_a_criterion_named_like_a_cost_is_a_column_beside_it(name):
    by_cell = {cell: [run(cell, i, **{name: cell == "other"}) for i in range(1, 6)] for cell in ("base", "other")}
    measures = [*table.cost_measures(), criterion(by_cell, name)]
    [row] = table.gap_rows(by_cell, "base", measures, draws=DRAWS)
    assert (row.cases[f"metric.{name}"].gap, row.cases[name].gap) == (1, 0)
    assert f"metric.{name}: +100 pts" in table.gap_table([row], measures, DRAWS, 1)


def test_a_frame_has_one_row_a_run_and_redoes_the_gap_table():
    by_cell = cells(base=[True] * 6 + [None], other=[False] * 6)
    runs = [each for of_cell in by_cell.values() for each in of_cell]
    frame = table.frame(reversed(runs), ["other", "base"])
    assert frame["cell"].cat.categories.tolist() == ["other", "base"]
    assert frame["repetition"].tolist() == [*range(1, 7), *range(1, 8)]
    judged = frame.dropna(subset="passed").groupby("cell", observed=True)["passed"]
    found = verdict.judge(judged.get_group("base"), judged.get_group("other"), verdict.mean, DRAWS)
    [row] = table.gap_rows(by_cell, "base", [criterion(by_cell)], draws=DRAWS)
    assert found == row.cases["passed"]


def test_a_metric_named_like_a_column_is_kept_beside_it():
    frame = table.frame([run("a", 1, cost=True, state="valid")])
    assert frame["metric.cost"].tolist() == [True]
    assert frame["cost"].tolist() == [0]
    assert table.frame([]).empty


def test_a_name_that_is_not_utf8_goes_into_a_frame_and_its_file_as_an_escape(tmp_path):
    frame = table.frame([run("a", 1, **{"caf\udce9": "b\udce9", "files": ["c\udce9"]})])
    assert frame["caf\\udce9"].tolist() == ["b\\udce9"]
    flat(frame).to_parquet(tmp_path / "runs.parquet")
    assert pandas.read_parquet(tmp_path / "runs.parquet")["files"].tolist() == ['["c\\udce9"]']


def test_importing_the_tables_loads_neither_pandas_nor_scipy():
    code = "import sys, trysquare.table; print([m for m in ('scipy', 'pandas', 'matplotlib') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"

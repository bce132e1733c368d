"""The code of the guide's page on reading results does what the page says of it."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.matrices import CELLS, matrix, rows, written
from trysquare import table, verdict

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reading.md"
VALIDITY = ("delivered", "tests")
COLUMNS = {"in": "input", "out": "output", "turns": "turns", "duration": "duration", "in_scope": "in_scope"}


def measured(plan):
    """Runs of which some are not valid, some fail a validity metric, and some could not be judged."""
    runs = rows(plan)
    for number, run in enumerate(runs):
        run.metrics["tests"] = number % 7 > 0
        if number % 11 == 3:
            del run.metrics["in_scope"]
        if number % 13 == 5:
            del run.metrics["tests"]
        if number % 17 == 8:
            run.state, run.metrics = "validator_failed", {}
    runs[20].state, runs[20].metrics, runs[20].usage, runs[20].duration = "empty", {}, {}, 0
    return runs


@pytest.fixture
def executed(tmp_path, monkeypatch):
    """What the code blocks of the page define, run where the demo's matrix is this one; and its runs."""
    first, second = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    plan = matrix()
    plan = replace(plan, verdict=replace(plan.verdict, validity=VALIDITY))
    [directory] = re.findall(r'load\("(.*)"\)', first)
    runs = measured(plan)
    written(tmp_path / directory, plan, runs)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(first, names)
    imports, _, call = second.partition("\n\n")
    exec(imports, names)
    return names, eval(call, names), table.group(runs, CELLS)


def test_the_lines_of_the_guide_redo_the_gap_table(executed):
    names, _, by_cell = executed
    measures = (*table.cost_measures(), table.criterion_measure("in_scope"))
    expected = table.gap_rows(by_cell, CELLS[0], measures, VALIDITY)
    gaps = names["gaps"]
    assert [*gaps.index] == [*CELLS]
    for row in expected:
        for name, column in COLUMNS.items():
            assert gaps.loc[row.cell, column] == pytest.approx(row.cases[name].gap, abs=1e-12), (row.cell, name)
        assert names["counted"].size()[row.cell] == row.n


def test_the_verdict_of_the_guide_is_the_one_of_the_table(executed):
    _, found, by_cell = executed
    rows_ = table.gap_rows(by_cell, CELLS[0], table.cost_measures()[:1], VALIDITY)
    expected = next(row for row in rows_ if row.cell == "rule / off").cases["in"]
    assert isinstance(found, verdict.Verdict)
    assert (found.gap, found.low, found.high, found.state, found.exact) == (
        expected.gap,
        expected.low,
        expected.high,
        expected.state,
        expected.exact,
    )


def test_a_run_is_one_row_and_cells_are_in_declared_order(executed):
    names, _, by_cell = executed
    runs = names["runs"]
    assert len(runs) == sum(map(len, by_cell.values()))
    assert [*runs.cell.cat.categories] == [*CELLS]

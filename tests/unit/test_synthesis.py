import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from synthesised import built, demo

from tests.matrices import CELLS, cell_plan, matrix, rows
from trysquare.synthesis import markdown, page
from trysquare.table import cost_measures, gap_rows, group
from trysquare.verdict import VerdictError

# References, cells, draws


def test_another_reference_compares_with_that_cell():
    s = built(reference="rule / high")
    assert {claim.cell for claim in (*s.said, *s.unsaid)} == {*CELLS[:3]}
    assert "The difference from rule / high" in page(s)


def test_an_unknown_reference_is_refused_with_the_cells():
    with pytest.raises(VerdictError, match=r"no reference cell 'rules'.*nothing / off"):
        built(reference="rules")


def test_draws_and_seed_are_printed_as_they_were_used():
    plan = matrix(draws=123)
    plan = replace(plan, verdict=replace(plan.verdict, seed=5))
    s = built(plan)
    row = s.tables.gaps[0]
    assert len(row.cases["in"].draws) == 123
    again = gap_rows(group(rows(plan), CELLS), CELLS[0], cost_measures(), ("delivered",), 123, 5)
    assert again[0].cases["in"].low == row.cases["in"].low
    assert "123 draws, seed 5" in page(s) and markdown(s).count("123 draws, seed 5") >= 2


def test_cells_keep_the_declared_order_and_undeclared_ones_follow_as_stale():
    plan = matrix()
    order = ("rule / high", *CELLS[:2])
    kept = replace(plan, cells={name: plan.cells[name] for name in order})
    s = built(kept, rows(plan))
    assert [cell.name for cell in s.cells] == [*order, "rule / off"]
    assert [cell.stale for cell in s.cells] == [False, False, False, True]
    assert [row.cell for row in s.tables.scores] == [*order, "rule / off"]
    assert "rule / off (STALE)" in markdown(s) and "STALE" in page(s)


def test_the_parts_in_which_cells_differ_are_named_and_equal_ones_are_not():
    s = demo()[0]
    assert s.aspects == ("context", "thinking")
    assert [[piece.label for piece in cell.pieces] for cell in s.cells] == [
        ["none", "off"],
        ["none", "high"],
        ["a text", "off"],
        ["a text", "high"],
    ]
    assert s.cells[2].pieces[0].href == f"bricks/{'b' * 24}" and s.prompt.href == f"bricks/{'a' * 24}"


def test_two_texts_that_look_the_same_are_told_apart_by_their_digests():
    plan = matrix(CELLS[:2])
    cells = {
        CELLS[0]: cell_plan(CELLS[0], prompt="1" * 24, context="3" * 24),
        CELLS[1]: cell_plan(CELLS[1], prompt="2" * 24, keep_context=True),
    }
    s = built(replace(plan, cells=cells), rows(plan))
    assert [[piece.label for piece in cell.pieces] for cell in s.cells] == [
        ["a text (111111)", "a text"],
        ["a text (222222)", "the repository's own"],
    ]
    assert s.prompt is None


# Everything else


def test_the_same_measures_give_the_same_bytes_in_whatever_order_they_were_written():
    plan = matrix()
    shuffled = rows(plan)
    random.Random(1).shuffle(shuffled)
    one, other = built(plan), built(plan, shuffled)
    assert page(one) == page(other) and markdown(one) == markdown(other)


def test_a_run_that_does_not_count_says_why():
    plan = matrix()
    runs = rows(plan)
    runs[0].metrics["delivered"] = False
    row = built(plan, runs).cells[0].runs[0]
    assert not row.counted and ("left out", "not part of costs and gaps, because delivered is not true") in row.remarks


def test_building_and_writing_markdown_load_no_plotting_and_no_engine():
    code = (
        "import sys; from tests.matrices import *; from trysquare.synthesis import *; plan = matrix(draws=10)\n"
        "markdown(build(plan, rows(plan), LAUNCHES))\n"
        "print(sorted({'matplotlib', 'pandas', 'snakemake', 'selenium'} & {*sys.modules}))"
    )
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=True).stdout == b"[]\n"

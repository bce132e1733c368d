from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from table_runs import DRAWS, cells, criterion, run

from trysquare import table, verdict


def test_declared_metrics_are_split_in_order_and_none_is_lost():
    runs = [run("a", 1, delivered=True, n=3, issues=["#1"], mixed=True, tests=True), run("a", 2, mixed=2, tests=False)]
    declared = ["tests", "issues", "delivered", "never", "n", "mixed"]
    assert table.scored_metrics(runs, declared) == (["tests", "delivered"], ["issues", "never", "n", "mixed"])


def test_the_score_table_shows_rates_of_judged_runs_names_the_rest_and_counts_invalid_runs():
    by_cell = cells(base=[True, False, None], other=[None, None])
    by_cell["other"].append(run("other", 3, state="validator_failed"))
    rows = table.score_rows(by_cell, ["passed"], ["other", "later"])
    assert [row.cell for row in rows] == ["other", "later", "base"]
    text = table.score_table(rows, ["passed"], {"size": "number"})
    assert text == (
        "| cell | passed |\n| --- | ---: |\n| other | - |\n| later | - |\n| base | 1/2 |\n"
        "\nNot valid: 1 of 3 runs of other.\n"
        "\nDeclared and not true or false in every run: size (number).\n"
    )


def test_the_cost_table_shows_levels_without_a_state():
    runs = [run("a | b", i, usage={"input": 10_000 + i, "cost": 0.01234}) for i in range(1, 6)]
    by_cell, measures = table.group(runs), table.spend_measures(runs)
    rows = table.spend_rows(by_cell, measures, draws=DRAWS)
    assert [each.name for each in measures] == ["tokens in", "tokens out", "duration (s)", "cost"]
    level = rows[0].levels["tokens in"]
    assert (level.value, level.n) == (10_003, 5)
    assert (level.low, level.high) == verdict.interval([10_000 + i for i in range(1, 6)], draws=DRAWS)
    text = table.spend_table(rows, measures, DRAWS, 5)
    assert text.startswith("Median and 95 % interval, 400 draws, seed 5.")
    assert r"| a \| b | 5 | 10 003 [10 001, 10 005] | 200 [200, 200] | 33 [31, 35] | 0.0123 [0.0123, 0.0123] |" in text


@pytest.mark.parametrize(
    ("durations", "shown"),
    [((0.6, 0.96, 12), "1.0 [0.6, 12.0]"), ((1.4, 2.6, 12), "3 [1, 12]"), ((0, 0, 3), "0 [0, 3]")],
)
def test_durations_of_a_table_have_a_decimal_all_or_none(durations, shown):
    runs = [replace(run("a", number), duration=value) for number, value in enumerate(durations, 1)]
    by_cell, measures = table.group(runs), table.spend_measures(runs)
    rows = table.spend_rows(by_cell, measures, draws=DRAWS)
    assert f"| {shown} |" in table.spend_table(rows, measures, DRAWS, 1)


def test_a_level_that_is_not_of_every_run_that_counts_says_of_how_many():
    runs = [run("a", number, size=number / 4) for number in range(1, 6)]
    del runs[4].metrics["size"]
    [size] = table.number_measures(["size"])
    rows = table.spend_rows(table.group(runs), [size], draws=DRAWS)
    size = table.aligned(size, rows)
    assert table.spend_table(rows, [size], DRAWS, 1).endswith("| a | 5 | 0.625 [0.250, 1.000] (4 of 5 runs) |\n")


def test_a_cost_nobody_reports_has_no_column_and_one_cell_without_it_has_none():
    assert len(table.spend_measures()) == len(table.spend_measures([run("a", 1)])) == 3
    runs = [run("a", 1, usage={"cost": None, "cacheRead": 5}), run("b", 1, usage={"cost": 2.5, "cacheRead": 5})]
    measures = table.spend_measures(runs)
    [a, b] = table.spend_rows(table.group(runs), measures, draws=DRAWS)
    assert a.levels["cost"] is None
    assert b.levels["cost"].value == 2.5


def test_the_gap_table_marks_every_gap_and_lists_what_is_publishable():
    by_cell = cells(base=[False] * 5, some=[True] * 3 + [False] * 2, all=[True] * 5, none=[False] * 5)
    measures = [criterion(by_cell)]
    text = table.gap_table(table.gap_rows(by_cell, "base", measures), measures, 10_000, 20260729)
    assert "10 000 draws, seed 20260729" in text
    assert "| some | 5 | +60 pts * (!) |" in text
    assert "| all | 5 | +100 pts * |" in text
    assert "| none | 5 | +0 pts o |" in text
    assert "- all, passed: +100 pts, 95 % interval [+100 pts, +100 pts], p=0.008, Holm p=0.024, exact p=0.002\n" in text
    assert f"exact p=0.062 ({table.CAUTION})" in text
    assert "- none" not in text


def test_a_table_in_which_nothing_survives_says_so():
    by_cell = cells(base=[True, False], other=[False, True])
    measures = [criterion(by_cell)]
    text = table.gap_table(table.gap_rows(by_cell, "base", measures, draws=DRAWS), measures, DRAWS, 1)
    assert text.endswith("What is publishable:\n\nnothing: no gap survives resampling\n")


def test_a_comparison_of_matrices_shows_rates_on_both_sides_and_names_cells_of_one():
    left, right = cells(a=[True] * 3, gone=[True]), cells(a=[True, False, None], new=[False, False])
    rows = table.compare_rows(left, right, ["passed"])
    text = table.compare_table(rows, ["passed"], "n3", "n4")
    assert text.startswith("n3 -> n4\n")
    assert "| a | 3/3 -> 1/2 |\n| gone | 1/1 -> - |\n| new | - -> 0/2 |" in text


NAMES = ("*b* _i_ ~~s~~ a*b*c", "`code` [a](http://x.y) ![i](z)", "<b>x</b> &amp; <!-- c -->", "| \\| \\", "__init__")


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_shown_as_it_is_in_every_table_and_under_it(name):
    runs = [run(cell, i, delivered=True, **{name: cell == name}) for cell in ("base", name) for i in range(1, 6)]
    runs.append(run(name, 6, state="empty"))
    by_cell, costs = table.group(runs), table.spend_measures(runs)
    measures = [*table.cost_measures(), criterion(by_cell, name)]
    written = [
        table.score_table(table.score_rows(by_cell, [name]), [name], {name: "a number"}),
        table.spend_table(table.spend_rows(by_cell, costs, draws=DRAWS), costs, DRAWS, 1),
        table.gap_table(table.gap_rows(by_cell, "base", measures, draws=DRAWS), measures, DRAWS, 1),
        table.compare_table(table.compare_rows(by_cell, by_cell, [name]), [name], name, "n4"),
    ]
    for text in written:
        inline = [token for token in MarkdownIt("gfm-like", {"linkify": False}).parse(text) if token.type == "inline"]
        assert {child.type for token in inline for child in token.children} <= {"text", "text_special", "code_inline"}
        shown = ["".join(child.content for child in token.children) for token in inline]
        assert name in shown
        naming = [line for line in shown if line.startswith(("Not valid: ", "Declared", name))]
        assert all(name in line for line in naming)


def test_retries_are_named_by_cell_and_unknown_ones_are_not_taken_for_none():
    calm = [run("calm", 1), run("calm", 2)]
    assert table.retry_warning({"calm": calm}) == ""
    retried = [run("busy", 1, usage={"retries": 13}), run("busy", 2)]
    warning = table.retry_warning({"calm": calm, "busy": retried})
    assert "busy (13 retries in 1 of 2 runs)" in warning
    assert "must not be read" in warning
    assert "calm" not in warning
    unknown = table.retry_warning({"old": [run("old", 1, usage={"retries": None})]})
    assert unknown == "It is not known how often the provider's answers were retried in old (1 of 1 runs)."

import random
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt

from tests.matrices import CELLS, LAUNCHES, cell_plan, matrix, renamed, rows
from trysquare import synthesis
from trysquare.files import write_json, write_text
from trysquare.layout import Layout
from trysquare.matrix import RunPlan, ValidatorPlan
from trysquare.measure import Run
from trysquare.pages import write_pages
from trysquare.synthesis import Evidence, build, gather, markdown, page, tables
from trysquare.table import cost_measures, criterion_measure, entry, gap_rows, group, level_entry
from trysquare.verdict import VerdictError

HOSTILE = "<script>alert(1)</script> \"a\" 'b' 100% #1? ü|`x`*y*_z_&amp;"


class Page(HTMLParser):
    """What a test asks of a page: its tags in order, and its text."""

    VOID = ("meta", "link", "br", "path", "use", "rect")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.texts.append((self.open[-1], data))

    @property
    def text(self):
        return " ".join(data for _, data in self.texts)

    def attributes(self, name):
        return [attrs[name] for _, attrs in self.tags if name in attrs]


def built(plan=None, runs=None, **options):
    plan = plan or matrix()
    return build(plan, rows(plan) if runs is None else runs, LAUNCHES, **options)


@cache
def demo():
    """The plain experiment: its synthesis, its page and its markdown."""
    s = built()
    return s, page(s), markdown(s)


def by_cell(runs, cell):
    return [run for run in runs if run.cell == cell]


# What may be said


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


def test_files_that_the_agents_own_rules_hide_are_warned_of_and_named_by_artefacts_aside(tmp_path):
    plan = matrix()
    plan = replace(plan, task=replace(plan.task, artefacts=("*_cache",)))
    runs, layout = rows(plan), Layout(tmp_path)
    one, other = (plan.runs[run.id] for run in by_cell(runs, "rule / off")[:2])
    write_json(layout.run(one.directory).configuration, {"hidden": [".x_cache/", *(f"{n}.out" for n in range(12))]})
    write_json(layout.run(other.directory).configuration, {"hidden": [".x_cache/"]})
    s = built(plan, runs, evidence=gather(layout, plan, runs))
    assert any("Ignore rules" in warning and "rule / off (1 of 10 runs)" in warning for warning in s.warnings)
    assert "no diff: 0.out, 1.out, 2.out, 3.out, 4.out, 5.out, 6.out, 7.out, 8.out, 9.out and 2 more" in page(s)


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


def test_a_retry_in_the_reference_withholds_every_cost_gap():
    plan = matrix()
    runs = rows(plan)
    by_cell(runs, CELLS[0])[3].usage["retries"] = 1
    s = built(plan, runs)
    assert {claim.measure for claim in s.said} == {"in_scope"}
    assert {claim.cell for claim in s.withheld} == {*CELLS[1:]}


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


def test_a_question_that_was_changed_after_the_runs_is_warned_of():
    plan = matrix()
    asked = {"criterion": "in_scope", "validity": list(plan.verdict.validity), "reference": plan.verdict.reference}
    before = [{**line, **asked} for line in LAUNCHES]
    told = "when runs were measured, and is"
    assert not any(told in warning for warning in build(plan, rows(plan), before).warnings)

    changed = [{**line, "criterion": "tests", "validity": []} for line in before]
    found = [warning for warning in build(plan, rows(plan), changed).warnings if told in warning]
    assert found[0].startswith("The criterion was tests when runs were measured, and is in_scope now")
    assert found[1].startswith("The validity was nothing when runs were measured, and is delivered")
    assert len(found) == 2


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


# Warnings and facts


def test_what_weakens_a_comparison_is_warned_of():
    plan = matrix(CELLS[:2])
    runs = rows(plan)
    runs[0].launch, runs[1].agent_version, runs[2].metrics["delivered"] = "later", "1.7.0", False
    models = {run.id: Evidence("runs/x", models=("large" if run.cell == CELLS[0] else "small",)) for run in runs}
    lines = [
        *LAUNCHES,
        {"kind": "carry", "directory": "small-fix_n5", "repetitions": 5, "runs": [runs[0].id, runs[1].id],
         "launches": [{**LAUNCHES[0], "id": "later", "concurrency": 7}]},
        {"kind": "discard", "started": "2026-07-30T10:00:00+00:00", "cell": CELLS[1], "runs": {runs[9].id: "d" * 24}},
    ]  # fmt: skip
    text = "\n".join(build(plan, runs, lines, evidence=models).warnings)
    for part in (
        "More than one model answered (nothing / off: large; nothing / high: small)",
        "2 agent versions, 1.6.0 (19 runs), 1.7.0 (1 run)",
        "2 launches",
        "1 run came from small-fix_n5 (n = 5), measured 7 at a time",
        "nothing / high was measured again on 2026-07-30, 1 run set aside",
        "No run was isolated",
        "nothing / off: 10 runs, 10 valid, 9 counted: delivered was not true in 1",
    ):
        assert part in text


def test_an_isolated_experiment_of_one_launch_has_no_warning():
    plan = matrix(CELLS[:2])
    assert built(plan, [replace(run, isolation="container") for run in rows(plan)]).warnings == ()


def test_the_facts_name_agent_models_commit_and_launch():
    plan = matrix()
    models = {run_id: Evidence("runs/x", models=("model-4-large",)) for run_id in plan.runs}
    facts = dict(built(plan, evidence=models).facts)
    assert facts["agent"] == "pi 1.6.0" and facts["model asked for"] == "maker / model-4"
    assert facts["models that answered"] == "model-4-large"
    assert facts["commit of the etalon"] == plan.source.commit
    assert facts["launch"] == "2026-07-29T10:15:00+00:00, 2 at a time, 900 s each at most, trysquare 0.1.0"
    assert facts["a run counts when"] == "its state is valid and delivered is true"


def test_launches_that_measured_no_run_here_are_not_listed():
    plan = matrix()
    idle = {**LAUNCHES[0], "id": "idle", "started": "2030"}
    assert "2030" not in page(build(plan, rows(plan), [*LAUNCHES, idle]))


# Rehearsals


def test_a_rehearsal_says_everywhere_that_nothing_is_a_measurement():
    plan = matrix(rehearsed=True)
    s = built(plan)
    text = page(s)
    assert "<title>REHEARSED, not a measurement: " in text and 'class="banner"' in text
    captions = re.findall(r"<caption>.*?</caption>", text, re.DOTALL)
    assert len(captions) == 4 + len(CELLS) and all("Rehearsed, not a measurement." in each for each in captions)
    assert len(re.findall(r'<span class="tag alarm">rehearsed</span>', text)) == 40
    written = markdown(s)
    assert written.startswith("# REHEARSED, not a measurement: ") and written.count(", rehearsed |") == 40
    assert written.count("**Rehearsed, not a measurement.**") == 5 + len(CELLS)
    assert "What would be publishable if it were measured:" in written and "What is publishable" not in written
    verdicts = re.findall(r'<section class="verdict .*?</section>', text, re.DOTALL)
    assert len(verdicts) == 2 and all("Rehearsed, not a measurement." in each for each in verdicts)


def test_a_single_rehearsed_run_marks_the_whole_synthesis():
    plan = matrix()
    runs = rows(plan)
    runs[17].rehearsed = True
    assert built(plan, runs).rehearsed


def test_a_measured_matrix_nowhere_speaks_of_rehearsal():
    _, shown, written = demo()
    assert "ehears" not in shown.partition("</style>")[2] and "ehears" not in written


# The page


def test_the_page_is_well_formed_needs_no_script_and_fetches_nothing():
    text = demo()[1]
    parsed = Page(text)
    assert parsed.open == []
    assert not {"script", "img", "iframe", "object"} & {tag for tag, _ in parsed.tags}
    assert not [name for _, attrs in parsed.tags for name in attrs if name.startswith("on")]
    targets = [*parsed.attributes("href"), *parsed.attributes("src")]
    assert all(urlsplit(target).scheme in ("", "data") and not target.startswith("/") for target in targets)
    assert "@import" not in text and not re.search(r"url\((?!#)", text)


def test_ids_are_unique_and_every_inner_link_leads_somewhere():
    parsed = Page(demo()[1])
    ids = parsed.attributes("id")
    assert len(ids) == len(set(ids))
    inner = [target[1:] for name in ("href", "xlink:href") for target in parsed.attributes(name) if target[0] == "#"]
    assert inner and {*inner, *parsed.attributes("aria-labelledby")} <= {*ids}


def test_headings_descend_one_level_at_a_time_and_tables_have_captions_and_scopes():
    parsed = Page(demo()[1])
    levels = [int(tag[1]) for tag, _ in parsed.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    tags = [tag for tag, _ in parsed.tags]
    assert tags.count("table") == tags.count("caption") > 4
    assert all(attrs.get("scope") in ("row", "col") for tag, attrs in parsed.tags if tag == "th")


def test_no_number_of_the_page_can_break():
    parsed = Page(demo()[1])
    assert re.search(r"\d\u202f\d{3}", parsed.text)
    drawn = {"text", "title"}
    assert not [data for tag, data in parsed.texts if tag not in drawn and re.search(r"\d (\d{3}\b|pts\b|%)", data)]


def test_the_colours_of_text_have_contrast_in_light_and_dark():
    css = (Path(synthesis.__file__).parent / "templates/page.css").read_text(encoding="utf-8")
    light, dark = (
        dict(re.findall(r"--(\w[\w-]*): (#\w+)", block)) for block in re.findall(r":root \{.*?\}", css, re.DOTALL)[:2]
    )
    for colours in (light, dark):
        pairs = [(name, "paper") for name in ("ink", "muted", "accent", "warn")] + [
            ("ink", "warn-wash"),
            ("warn", "warn-wash"),
        ]
        assert all(contrast(colours[front], colours[back]) >= 4.5 for front, back in pairs)


def contrast(one, other):
    def luminance(colour):
        digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
        parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_hypothesis_keeps_its_emphasis_and_lists_and_brings_nothing_else_in():
    plan = matrix()
    text = "# Idea\n\n**Bold** and `code`:\n\n- one\n- <b>two</b>\n\n![x](http://example.org/x.png)"
    s = built(replace(plan, experiment=replace(plan.experiment, hypothesis=text)))
    parsed = Page(page(s))
    start = parsed.tags.index(("div", {"class": "hypothesis"}))
    shown = [tag for tag, _ in parsed.tags[start + 2 : start + 9]]
    assert shown == ["p", "p", "strong", "code", "ul", "li", "li"]
    assert "<b>two</b>" in parsed.text and "img" not in [tag for tag, _ in parsed.tags]
    assert "> # Idea\n>\n> **Bold** and `code`:" in markdown(s)


def test_a_small_level_keeps_a_decimal_so_that_a_gap_can_be_seen_in_it():
    plan = matrix(CELLS[:2])
    runs = [replace(run, duration=1.6 if run.cell == CELLS[1] else 1.4) for run in rows(plan)]
    claim = next(claim for claim in built(plan, runs).said if claim.measure == "duration")
    assert (claim.levels, claim.gap) == (("1.6 s", "1.4 s"), "+0.2")


@pytest.mark.parametrize(
    ("high", "levels"), [(10.4, ("10.4", "10.0")), (10.0004, ("10.0004", "10.0000")), (10, ("10", "10"))]
)
def test_two_levels_that_differ_never_read_the_same(high, levels):
    plan = matrix(CELLS[:2])
    runs = [replace(run, usage={**run.usage, "turns": high if run.cell == CELLS[1] else 10}) for run in rows(plan)]
    s = built(plan, runs)
    claim = next(claim for claim in (*s.said, *s.unsaid) if claim.measure == "turns")
    assert claim.levels == levels


def test_names_and_texts_are_shown_as_they_are_whatever_they_hold():
    plan, runs = renamed(matrix(), rows(matrix()), {"rule / off": HOSTILE})
    runs[-1].reasons["in_scope"] = "<b>bold</b>\nand more"
    parsed = Page(page(built(plan, runs)))
    assert "script" not in [tag for tag, _ in parsed.tags]
    assert HOSTILE in parsed.text and "<b>bold</b>" in parsed.text


def test_markdown_shows_names_as_they_are_and_keeps_its_tables_whole():
    plan, runs = renamed(matrix(), rows(matrix()), {"rule / off": HOSTILE})
    text = markdown(built(plan, runs))
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    shown = ["".join(child.content for child in token.children) for token in tokens if token.type == "inline"]
    assert any(HOSTILE in line for line in shown)
    tables = sum(token.type == "table_open" for token in tokens)
    assert tables == 4 + len(CELLS)
    cells_of_body = sum(token.type in ("td_open", "th_open") for token in tokens)
    lines = [line for line in text.splitlines() if line.startswith("|") and not line.startswith("| ---")]
    assert cells_of_body == sum(len(re.findall(r"(?<!\\)\|", line)) - 1 for line in lines)


def test_every_link_to_a_run_leads_to_its_file_whatever_the_directory_is_called(tmp_path):
    plan = matrix(CELLS[:2], repetitions=4)
    directories = {id_: f"ü 100% #1? 'x'/{id_}" for id_ in plan.runs}
    plan = replace(
        plan, runs={id_: RunPlan(id_, run.cell, run.repetition, directories[id_]) for id_, run in plan.runs.items()}
    )
    layout = Layout(tmp_path)
    for directory in directories.values():
        run = layout.run(directory)
        for path in (run.patch, run.response, run.prompt, run.session / "attempt-01.jsonl", run.record, run.pointer):
            write_text(path, "x")
        write_json(run.configuration, {"model_id": "model-4-large"})
        write_json(run.verdict("script"), {})
        write_json(run.previous("script"), {})
    evidence = gather(layout, plan, rows(plan))
    made = built(plan, evidence=evidence)
    write_pages(layout, plan, made, evidence)
    targets = [link.href for cell in made.cells for run in cell.runs for link in run.links]
    assert len(targets) == 8 * 6
    assert all((tmp_path / unquote(target)).is_file() for target in targets)
    assert not [target for target in targets if "previous" in target or re.search(r"[ #?'\"]", target)]
    assert {each.models for each in evidence.values()} == {("model-4-large",)}


def test_gather_finds_the_runs_of_undeclared_cells_and_leaves_out_those_that_are_gone(tmp_path):
    plan = matrix(CELLS[:1], repetitions=4)
    stray, gone = (replace(rows(plan)[0], id=id_, cell="older") for id_ in ("5tray", "90ne"))
    write_text(tmp_path / "runs/older/5tray/diff.patch", "x")
    found = gather(Layout(tmp_path), plan, [stray, gone])
    assert found == {"5tray": Evidence("runs/older/5tray", ("diff.patch",), page="pages/older/5tray.html")}


def test_without_evidence_a_planned_run_is_linked_to_the_files_it_should_have():
    links = {link.label: link.href for link in demo()[0].cells[0].runs[0].links}
    assert links["diff"] == "runs/nothing_off/000001/diff.patch"
    assert links["verdict script"] == "runs/nothing_off/000001/validation/script.json"


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

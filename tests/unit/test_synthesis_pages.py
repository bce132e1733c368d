import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from synthesised import HOSTILE, Page, built, demo

from tests.matrices import CELLS, matrix, renamed, rows
from trysquare import synthesis
from trysquare.files import write_json, write_text
from trysquare.layout import Layout
from trysquare.matrix import RunPlan
from trysquare.pages import write_pages
from trysquare.synthesis import Evidence, gather, markdown, page


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

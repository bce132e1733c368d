"""Pages of runs and sessions by the target `pages`, and what the engine's own report shows."""

import re
import zipfile

import pytest

pytestmark = pytest.mark.workflow


def test_pages_exports_every_session_links_them_and_measures_nothing(finished):
    before, requests = finished.evidence(), finished.requests
    first = finished.records[0]
    page = finished.matrix / "pages" / first.parent.relative_to(finished.matrix / "runs").with_suffix(".html")
    assert 'href="../../runs/' in page.read_text(encoding="utf-8")
    said = finished.snakemake("pages")
    assert "session_pages 4" in said
    exported = sorted((finished.matrix / "pages").rglob("attempt-01.html"))
    assert len(exported) == 4 and all("<html" in path.read_text(encoding="utf-8") for path in exported)
    assert f'href="{first.parent.name}/attempt-01.html"' in page.read_text(encoding="utf-8")
    assert "session_pages" not in finished.snakemake("pages")
    assert (finished.evidence(), finished.requests) == (before, requests)


def test_a_session_nobody_can_render_is_named_and_costs_the_others_nothing(finished):
    [session, *_] = sorted(finished.matrix.glob("runs/*/*/session/*.jsonl"))
    session.write_text("no session\n", encoding="utf-8")
    said = finished.trysquare("pages", "scenario.toml", code=1)
    assert f"{session} could not be rendered" in said
    assert len([*(finished.matrix / "pages").rglob("attempt-01.html")]) == 3


def test_pages_of_an_incomplete_matrix_are_refused_in_one_line(finished):
    [record, *_] = finished.records
    (finished.matrix / "runs" / record.parent.relative_to(finished.matrix / "runs")).rename(finished.root / "aside")
    said = finished.snakemake("pages", code=1)
    assert "incomplete, 3 of 4 runs valid, 1 missing" in said


def test_the_report_of_the_engine_holds_the_synthesis_and_the_runs_with_captions(finished):
    finished.snakemake("run", "--report", "report.zip")
    with zipfile.ZipFile(finished.root / "report.zip") as report:
        texts = {name: report.read(name).decode("utf-8", "replace") for name in report.namelist()}
    [page] = [text for name, text in texts.items() if re.search(r"report\.[0-9a-f]{24}\.html$", name)]
    assert (
        "What may be said" in page
        and "Counter" in page
        and 'href="runs/' not in page
        and "measures.json</a>" not in page
    )
    [table] = [text for name, text in texts.items() if name.endswith(".csv")]
    assert len(table.splitlines()) == 5 and "rule" in table
    [shown] = [text for name, text in texts.items() if name.endswith("report.html")]
    assert all(
        word in shown for word in ("Synthesis", "Runs", "without the links", "What was measured with", "2 cells x 2")
    )

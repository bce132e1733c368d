"""The page of a run: what is on it, what must not be, and that it follows what is archived."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from tests.matrices import CELLS, LAUNCHES, matrix, rows
from trysquare.files import write_json, write_text
from trysquare.layout import Layout
from trysquare.pages import patches, write_pages
from trysquare.pages.sessions import sessions
from trysquare.synthesis import build, gather

PATCH = r"""diff --git a/src/a.py b/src/a.py
index 1..2 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,3 @@ def f():
 kept
--- a dashed line
+++ <script>alert(1)</script>
\ No newline at end of file
diff --git a/old name b/new name
similarity index 90%
rename from old name
rename to new name
diff --git a/x.bin b/x.bin
new file mode 100644
index 0..1
GIT binary patch
literal 3
KcmZ+zzzzzz

diff --git "a/\303\274 b.md" "b/\303\274 b.md"
deleted file mode 100644
@@ -1 +0,0 @@
-gone
"""


def read(tmp_path, text):
    path = tmp_path / "diff.patch"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return patches.read(path)


def test_a_patch_is_read_file_by_file_and_line_by_line(tmp_path):
    found = read(tmp_path, PATCH)
    assert found.whole
    assert [(each.name, each.added, each.removed) for each in found.changes] == [
        ("src/a.py", 1, 1),
        ("a/old name b/new name", 0, 0),
        ("x.bin", 0, 0),
        (r"\303\274 b.md", 0, 1),
    ]
    assert [line.kind for line in found.changes[0].lines] == ["place", "", "removed", "added", "told"]
    assert [line.text for line in found.changes[2].lines] == [
        "new file mode 100644",
        "binary: its bytes are in diff.patch",
    ]


def test_a_patch_too_large_for_a_page_is_cut_and_says_so(tmp_path):
    head = "diff --git a/a b/a\n@@ -0,0 +1 @@\n"
    many = read(tmp_path, head + "+line\n" * (patches.LINES + 1))
    assert not many.whole and many.changes[0].added == patches.LINES - 2
    long = read(tmp_path, head + "+" + "x" * (patches.BYTES + 1))
    assert not long.whole and len(long.changes[0].lines[-1].text) == patches.WIDTH + 1
    assert patches.read(tmp_path / "none") == patches.Patch()


@pytest.fixture
def archived(tmp_path):
    """Two cells of four runs, one of them with everything a page can show."""
    plan = matrix(CELLS[:2], repetitions=4, rehearsed=True)
    layout = Layout(tmp_path / "a #1 % matrix")
    for run in plan.runs.values():
        place = layout.run(run.directory)
        write_text(place.patch, PATCH)
        write_text(place.response, "I <b>did</b> it.")
        write_text(place.prompt, "Do it.")
        write_text(place.session / "attempt-01.jsonl", "{}\n")
        write_json(place.configuration, {})
        write_json(
            place.verdict("script"),
            {
                "metrics": {"in_scope": False, "files": ["a"]},
                "reasons": {"in_scope": "also <i>b</i>"},
                "unjudged": {"tests": "no runner"},
            },
        )
        write_text(place.stderr("script"), "a warning\n")
    return layout, plan, rows(plan)


def written(archived, plan=None):
    layout, declared, runs = archived
    plan = plan or declared
    evidence = gather(layout, plan, runs)
    write_pages(layout, plan, build(plan, runs, LAUNCHES, None, evidence), evidence)
    return {
        path.relative_to(layout.pages).as_posix(): path.read_text(encoding="utf-8")
        for path in layout.pages.rglob("*.html")
    }


def test_the_page_of_a_run_shows_its_changes_its_answer_and_its_verdicts_with_reasons(archived):
    pages = written(archived)
    assert len(pages) == 8
    page = pages["nothing_off/000001.html"]
    assert "nothing / off, repetition 1" in page and "REHEARSED" in page
    assert '<span class="added">+++ &lt;script&gt;alert(1)&lt;/script&gt;\n</span>' in page
    assert "I &lt;b&gt;did&lt;/b&gt; it." in page and "also &lt;i&gt;b&lt;/i&gt;" in page
    assert "could not be judged" in page and "no runner" in page and "a warning" in page
    assert "trysquare pages" in page
    assert "<script" not in page and "http" not in page


class Links(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name == "href" and not value.startswith(("#", "data:"))]


def test_every_link_of_a_page_leads_to_a_file(archived):
    layout, _, _ = archived
    write_text(layout.synthesis.with_suffix(".html"), "the synthesis")
    session = layout.session_pages(layout.run("nothing_off/000001")) / "attempt-01.html"
    write_text(session, "a session")
    pages = {name: text for name, text in written(archived).items() if name.count("/") == 1}
    assert len(pages) == 8
    for name, text in pages.items():
        links = Links(text).found
        assert len(links) >= 6
        assert all(((layout.pages / name).parent / unquote(link)).exists() for link in links), links
        assert ("000001/attempt-01.html" in links) == (name == "nothing_off/000001.html")
    assert session.exists()


def test_pages_of_runs_that_are_gone_go_with_them(archived):
    layout, plan, runs = archived
    written(archived)
    write_text(layout.session_pages(layout.run("nothing_off/000001")) / "attempt-01.html", "a session")
    write_text(layout.pages / "no_longer/abc.html", "a page")
    layout.run("nothing_off/000001").root.rename(layout.root / "aside")
    pages = written((layout, plan, [run for run in runs if run.id != "000001"]))
    assert len(pages) == 7 and "nothing_off/000001.html" not in pages
    assert not (layout.pages / "no_longer").exists() and not (layout.pages / "nothing_off/000001").exists()


def test_a_page_of_a_blind_matrix_does_not_say_which_cell_it_is_of(archived):
    layout, plan, runs = archived
    blind = replace(
        plan, blind=True, runs={key: replace(run, directory=f"blind/{key}") for key, run in plan.runs.items()}
    )
    (layout.root / "runs/nothing_off").rename(layout.root / "runs/blind")
    for path in sorted((layout.root / "runs/nothing_high").iterdir()):
        path.rename(layout.root / "runs/blind" / path.name)
    pages = written((layout, blind, runs))
    assert len(pages) == 8
    assert not [text for text in pages.values() if re.search("nothing (/|_)|nothing_|repetition", text)]


def test_a_verdict_that_is_missing_or_failed_is_said_and_not_left_out(archived):
    layout, _, _ = archived
    layout.run("nothing_off/000001").verdict("script").unlink()
    write_json(layout.run("nothing_off/000002").verdict("script"), {"failed": "it crashed"})
    pages = written(archived)
    assert "no verdict: it has not judged this run" in pages["nothing_off/000001.html"]
    assert "no verdict: it crashed" in pages["nothing_off/000002.html"]


def test_the_sessions_of_a_judge_are_told_from_those_of_the_run(archived):
    layout, plan, _ = archived
    run = layout.run(plan.runs["000001"].directory)
    write_text(run.session / "attempt-02.jsonl", "{}\n")
    write_text(run.judgement("strict", 1) / "session" / "attempt-01.jsonl", "{}\n")
    found = [(each.label, each.page.relative_to(layout.pages).as_posix()) for each in sessions(layout, run)]
    assert found == [
        ("session of launch 1", "nothing_off/000001/attempt-01.html"),
        ("session of launch 2", "nothing_off/000001/attempt-02.html"),
        ("session of strict, round 1", "nothing_off/000001/strict/1/attempt-01.html"),
    ]

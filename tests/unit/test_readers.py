"""Archives of the original trysquare: read from their folder alone, with a scenario where it takes one, unchanged."""

import shutil
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from originals import made, pristine

import trysquare
from tests.foreign_runs import CELLS, MODEL
from trysquare import cli
from trysquare.errors import ArchiveError
from trysquare.parity import layer4
from trysquare.readers import open_archive
from trysquare.readers.pages import render_original
from trysquare.table import group, score_rows

__all__ = ["made", "pristine"]


def test_everything_a_table_needs_is_read_from_the_folder_alone(made):
    archive = open_archive(made.root)
    assert archive.original and archive.complete and archive.standing() == "9 of 9 runs valid"
    assert (archive.scenario, archive.etalon, archive.provider, archive.model) == ("counter", "v1", "maker", "maker-4")
    assert list(archive.cells) == list(CELLS)
    assert archive.declared == ("in_scope", "delivered", "tests", "overflow", "issues")
    expected = {(run.id, run.cell, run.repetition): run.usage for run in made.runs}
    assert {(run.id, run.cell, run.repetition): run.usage for run in archive.rows} == expected
    [base, *_] = score_rows(group(archive.rows, tuple(archive.cells)), ["overflow"])
    assert base.rates["overflow"] == (sum(run.beyond for run in made.runs if run.cell == "base"), 3)
    assert len(trysquare.load(made.root)) == 9


def test_what_the_archive_lacks_is_named_and_not_guessed(made):
    said = " ".join(open_archive(made.root).lacks)
    assert "The prompt and the response of its runs are not archived." in said
    assert "criterion, reference, validity" in said and "not the contents of the files it names" in said
    assert "The version of the agent is not recorded in 9 runs of 9." in said
    assert "model_id" not in said
    for run in made.runs[:2]:
        made.edit(f"runs/{made.directory(run).parent.name}/{run.id}/configuration.json", forget)
    made.edit("state.json", lambda state: state.pop("cells"))
    archive = open_archive(made.root)
    said = " ".join(archive.lacks)
    assert "(model_id) is not recorded in 2 runs of 9." in said
    assert "The commit of the etalon is not recorded in 2 runs of 9." in said
    assert "It keeps no fingerprints" in said
    assert {run.agent_version for run in archive.rows} == {None} == {run.isolation for run in archive.rows}


def forget(configuration: dict) -> None:
    del configuration["model_id"], configuration["etalon_commit"]


def test_runs_that_were_carried_are_said_to_be(made):
    made.edit("state.json", lambda state: state["runs"][made.runs[0].id].update(carried=True))
    assert any(note.startswith("1 run came from a smaller matrix") for note in open_archive(made.root).lacks)


def test_the_session_names_the_model_where_the_configuration_does_not(made):
    run = made.runs[0]
    made.edit(f"runs/{made.directory(run).parent.name}/{run.id}/configuration.json", forget)
    found = next(archived for archived in open_archive(made.root).runs if archived.id == run.id)
    assert found.models == (MODEL,)


def test_runs_are_found_in_a_blind_tree_too(made):
    for run in made.runs:
        shutil.move(made.directory(run), made.root / "runs" / run.id)
        if not any((made.root / "runs" / made.directory(run).parent.name).iterdir()):
            (made.root / "runs" / made.directory(run).parent.name).rmdir()
    made.edit("state.json", lambda state: state.update(layout="blind"))
    assert layer4(made.root).problems == []


def test_a_run_is_valid_only_where_ledger_and_measures_both_say_so(made):
    first, second, third, fourth = made.runs[:4]

    def demote(state: dict) -> None:
        state["runs"][first.id].update(state="empty", detail="no tokens consumed")

    made.edit("state.json", demote)
    made.edit("measures.json", lambda rows: rows.__delitem__(1))
    made.edit("measures.json", lambda rows: rows[1].update(state="validator_failed"))
    made.edit("measures.json", lambda rows: rows[2].pop("state"))
    archive = open_archive(made.root)
    states = {archived.id: archived.state for archived in archive.runs}
    assert [states[run.id] for run in (first, second, third, fourth)] == [
        "empty",
        "missing",
        "validator_failed",
        "valid",
    ]
    assert all(archived.run is None or archived.run.state == archived.state for archived in archive.runs)
    assert archive.lacks[-1].endswith(f"calls valid have no row in measures.json and count as missing: {second.id}.")


def test_two_files_that_contradict_each_other_are_refused(made):
    made.edit("measures.json", lambda rows: rows[0].update(cell="+réflexion"))
    with pytest.raises(ArchiveError, match=r"is of 'base' in state.json and of '\+réflexion' in measures.json"):
        open_archive(made.root)
    made.edit("measures.json", lambda rows: rows[0].update(cell="base", id="unknown"))
    with pytest.raises(ArchiveError, match="knows nothing of run unknown"):
        open_archive(made.root)
    made.edit("measures.json", lambda rows: rows[0].update(id=rows[1]["id"]))
    with pytest.raises(ArchiveError, match="has two rows of run"):
        open_archive(made.root)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("state.json", "{", "is not readable JSON"),
        ("state.json", "[]", "is no ledger of runs"),
        ("state.json", '{"runs": {}}', "does not say scenario, etalon"),
        ("measures.json", "[1]", "holds a row that is no object"),
    ],
)
def test_a_damaged_archive_is_refused_in_a_sentence(made, name, text, said):
    (made.root / name).write_text(text)
    with pytest.raises(ArchiveError, match=said):
        open_archive(made.root)


def test_a_damaged_run_does_not_cost_the_others(made):
    (made.directory(made.runs[0]) / "configuration.json").write_text("{")
    assert any("is not readable JSON" in note for note in open_archive(made.root).lacks)
    problems = layer4(made.root).problems
    assert problems and all(problem.startswith(f"{made.runs[0].id} (base): ") for problem in problems)


def test_a_directory_that_holds_no_matrix_is_refused(tmp_path):
    with pytest.raises(ArchiveError, match=r"holds neither plan.json nor state.json: name a matrix directory"):
        open_archive(tmp_path)
    with pytest.raises(ArchiveError, match="is no directory"):
        open_archive(tmp_path / "nowhere")


# Pages


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.hrefs += [value for name, value in attrs if name == "href"]


def test_a_synthesis_is_written_elsewhere_and_every_link_in_it_leads_back(made, tmp_path):
    before = made.bytes()
    target = tmp_path / "pages é"
    line = render_original(open_archive(made.root), made.scenario, target)
    assert line == f"synthesis: {target / 'synthesis.html'}"
    page = (target / "synthesis.html").read_text(encoding="utf-8")
    links = [href for href in Links(page).hrefs if not href.startswith(("#", "data:"))]
    assert len(links) > 9 * 2 and all((target / unquote(href)).is_file() for href in links)
    text = (target / "synthesis.md").read_text(encoding="utf-8")
    assert "The prompt and the response of its runs are not archived." in text
    assert "which may not be what was measured" in text and "isolation: not recorded" in text
    assert "No run was isolated" not in text
    assert made.bytes() == before


def test_a_synthesis_of_an_archive_of_which_any_row_was_rehearsed_says_so(made, tmp_path):
    made.edit("measures.json", lambda rows: rows[-1].update(rehearsed=True))
    render_original(open_archive(made.root), made.scenario, tmp_path)
    assert (tmp_path / "synthesis.md").read_text(encoding="utf-8").startswith("# REHEARSED, not a measurement: ")


def test_the_command_asks_for_what_the_archive_does_not_hold(made, tmp_path, capsys):
    assert cli.main(["render", str(made.root)]) == 1
    said = capsys.readouterr().err
    assert "--scenario FILE" in said and "-o DIRECTORY" in said and said.count("\n") == 1
    pages = str(tmp_path / "pages")
    assert cli.main(["render", str(made.root), "--scenario", str(made.scenario), "-o", pages]) == 0
    assert cli.main(["status", str(made.root)]) == 0
    assert "9 of 9 runs valid" in capsys.readouterr().out


def test_another_reference_goes_into_files_of_its_own(made, tmp_path):
    line = render_original(open_archive(made.root), made.scenario, tmp_path, "+réflexion")
    assert line.endswith("synthesis_ref-+réflexion.html")
    assert "compared with the reference, +réflexion." in (tmp_path / "synthesis_ref-+réflexion.md").read_text()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "counter"', 'name = "other"', 'the scenario is "counter" there and "other" here'),
        ('etalon = "v1"', 'etalon = "v2"', 'the etalon is "v1" there'),
        ('model = "maker-4"', 'model = "maker-5"', "the model is"),
        ('thinking = "high"', 'thinking = "low"', 'was measured with thinking "high"'),
    ],
)
def test_another_scenario_than_the_one_it_was_measured_with_is_refused(made, tmp_path, old, new, said):
    made.scenario.write_text(made.scenario.read_text().replace(old, new))
    with pytest.raises(ArchiveError, match=said):
        render_original(open_archive(made.root), made.scenario, tmp_path)


def test_an_incomplete_archive_gets_no_synthesis(made, tmp_path):
    made.edit("state.json", lambda state: state["runs"][made.runs[0].id].update(state="empty"))
    with pytest.raises(ArchiveError, match="incomplete, 8 of 9 runs valid, 1 empty"):
        render_original(open_archive(made.root), made.scenario, tmp_path)
    assert not (tmp_path / "synthesis.md").exists()

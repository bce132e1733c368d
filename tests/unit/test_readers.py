"""Archives of the original trysquare: read from their folder alone, with a scenario where it takes one, unchanged."""

import json
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

import trysquare
from tests.foreign import CELLS, MODEL, Original, git, original, session
from trysquare import cli
from trysquare.errors import ArchiveError, RepoError
from trysquare.parity import layer4
from trysquare.readers import open_archive
from trysquare.readers.pages import render_original
from trysquare.readers.replaying import replay_original, rescore_original
from trysquare.readers.trees import ground, rebuild_original
from trysquare.table import group, score_rows


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Original:
    return original(tmp_path_factory.mktemp("original"), repetitions=3)


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Original:
    return original(tmp_path_factory.mktemp("single"), repetitions=1)


@pytest.fixture
def made(pristine: Original, tmp_path: Path) -> Original:
    return copied(pristine, tmp_path / "there")


@pytest.fixture
def small(single: Original, tmp_path: Path) -> Original:
    """One run a cell, for what takes a clone of each."""
    return copied(single, tmp_path / "there")


def copied(pristine: Original, root: Path) -> Original:
    """A copy of an archive, and of its repository, scenario and machine file."""
    shutil.copytree(pristine.root.parent, root)
    machine = root / "trysquare.toml"
    machine.write_text(machine.read_text().replace(str(pristine.root.parent), str(root)))
    return Original(root / pristine.root.name, root / "scenario.toml", pristine.runs)


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


# The smoke pass


def test_the_smoke_pass_holds_on_a_sound_archive(made, capsys):
    before = made.bytes()
    report = layer4(made.root)
    assert report.problems == [] and report.observed[0] == "9 of 9 runs valid"
    assert cli.main(["parity", "--smoke", str(made.root)]) == 0
    assert "smoke: holds" in capsys.readouterr().out
    assert made.bytes() == before


def test_a_session_that_ran_at_another_level_is_noticed(made):
    run = next(run for run in made.runs if run.cell == "+réflexion")
    [path] = (made.directory(run) / "session").iterdir()
    path.write_text(session(run.turns, "off"), encoding="utf-8")
    [problem] = layer4(made.root).problems
    assert problem == f"{run.id} (+réflexion): declares thinking high, and {path.name} recorded off"


def test_a_level_that_changed_during_a_run_is_noticed(made):
    run = made.runs[0]
    [path] = (made.directory(run) / "session").iterdir()
    path.write_text(path.read_text(encoding="utf-8") + session([], "high"), encoding="utf-8")
    assert any("recorded off and high" in problem for problem in layer4(made.root).problems)


def test_a_model_the_pattern_does_not_name_is_noticed(made):
    run = made.runs[0]
    [path] = (made.directory(run) / "session").iterdir()
    path.write_text(session(run.turns, "off", model="fallback-1"), encoding="utf-8")
    [problem] = layer4(made.root).problems
    assert problem == f"{run.id} (base): asked for the model maker-4, and fallback-1 answered"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("diff.patch", "lacks diff.patch"),
        ("configuration.json", "lacks configuration.json"),
        ("validation/script.json", "lacks validation/script.json"),
        ("validation/script/context.json", "lacks validation/script/context.json"),
    ],
)
def test_a_file_a_run_owes_is_missed(made, name, said):
    (made.directory(made.runs[0]) / name).unlink()
    assert any(said in problem for problem in layer4(made.root).problems)


def test_a_session_is_owed_for_every_attempt(made):
    run = next(run for run in made.runs if run.attempts == 2)
    sorted((made.directory(run) / "session").iterdir())[0].unlink()
    [problem] = layer4(made.root).problems
    assert problem == f"{run.id} (base): has 1 session for 2 attempts"


def test_what_a_complete_matrix_owes_is_missed_and_a_run_that_is_not_valid_too(made, capsys):
    (made.root / "synthesis.md").unlink()
    assert layer4(made.root).problems == ["the matrix lacks synthesis.md"]
    made.edit("state.json", lambda state: state["runs"][made.runs[0].id].update(state="empty"))
    assert f"{made.runs[0].id} (base): is empty" in layer4(made.root).problems
    assert cli.main(["parity", "--smoke", str(made.root)]) == 1


def test_a_version_of_the_agent_that_changed_is_noticed(made):
    def versions(rows: list[dict]) -> None:
        for row in rows:
            row["agent_version"] = "1.5.0" if row is rows[0] else "1.6.0"

    made.edit("measures.json", versions)
    assert "the version of the agent is not constant: 1.5.0, 1.6.0" in layer4(made.root).problems


def test_trees_left_in_the_work_directory_are_noticed(made, tmp_path):
    (tmp_path / "work/trees" / f"{made.runs[0].id}-abc").mkdir(parents=True)
    assert layer4(made.root, tmp_path / "work").problems[-1].startswith("1 tree left in ")
    assert layer4(made.root, tmp_path / "elsewhere").problems == []


# Trees and verdicts


def test_a_tree_is_the_etalon_with_the_patch_of_its_run(made, tmp_path):
    archive = open_archive(made.root)
    with ground(made.scenario) as prepared:
        for beyond in (True, False):
            run = next(run for run in made.runs if run.beyond is beyond)
            archived = next(archived for archived in archive.runs if archived.id == run.id)
            tree = rebuild_original(prepared, archived, tmp_path / run.id)
            assert (tree / "counter.py").read_text().endswith("return n + 1\n")
            assert (tree / "theme.py").read_text() == f"BLUE = {2 if beyond else 1}\n"
            assert git(tree, "diff", "--binary") == archived.files.patch.read_bytes()
        work = prepared.work
    assert not work.exists()


def test_a_run_that_was_given_other_files_is_not_rebuilt(made, tmp_path):
    run = made.runs[0]
    made.edit(f"runs/base/{run.id}/configuration.json", lambda said: said.update(given=["probe.py"]))
    archived = next(archived for archived in open_archive(made.root).runs if archived.id == run.id)
    with (
        ground(made.scenario) as prepared,
        pytest.raises(RepoError, match=r'was given "probe.py" and the scenario gives none'),
    ):
        rebuild_original(prepared, archived, tmp_path / "work")


def test_a_replay_rebuilds_every_tree_with_a_context_and_leaves_the_archive_as_it_is(small):
    before = small.bytes()
    (small.directory(small.runs[0]) / "diff.patch").write_text("--- a\n")
    lines = list(replay_original(open_archive(small.root), small.scenario))
    assert sum(line.startswith("damaged: ") for line in lines) == 1 and len(lines) == 3
    [line] = [line for line in lines if line.startswith(small.runs[1].id)]
    tree = Path(line.split(": ", 1)[1])
    context = json.loads((tree.parent / "context/context.json").read_text())
    assert context["repo"] == str(tree) and context["cell"] == small.runs[1].cell
    assert Path(context["response"]).read_text() == f"Turn {len(small.runs[1].turns)}."
    assert Path(context["prompt"]).read_text() == "The counter goes down. Fix it."
    assert {**small.bytes(), f"runs/base/{small.runs[0].id}/diff.patch": b""} == {
        **before,
        f"runs/base/{small.runs[0].id}/diff.patch": b"",
    }


def test_the_command_replays_an_archive_without_a_plan_when_it_is_given_the_scenario(small, tmp_path, capsys):
    assert cli.main(["replay", str(small.root)]) == 1
    assert "add --scenario FILE" in capsys.readouterr().err
    other = tmp_path / "machine.toml"
    other.write_text((small.scenario.parent / "trysquare.toml").read_text())
    (small.scenario.parent / "trysquare.toml").unlink()
    arguments = ["replay", str(small.root), "--scenario", str(small.scenario), "--machine-file", str(other)]
    assert cli.main(arguments) == 0
    trees = [Path(line.split(": ", 1)[1]) for line in capsys.readouterr().out.splitlines()]
    assert len(trees) == 3 and all((tree / "counter.py").exists() for tree in trees)


def test_a_rescoring_that_finds_the_same_changes_no_byte_of_the_measures(small):
    before = small.bytes()
    assert list(rescore_original(open_archive(small.root), small.scenario)) == []
    after = small.bytes()
    reasons = {run["id"]: run["reasons"] for run in json.loads(before["measures.json"])}
    rows = json.loads(after["measures.json"])
    assert [{**row, "reasons": reasons[row["id"]]} for row in rows] == json.loads(before["measures.json"])
    assert {name for name in before if after[name] != before[name]} <= {"measures.json"}
    assert set(after) == set(before)


def test_a_rescoring_with_another_validator_changes_verdicts_alone_and_names_what_is_lost(small):
    before = json.loads((small.root / "measures.json").read_text())
    validator = small.scenario.parent / "validator.py"
    validator.write_text(validator.read_text().replace('"in_scope": not beyond', '"in_scope": beyond'))
    small.scenario.write_text(small.scenario.read_text().replace(', "issues"]', "]"))
    validator.write_text(
        validator.read_text().replace('        "issues": sorted(f"#{name}" for name in beyond),\n', "")
    )
    lines = list(rescore_original(open_archive(small.root), small.scenario))
    assert lines == [
        "not declared, and no longer returned: issues; it had values in 3 runs of 3 cells "
        f"({', '.join(row['id'] for row in before)})"
    ]
    rows = json.loads((small.root / "measures.json").read_text())
    for old, new in zip(before, rows, strict=True):
        assert new["metrics"]["in_scope"] is not old["metrics"]["in_scope"]
        assert {key: new[key] for key in ("id", "usage", "duration", "attempts")} == {
            key: old[key] for key in ("id", "usage", "duration", "attempts")
        }
    stored = json.loads((small.directory(small.runs[0]) / "validation/script.previous.json").read_text())
    assert stored["metrics"] == small.runs[0].metrics


def test_a_validator_that_fails_makes_its_run_invalid_and_keeps_the_verdict_before(small):
    validator = small.scenario.parent / "validator.py"
    broken = next(run for run in small.runs if run.beyond)
    validator.write_text(validator.read_text().replace("    fixed =", "    assert not beyond\n    fixed ="))
    list(rescore_original(open_archive(small.root), small.scenario))
    archive = open_archive(small.root)
    states = {archived.id: archived.state for archived in archive.runs}
    assert {states[run.id] for run in small.runs if run.beyond} == {"validator_failed"}
    assert {states[run.id] for run in small.runs if not run.beyond} == {"valid"}
    assert "exited" in next(row for row in archive.rows if row.id == broken.id).detail
    assert (small.directory(broken) / "validation/script.previous.json").exists()


def test_runs_that_produced_nothing_are_left_alone_by_a_rescoring(small):
    run = small.runs[0]
    small.edit("state.json", lambda state: state["runs"][run.id].update(state="empty", detail="no tokens consumed"))
    small.edit("measures.json", lambda rows: rows[0].update(state="empty", metrics={}))
    list(rescore_original(open_archive(small.root), small.scenario))
    archived = next(archived for archived in open_archive(small.root).runs if archived.id == run.id)
    assert archived.state == "empty" and archived.run.metrics == {}

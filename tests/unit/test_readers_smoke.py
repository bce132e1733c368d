"""The smoke pass over archives of the original trysquare, and what it notices."""

import pytest
from originals import made, pristine

from tests.foreign_runs import session
from trysquare import cli
from trysquare.parity import layer4

__all__ = ["made", "pristine"]


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

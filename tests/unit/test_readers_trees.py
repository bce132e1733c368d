"""Trees and verdicts of archives of the original trysquare: rebuilt, replayed, scored again."""

import json
from pathlib import Path

import pytest
from originals import made, pristine, single, small

from tests.foreign_runs import git
from trysquare import cli
from trysquare.errors import RepoError
from trysquare.readers import open_archive
from trysquare.readers.replaying import replay_original, rescore_original
from trysquare.readers.trees import ground, rebuild_original

__all__ = ["made", "pristine", "single", "small"]


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

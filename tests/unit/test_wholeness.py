"""A matrix that lost something, or has something cut off, is said to, and never passes for a sound one."""

import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pandas
import pytest

import trysquare
from tests.foreign_runs import session
from tests.matrices import CELLS, LAUNCHES, matrix, rows
from trysquare import archive, cli, files
from trysquare.errors import ArchiveError
from trysquare.layout import Layout
from trysquare.matrix import Matrix, Rehearsal
from trysquare.parity import layer4
from trysquare.readers import is_original, open_archive
from trysquare.rendering import render
from trysquare.watching.looking import Watcher

PROMPT, SCRIPT = b"Do it.", b"seed = 1"


def planned() -> Matrix:
    """Two cells of two runs each that a script played, with frozen bytes that exist."""
    plan = matrix(CELLS[:2], repetitions=2, rehearsed=True)
    cells = {name: replace(cell, prompt=files.digest(PROMPT)) for name, cell in plan.cells.items()}
    return replace(plan, cells=cells, rehearsal=Rehearsal(files.digest(SCRIPT)))


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = planned()
    layout = Layout(tmp_path_factory.mktemp("pristine") / plan.name)
    plan.save(layout.plan)
    for data in (PROMPT, SCRIPT):
        files.write_bytes(layout.brick(files.digest(data)), data)
    files.append_line(layout.launches, LAUNCHES[0])
    for run in rows(plan):
        place, thinking = layout.run(plan.runs[run.id].directory), plan.cells[run.cell].thinking
        files.write_text(place.patch, "diff --git a/cart.py b/cart.py\n")
        files.write_text(place.response, "Done.")
        files.write_bytes(place.prompt, PROMPT)
        files.write_text(place.session / "1.jsonl", session([(1, 1, 0)], thinking, model="model-4-large"))
        files.write_json(place.configuration, {"cell": run.cell, "etalon_commit": plan.source.commit})
        record = {name: getattr(run, name) for name in ("id", "cell", "repetition", "usage", "duration", "attempts")}
        record |= {"agent": {"version": "1.6.0"}, "isolation": "none", "launch": {"id": run.launch}, "rehearsed": True}
        files.write_json(place.record, record | {"evidence": archive.evidence(place)})
        archive.emit_pointer(place)
        files.write_json(place.context("script"), {})
        files.write_json(place.verdict("script"), {"digest": plan.validators["script"].digest, "metrics": run.metrics})
    render(layout)
    return layout.root


@pytest.fixture
def made(pristine: Path, tmp_path: Path) -> Layout:
    shutil.copytree(pristine, tmp_path / pristine.name)
    return Layout(tmp_path / pristine.name)


def one(made: Layout) -> archive.RunLayout:
    return archive.RunLayout(sorted(made.root.glob("runs/*/*"))[0])


# The smoke pass


def test_a_sound_matrix_holds(made):
    assert layer4(made.root).problems == []


@pytest.mark.parametrize("name", ["diff.patch", "prompt.md", "response.md", "session/1.jsonl", "configuration.json"])
def test_evidence_that_is_not_what_was_committed_fails_the_smoke_pass_by_run_and_file(made, name):
    run = one(made)
    (run.root / name).write_bytes((run.root / name).read_bytes()[:-1])
    problems = layer4(made.root).problems
    assert any(problem.startswith(f"{run.id} (") and problem.endswith(f"{name} was changed") for problem in problems)
    (run.root / name).unlink()
    assert any(f"{name} cannot be read" in problem for problem in layer4(made.root).problems)


def test_frozen_bytes_that_are_gone_and_a_page_that_was_cut_fail_the_smoke_pass(made):
    brick, page = made.brick(files.digest(PROMPT)), made.synthesis.with_suffix(".html")
    brick.unlink()
    page.write_bytes(page.read_bytes()[:-20])
    assert layer4(made.root).problems == [
        f"the matrix lacks bricks/{brick.name}",
        "synthesis.html is empty or cut off",
    ]


# The zip


@pytest.mark.parametrize(
    ("name", "left"),
    [("synthesis.html", b""), ("measures.parquet", b"PAR1 cut"), ("state.json", b"{"), ("measures.json", b"{}")],
)
def test_a_derived_file_that_is_damaged_is_not_packed_and_comes_back_by_what_is_said(
    made, tmp_path, capsys, name, left
):
    (made.root / name).write_bytes(left)
    zipped = tmp_path / "matrix.zip"
    assert cli.main(["export", str(made.root), "--zip", "-o", str(zipped)]) == 1
    said = capsys.readouterr().err
    assert f"{name} is empty or cut off" in said and f"`trysquare render {made.root}`" in said and not zipped.exists()
    (made.root / name).unlink()
    assert cli.main(["export", str(made.root), "--zip", "-o", str(zipped)]) == 1
    assert f"{name} is missing" in capsys.readouterr().err
    assert cli.main(["render", str(made.root)]) == 0
    assert cli.main(["export", str(made.root), "--zip", "-o", str(zipped)]) == 0


def test_what_cannot_be_made_again_is_packed_as_it_is_and_named(made, tmp_path, capsys):
    run, gone, changed = one(made), made.brick(files.digest(PROMPT)), made.brick(files.digest(SCRIPT))
    gone.unlink()
    changed.write_bytes(b"seed = 2")
    run.patch.write_bytes(b"")
    assert cli.main(["export", str(made.root), "--zip", "-o", str(tmp_path / "matrix.zip")]) == 0
    first, *others = capsys.readouterr().out.splitlines()
    assert first.endswith("4 of 4 runs valid")
    assert {line.split(",")[0] for line in others[:2]} == {f"lacks bricks/{name.name}" for name in (gone, changed)}
    assert others[2].startswith(f"damaged: {run.id} (") and others[2].endswith("diff.patch was changed")
    with zipfile.ZipFile(tmp_path / "matrix.zip") as packed:
        assert packed.testzip() is None


# A plan that is gone


@pytest.mark.parametrize("kept", ["launches.jsonl", "bricks", "runs"])
@pytest.mark.parametrize(
    "command", ["status", "render", "replay", "power", "export --format csv", "parity --smoke", "compare {0}"]
)
def test_a_matrix_of_this_tool_that_lost_its_plan_is_not_taken_for_one_of_the_original(made, capsys, kept, command):
    for path in (made.plan, made.launches, *made.root.glob("bricks"), *made.root.glob("runs")):
        if path.name != kept:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert cli.main([*command.format(made.root).split(), str(made.root)]) == 1
    said = capsys.readouterr().err
    assert "plan.json does not exist, although " in said and kept in said and said.count("\n") == 1
    assert "writes plan.json and bricks again" in said and "original" not in said


@pytest.fixture
def remains(made: Layout) -> Path:
    """Tables alone, as an archive of the original trysquare could be."""
    for name in ("bricks", "runs", "pages", "ledger", "plan.json", "launches.jsonl"):
        path = made.root / name
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    assert is_original(made.root)
    return made.root


def test_a_rehearsal_of_which_the_tables_are_left_does_not_pass_as_a_measurement(pristine, remains, tmp_path, capsys):
    measures = remains / "measures.json"
    found = json.loads(measures.read_text())
    for row in found[1:]:
        del row["rehearsed"]
    measures.write_text(json.dumps(found))
    assert open_archive(remains).rehearsed
    assert cli.main(["export", str(remains), "--format", "csv", "-o", str(tmp_path / "runs.csv")]) == 0
    assert pandas.read_csv(tmp_path / "runs.csv").rehearsed.tolist() == [True] * 4
    for other in (remains, pristine):
        assert cli.main(["compare", str(remains), str(other)]) == 0
        assert "REHEARSED: a script played the model on both sides." in capsys.readouterr().out


def test_a_plan_that_does_not_say_so_makes_no_measurement_of_a_rehearsal(made):
    replace(planned(), rehearsal=None).save(made.plan)
    assert open_archive(made.root).rehearsed and Watcher(made).look().rehearsed
    assert "REHEARSED" in Path(render(made).removeprefix("synthesis: ")).read_text(encoding="utf-8")


def test_every_table_of_a_rehearsal_says_so(made):
    assert trysquare.load(made.root).rehearsed.tolist() == [True] * 4
    assert pandas.read_parquet(made.parquet).rehearsed.tolist() == [True] * 4


# Measures that are gone or damaged


def test_rendering_writes_measures_that_are_gone_again(made):
    before = {path.name: path.read_bytes() for path in (made.measures, made.state, made.synthesis)}
    for name in before:
        (made.root / name).unlink()
    with pytest.raises(ArchiveError, match="`trysquare render "):
        trysquare.load(made.root)
    assert cli.main(["render", str(made.root)]) == 0
    assert {name: (made.root / name).read_bytes() for name in before} == before


@pytest.mark.parametrize("text", ["[1]", '[{"id": "a"}]', "{"])
def test_damaged_measures_are_one_sentence_with_a_command_that_works(made, capsys, text):
    made.measures.write_text(text)
    assert cli.main(["render", str(made.root)]) == 1
    said = capsys.readouterr().err
    assert "`trysquare render` on the matrix writes it again" in said and said.count("\n") == 1
    made.measures.unlink()
    assert cli.main(["render", str(made.root)]) == 0


@pytest.mark.parametrize("command", ["status", "export --zip", "parity --smoke", "compare {0}"])
def test_a_file_in_the_place_of_a_matrix_is_refused_by_name(made, capsys, command):
    assert cli.main([*command.format(made.root).split(), str(made.measures)]) == 1
    assert capsys.readouterr().err == f"{made.measures} is no directory: name a matrix directory.\n"

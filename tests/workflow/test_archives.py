"""What is done with a measured matrix from outside: checked, compared, taken elsewhere. Nothing of it can spend."""

import json
import shutil
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.foreign import original
from tests.workflow.conftest import SCENARIO, SCRIPT, VALIDATOR, Bench
from trysquare import agent, cli
from trysquare.errors import AgentError
from trysquare.parity import layer4
from trysquare.readers import open_archive


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, counter_repository: Path) -> Bench:
    """Two cells and two repetitions, measured and checked by one launch that names the check first."""
    try:
        agent.command()
    except AgentError as error:
        pytest.skip(f"the agent is not installed: {error}")
    root = tmp_path_factory.mktemp("measured")
    made = Bench(root / "an experiment")
    made.write("scenario.toml", SCENARIO.format(python=sys.executable, repetitions=2))
    made.write("rule.md", "Change nothing but counter.py.\n")
    made.write("validator.py", VALIDATOR)
    made.write("rehearsal.toml", SCRIPT)
    made.write("trysquare.toml", f'[repos]\ncounter = "{counter_repository}"\n\n[defaults]\nworkdir = "{root}/work"\n')
    said = made.snakemake("smoke", code=1)
    assert "nothing is measured yet; the target `run` measures it." in said
    said = made.snakemake("smoke", "run")
    assert "the smoke pass holds" in said and "  4 of 4 runs valid" in said
    return made


@pytest.fixture
def moved(measured: Bench, tmp_path: Path) -> Path:
    """A copy of the matrix in another place."""
    target = tmp_path / "elsewhere é" / measured.matrix.name
    shutil.copytree(measured.matrix, target)
    return target


def test_the_smoke_target_fails_on_what_was_not_measured_as_declared_and_buys_nothing(measured):
    before = measured.requests
    run = measured.records[0].parent
    [session] = (run / "session").iterdir()
    kept = session.read_bytes()
    try:
        session.write_bytes(kept.replace(b'"thinkingLevel":"off"', b'"thinkingLevel":"high"'))
        said = measured.snakemake("smoke", code=1)
    finally:
        session.write_bytes(kept)
    assert "the smoke pass does not hold" in said
    assert f"PROBLEM {run.name} ({open_cell(run)}): declares thinking off, and {session.name} recorded high" in said
    assert "the smoke pass holds" in measured.snakemake("smoke")
    assert measured.requests == before


def open_cell(run: Path) -> str:
    return str(json.loads((run / "run.json").read_text())["cell"])


def test_a_run_that_is_gone_and_a_file_that_is_missing_fail_the_pass(moved):
    runs = sorted((moved / "runs").glob("*/*"))
    shutil.rmtree(runs[0])
    (runs[1] / "validation/script/context.json").unlink()
    (moved / "synthesis.html").unlink()
    problems = layer4(moved).problems
    assert any(problem.startswith(runs[0].name) and problem.endswith("is missing") for problem in problems)
    assert any(problem.endswith("lacks validation/script/context.json") for problem in problems)


def test_a_matrix_and_its_copy_have_no_difference(measured, moved, capsys):
    assert cli.main(["compare", str(measured.matrix), str(moved), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["differences"] == [] and said["rehearsed"] is True
    assert [row["cell"] for row in said["rows"]] == ["plain", "rule"]
    assert said["rows"][0]["rates"]["in_scope"] == [[2, 2], [2, 2]]
    assert {row["medians"]["turns"][0] for row in said["costs"]} == {"2"}


def test_a_commit_that_moved_under_its_tag_is_refused(measured, moved, capsys):
    for path in moved.glob("runs/*/*/configuration.json"):
        text = path.read_text()
        path.write_text(text.replace(json.loads(text)["etalon_commit"], "0" * 40))
    assert cli.main(["compare", str(measured.matrix), str(moved)]) == 1
    assert '"v1" is commit ' in capsys.readouterr().err


def test_a_rehearsal_is_not_compared_with_a_measurement(measured, tmp_path, capsys):
    assert cli.main(["compare", str(measured.matrix), str(original(tmp_path / "o", repetitions=1).root)]) == 1
    assert "the left one is a rehearsal, in which a script played the model" in capsys.readouterr().err


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.hrefs += [value for name, value in attrs if name in ("href", "src")]


def test_a_zip_opens_anywhere_and_renders_to_the_same_bytes(measured, tmp_path):
    assert cli.main(["export", str(measured.matrix), "--zip", "-o", str(tmp_path / "matrix.zip")]) == 0
    with zipfile.ZipFile(tmp_path / "matrix.zip") as packed:
        packed.extractall(tmp_path / "another place")
    opened = tmp_path / "another place" / measured.matrix.name
    page = (opened / "synthesis.html").read_text(encoding="utf-8")
    links = [href for href in Links(page).hrefs if not href.startswith(("#", "data:"))]
    assert len(links) > 4 * 4 and all((opened / unquote(href)).is_file() for href in links)
    written = {path.name: path.read_bytes() for path in opened.glob("synthesis.*")}
    for name in written:
        (opened / name).unlink()
    assert cli.main(["render", str(opened)]) == 0
    assert {path.name: path.read_bytes() for path in opened.glob("synthesis.*")} == written
    assert len(written) == 2
    again = tmp_path / "again.zip"
    assert cli.main(["export", str(opened), "--zip", "-o", str(again)]) == 0
    assert again.read_bytes() == (tmp_path / "matrix.zip").read_bytes()


def test_the_reader_sees_what_the_measures_hold(measured):
    archive = open_archive(measured.matrix)
    rows = json.loads((measured.matrix / "measures.json").read_text())
    assert [run.row() for run in archive.rows] == rows
    assert not archive.original and archive.complete and archive.rehearsed and archive.lacks == ()


def test_a_run_of_a_cell_nobody_declares_any_more_stays_readable(moved):
    plan = json.loads((moved / "plan.json").read_text())
    del plan["cells"]["rule"]
    plan["runs"] = {name: run for name, run in plan["runs"].items() if run["cell"] != "rule"}
    (moved / "plan.json").write_text(json.dumps(plan))
    archive = open_archive(moved)
    assert [run.cell for run in archive.runs] == ["plain", "plain", "rule", "rule"]
    assert list(archive.cells) == ["plain"] and archive.complete
    assert all(run.files.record.exists() and run.configuration["cell"] == run.cell for run in archive.runs)

"""A matrix as one file, with nothing lost and nothing of the machine that wrote it."""

import csv
import json
import os
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pandas
import pytest

from tests.foreign import Original, original
from trysquare import cli
from trysquare.errors import ArchiveError
from trysquare.exporting import export, pack
from trysquare.readers import open_archive


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Original:
    return original(tmp_path_factory.mktemp("original"), repetitions=2)


@pytest.fixture
def made(pristine: Original, tmp_path: Path) -> Original:
    shutil.copytree(pristine.root, tmp_path / pristine.root.name)
    return Original(tmp_path / pristine.root.name, pristine.scenario, pristine.runs)


def test_every_format_holds_every_run_with_its_metrics(made, tmp_path):
    archive = open_archive(made.root)
    for form in ("csv", "parquet", "jsonl"):
        assert export(archive, form, tmp_path / f"runs.{form}") == f"{tmp_path / f'runs.{form}'}: 6 runs"
    with (tmp_path / "runs.csv").open(encoding="utf-8", newline="") as handle:
        read = {row["id"]: row for row in csv.DictReader(handle)}
    table = pandas.read_parquet(tmp_path / "runs.parquet").set_index("id")
    lines = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines == [run.row() for run in archive.rows]
    for run in made.runs:
        assert read[run.id]["cell"] == run.cell == table.cell[run.id]
        assert int(read[run.id]["output"]) == run.usage["output"] == table.output[run.id]
        assert float(read[run.id]["duration"]) == run.duration
        assert read[run.id]["overflow"] == str(run.beyond)
        assert json.loads(read[run.id]["issues"]) == run.metrics["issues"] == json.loads(table.issues[run.id])
    assert "rehearsed" not in table


def test_a_metric_some_runs_lack_is_empty_there_and_not_false(made, tmp_path):
    made.edit("measures.json", lambda rows: [rows[0]["metrics"].pop(name) for name in ("overflow", "issues")])
    export(open_archive(made.root), "csv", tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert [(row["overflow"], row["issues"]) for row in rows if row["id"] == made.runs[0].id] == [("", "")]


def test_a_table_of_a_rehearsal_says_so_in_every_row(made, tmp_path):
    export(replace(open_archive(made.root), rehearsed=True), "csv", tmp_path / "runs.csv")
    assert pandas.read_csv(tmp_path / "runs.csv").rehearsed.tolist() == [True] * 6


def test_the_same_matrix_gives_the_same_zip_whatever_its_times_and_order(made, tmp_path):
    pack(open_archive(made.root), tmp_path / "one.zip")
    other = tmp_path / "elsewhere" / made.root.name
    for name in sorted(made.bytes(), reverse=True):
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_bytes(made.bytes()[name])
        (other / name).chmod(0o600)
        os.utime(other / name, (1, 1))
    pack(open_archive(other), tmp_path / "other.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "other.zip").read_bytes()


def test_a_zip_holds_the_archive_byte_for_byte_and_nothing_of_the_engine(made, tmp_path):
    before = made.bytes()
    for name in (
        "logs/measure.log",
        "ledger/collect.x",
        ".locks/launch",
        ".incoming/x/run.json",
        "runs/.run.json.12.new",
    ):
        (made.root / name).parent.mkdir(parents=True, exist_ok=True)
        (made.root / name).write_text("x")
    line = pack(open_archive(made.root), tmp_path / "matrix.zip")
    assert line.endswith("6 of 6 runs valid")
    with zipfile.ZipFile(tmp_path / "matrix.zip") as packed:
        held = {name.removeprefix(f"{made.root.name}/"): packed.read(name) for name in packed.namelist()}
        assert packed.testzip() is None
    assert held == before
    assert not list(tmp_path.glob(".*.new"))


def test_a_zip_that_would_hold_itself_is_refused(made):
    with pytest.raises(ArchiveError, match="lies in the matrix it is made of"):
        pack(open_archive(made.root), made.root / "runs" / "all.zip")


def test_a_file_no_zip_can_name_is_refused_by_name(made, tmp_path):
    (made.root / os.fsdecode(b"runs/\xff")).write_text("x")
    with pytest.raises(ArchiveError, match="a file whose name is not UTF-8"):
        pack(open_archive(made.root), tmp_path / "matrix.zip")
    assert not (tmp_path / "matrix.zip").exists() and not list(tmp_path.glob(".*.new"))


def test_the_command_names_the_file_after_the_matrix(made, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["export", made.root.name, "--format", "jsonl"]) == 0
    assert cli.main(["export", f"{made.root.name}/", "--zip"]) == 0
    assert (tmp_path / f"{made.root.name}.jsonl").exists() and (tmp_path / f"{made.root.name}.zip").exists()
    assert cli.main(["export", "nowhere", "--zip"]) == 1
    assert capsys.readouterr().err == "nowhere is no directory: name a matrix directory.\n"
    with pytest.raises(SystemExit) as left:
        cli.main(["export", made.root.name])
    assert left.value.code == 2


def test_measures_taken_from_another_tool_are_exported_and_have_nothing_to_check(tmp_path, capsys):
    lines = [
        {
            "type": "trial-result",
            "itemId": f"{variant}{index}",
            "evalName": "shop",
            "variant": variant,
            "stimulus": "fix",
            "model": "m-1",
            "trialIndex": index,
            "status": "completed",
            "durationMs": 1000,
            "gradeResult": {"passed": variant == "rule", "score": 1.0},
        }
        for variant in ("base", "rule")
        for index in range(4)
    ]
    (tmp_path / "results.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert cli.main(["import", "vally", str(tmp_path / "results.jsonl"), "-o", str(tmp_path / "out")]) == 0
    [matrix] = (tmp_path / "out").iterdir()
    assert cli.main(["export", str(matrix), "--format", "csv", "-o", str(tmp_path / "runs.csv")]) == 0
    assert pandas.read_csv(tmp_path / "runs.csv").groupby("cell").passed.sum().to_dict() == {"base": 0, "rule": 4}
    assert cli.main(["compare", str(matrix), str(matrix)]) == 0
    assert "| rule | 4/4 -> 4/4 |" in capsys.readouterr().out
    assert cli.main(["parity", "--smoke", str(matrix)]) == 1
    assert "nothing of them can be checked" in capsys.readouterr().out

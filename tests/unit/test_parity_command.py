"""`trysquare parity`: every layer that what was given allows, and a failure when one does not hold."""

import json
import re
from pathlib import Path

import pytest

from tests.foreign import Bench, bench
from trysquare import cli
from trysquare.parity import layer3


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return bench(tmp_path_factory.mktemp("bench"), repetitions=1)


@pytest.fixture
def arguments(made: Bench) -> list[str]:
    return ["parity", str(made.measures), "--archive", str(made.archive), "--scenario", str(made.scenario)]


def test_every_layer_holds_on_a_sound_bench(made, arguments, tmp_path, capsys):
    table = {row.cell: {name: case.rendered for name, case in row.cases.items()} for row in layer3(made.measures)}
    (tmp_path / "table.json").write_text(json.dumps(table))
    assert cli.main([*arguments, "--table", str(tmp_path / "table.json")]) == 0
    said = capsys.readouterr().out
    assert said.index("layer 3") < said.index("layer 1") < said.index("layer 2")
    assert "every entry is the one of" in said and "3 of 3 runs give exactly the published metrics" in said
    assert "api_stable is out of scope" in said and "PROBLEM" not in said


def test_a_patch_that_is_not_the_one_that_was_scored_makes_the_command_fail(made, arguments, capsys):
    rows = made.rows
    one, other = (made.archive / row["identifiant"] / "diff.patch" for row in rows[:2])
    beyond = {path: "theme.py" in path.read_text() for path in (one, other)}
    assert len(set(beyond.values())) == 2
    kept = one.read_bytes()
    try:
        one.write_bytes(other.read_bytes())
        assert cli.main(arguments) == 1
    finally:
        one.write_bytes(kept)
    said = capsys.readouterr().out
    assert "layer 2, scoring: DOES NOT HOLD" in said and f"PROBLEM {rows[0]['identifiant']}" in said
    assert "layer 1, the numbers of the sessions: holds" in said


def test_a_published_table_that_is_another_makes_the_command_fail(made, tmp_path, capsys):
    (tmp_path / "table.json").write_text(json.dumps({"+réflexion": {"in": "+1 o"}}))
    assert cli.main(["parity", str(made.measures), "--table", str(tmp_path / "table.json")]) == 1
    assert "PROBLEM +réflexion, in: published +1 o, computed " in capsys.readouterr().out


def test_what_is_not_given_is_said_to_be_needed(made, capsys):
    assert cli.main(["parity", str(made.measures)]) == 0
    said = capsys.readouterr().out
    assert "holds" not in said and "layers 1 and 2: not checked\n  they need --archive DIR" in said
    assert "--table FILE names one" in said


@pytest.mark.parametrize("table", ["[]", '{"base": "+1"}'])
def test_a_table_that_is_none_is_refused(made, tmp_path, capsys, table):
    (tmp_path / "table.json").write_text(table)
    assert cli.main(["parity", str(made.measures), "--table", str(tmp_path / "table.json")]) == 1
    assert "is no gap table: write it as" in capsys.readouterr().err


def test_the_example_of_the_guide_is_what_the_command_says(tmp_path, monkeypatch, capsys):
    guide = (Path(__file__).parents[2] / "docs" / "archives.md").read_text(encoding="utf-8")
    example = guide.partition("### An example\n")[2]
    names = ["published.json", "archive/b1/session/1.jsonl", "table.json"]
    blocks = re.findall(r"^`([^`]+)`[^\n]*:\n\n```json\n(.*?)^```$", example, re.MULTILINE | re.DOTALL)
    assert [name for name, _ in blocks] == names
    for name, text in blocks:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    [command] = re.findall(r"^trysquare (parity .*)$", example, re.MULTILINE)
    [said] = re.findall(r"```text\n(.*?)^```$", example, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    assert cli.main(command.split()) == 0
    assert capsys.readouterr().out == said


def edited(made: Bench, tmp_path: Path, position: int, **changes: object) -> Path:
    """The published rows with one of them changed; a key whose value is `...` is taken out."""
    found = [dict(row) for row in made.rows]
    found[position] |= changes
    found[position] = {key: value for key, value in found[position].items() if value is not ...}
    path = tmp_path / "published.json"
    path.write_text(json.dumps(found))
    return path


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("input", "x", 'row 2 has the `input` "x": write a number from 0, or null'),
        ("input", float("nan"), "row 2 has the `input` NaN: write a number from 0, or null"),
        ("tours", True, "row 2 has the `tours` true: write a number"),
        ("duree", -1, "row 2 has the `duree` -1: write a number"),
        ("cellule", 3, "row 2 has the `cellule` 3: write the name of its cell"),
        ("cellule", ..., "row 2 lacks cellule: write what the bench published"),
        ("essais", "2", 'row 2 has the `essais` "2": write how often it was tried'),
        ("identifiant", "../x", 'row 2 has the `identifiant` "../x": write the name of its directory'),
        ("note", ..., "row 2 lacks note: write what the bench published (null for a run that was never scored)"),
        ("note", [], "row 2 has the `note` []: write an object, or null"),
        ("note", {"debordement": float("inf")}, "row 2 has the `debordement` Infinity in its `note`"),
        ("note", {"debordement": "oui"}, 'row 2 has the `debordement` "oui" in its `note`: write booleans alone'),
    ],
)
def test_a_row_that_is_none_is_refused_by_file_row_and_key(made, tmp_path, capsys, key, value, said):
    path = edited(made, tmp_path, 1, **{key: value})
    assert cli.main(["parity", str(path), "--archive", str(made.archive)]) == 1
    found = capsys.readouterr().err
    assert found.startswith(f"{path}: {said}") and found.count("\n") == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: [], " holds no run: name the measures"),
        (lambda rows: [{**row, "note": None} for row in rows], ': no row of "base" counts, since none has `livre`'),
        (lambda rows: [row for row in rows if row["cellule"] != "base"], ': no row has the `cellule` "base"'),
        (
            lambda rows: [{**row, "note": {"livre": True, "tests": True}} for row in rows],
            ": no row has the criterion `debordement` in its `note`",
        ),
    ],
)
def test_rows_no_table_can_be_made_of_are_refused_by_file_and_key(made, tmp_path, capsys, change, said):
    path = tmp_path / "published.json"
    path.write_text(json.dumps(change(made.rows)))
    assert cli.main(["parity", str(path)]) == 1
    found = capsys.readouterr().err
    assert found.startswith(f"{path}{said}") and found.count("\n") == 1


def test_files_that_are_not_there_are_one_sentence(tmp_path: Path, capsys):
    assert cli.main(["parity", str(tmp_path / "nothing.json")]) == 1
    said = capsys.readouterr()
    assert said.err.endswith("is no file: name the measures the bench published.\n") and said.err.count("\n") == 1
    with pytest.raises(SystemExit) as left:
        cli.main(["parity"])
    assert left.value.code == 2

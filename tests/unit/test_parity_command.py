"""`trysquare parity`: every layer that what was given allows, and a failure when one does not hold."""

import json
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


def test_files_that_are_not_there_are_one_sentence(tmp_path: Path, capsys):
    assert cli.main(["parity", str(tmp_path / "nothing.json")]) == 1
    said = capsys.readouterr()
    assert said.err.endswith("is no file: name the measures the bench published.\n") and said.err.count("\n") == 1
    with pytest.raises(SystemExit) as left:
        cli.main(["parity"])
    assert left.value.code == 2

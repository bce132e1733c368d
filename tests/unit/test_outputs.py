"""The output tree: names, places, and the lines that keep a matrix from being read as more than it is."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenarios import place, scenario, small, write

from trysquare import outputs
from trysquare.scenario import load


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return place(tmp_path)


def run(directory: Path, cell: str | None, name: str) -> Path:
    path = outputs.run_location(directory / "runs", name, cell)
    path.mkdir(parents=True)
    (path / "run.json").write_text("{}")
    return path


def test_an_experiment_is_named_by_what_is_measured_and_how_often(here: Path) -> None:
    raw = small(scenario={"name": "my rule"}, agent={"provider": "a/c", "model": "b d", "thinking": "off"})
    raw["task"]["etalon"] = "release/1.0"
    found = load(write(here, raw))
    assert outputs.identity(found) == "my-rule_release-1.0_a-c_b-d"
    assert outputs.experiment_name(found) == "my-rule_release-1.0_a-c_b-d_n2"
    assert outputs.experiment_name(found, 7) == "my-rule_release-1.0_a-c_b-d_n7"


@given(st.text(), st.text(), st.integers(0, 10**6))
def test_a_run_id_is_the_short_digest_of_scenario_cell_and_repetition(name: str, cell: str, repetition: int) -> None:
    text = f"{name}/{cell}/{repetition}".encode()
    assert outputs.run_id(name, cell, repetition) == hashlib.blake2s(text, digest_size=4).digest().hex()


def test_the_run_ids_of_archives_do_not_change() -> None:
    assert outputs.run_id("rule", "rule / off", 0) == "e4709db1"
    assert outputs.run_id("rule", "rule / off", 19) == "314e883a"


@given(st.text())
def test_a_slug_is_one_path_component(value: str) -> None:
    assert "/" not in outputs.slug(value) and " " not in outputs.slug(value)


def test_the_directory_of_a_grid_cell_joins_its_values_by_an_underscore() -> None:
    assert outputs.cell_dir("rule / off") == "rule_off"
    assert outputs.cell_dir("a/b c") == "a-b-c"


@pytest.mark.parametrize("cell", ["rule / off", None])
def test_runs_are_found_in_either_layout(tmp_path: Path, cell: str | None) -> None:
    paths = [run(tmp_path, cell, name) for name in ("aaaaaaaa", "bbbbbbbb")]
    (tmp_path / "runs" / ".hidden").mkdir()
    assert outputs.archived_run_dirs(tmp_path) == paths
    assert outputs.sniff_layout(tmp_path / "runs") == ("blind" if cell is None else "grouped")


def test_a_tree_without_runs_has_no_layout(tmp_path: Path) -> None:
    assert outputs.sniff_layout(tmp_path / "runs") is None
    (tmp_path / "runs" / "cell").mkdir(parents=True)
    assert outputs.sniff_layout(tmp_path / "runs") is None
    assert outputs.archived_run_dirs(tmp_path) == []


@pytest.mark.parametrize("mark", ["session", "validation", "diff.patch", "configuration.json"])
def test_a_run_is_recognised_by_anything_a_run_leaves_behind(tmp_path: Path, mark: str) -> None:
    (tmp_path / "x" / mark).mkdir(parents=True)
    assert outputs.is_run_dir(tmp_path / "x")
    assert not outputs.is_run_dir(tmp_path)


def test_a_ledger_says_where_its_runs_are(tmp_path: Path) -> None:
    state = {"layout": "grouped", "runs": {"aa": {"cell": "rule / off"}}}
    assert outputs.ledger_run_dirs(tmp_path, state) == {"aa": tmp_path / "runs/rule_off/aa"}
    assert outputs.ledger_run_dirs(tmp_path, {**state, "layout": "blind"}) == {"aa": tmp_path / "runs/aa"}


def test_matrices_of_an_experiment_are_found_by_name_also_when_it_holds_glob_characters(here: Path) -> None:
    raw = small(agent={"provider": "acme", "model": "large[1]*", "thinking": "off"})
    found = load(write(here, raw))
    root = here / "results"
    for count in (10, 3):
        (root / outputs.experiment_name(found, count)).mkdir(parents=True)
        (root / outputs.experiment_name(found, count) / "plan.json").write_text("{}")
    (root / outputs.experiment_name(found, 5)).mkdir()
    (root / f"{outputs.identity(found)}_nx").mkdir()
    assert list(outputs.matrices(root, found)) == [3, 10]
    assert outputs.matrices(here / "nowhere", found) == {}


def test_rows_are_counted_per_cell_in_first_seen_order(tmp_path: Path) -> None:
    rows = {"1": {"cell": "b"}, "2": {"cell": "a"}, "3": {"cell": "b"}}
    assert list(outputs.per_cell(rows).items()) == [("b", 2), ("a", 1)]
    assert outputs.measures_in(tmp_path) == []
    (tmp_path / "measures.json").write_text(json.dumps([{"id": "1"}]))
    assert outputs.measures_in(tmp_path) == [{"id": "1"}]


def test_an_incomplete_matrix_gets_one_line_that_counts_and_says_what_to_do() -> None:
    note = outputs.incomplete_note({"valid": 5, "missing": 2, "empty": 1, "validator_failed": 0})
    assert note.startswith("incomplete, 5 of 8 runs valid, 2 missing, 1 empty;") and "`run`" in note
    assert outputs.incomplete_note({"valid": 8}) == ""
    note = outputs.incomplete_note({"valid": 5, "missing": 3}, act=None)
    assert note == "incomplete, 5 of 8 runs valid, 3 missing; no synthesis yet: it is being run now"


def test_the_line_of_an_incomplete_matrix_names_why_runs_failed() -> None:
    reasons = ["script: declared but not returned: tidy", "script: declared but not returned: tidy", "other: exited 1"]
    note = outputs.incomplete_note({"valid": 1, "validator_failed": 3}, reasons)
    assert "3 failed by a validator (2 of them: script: declared but not returned: tidy; 1 other reason)" in note
    note = outputs.incomplete_note({"validator_failed": 2}, reasons[:2])
    assert "2 failed by a validator (script: declared but not returned: tidy)" in note
    assert len(outputs.incomplete_note({"validator_failed": 1}, ["x" * 5000])) < 400


def test_the_line_of_a_damaged_matrix_does_not_send_to_a_launch_that_would_do_nothing() -> None:
    note = outputs.incomplete_note({"valid": 1, "damaged": 2})
    assert "2 damaged; no synthesis: `trysquare status` names the remedy" in note and "launch" not in note
    assert "launch the target `run`" in outputs.incomplete_note({"missing": 1, "damaged": 2})


def test_carried_runs_are_said_with_the_load_they_were_measured_under() -> None:
    entry = {"runs": 10, "directory": "x_n5", "repetitions": 5, "concurrency": 2, "timeout": 900.0}
    note = outputs.carried_note({"carried": [entry]})
    assert all(part in note for part in ("10 runs", "x_n5", "n = 5", "concurrency 2", "900 s"))
    assert outputs.carried_note({"carried": []}) == outputs.carried_note({}) == ""


def test_a_measured_run_without_a_row_is_named() -> None:
    state = {"runs": {"aa": {"state": "valid"}, "bb": {"state": "valid"}, "cc": {"state": "missing"}}}
    note = outputs.unmeasured_note(state, [{"id": "aa"}])
    assert "bb" in note and "aa" not in note and "cc" not in note
    assert outputs.unmeasured_note(state, [{"id": "aa"}, {"id": "bb"}]) == ""


def prints(path: Path) -> dict[str, str]:
    found = load(path)
    return {cell.name: outputs.cell_fingerprint(found, cell) for cell in found.cells}


def test_a_fingerprint_covers_the_bytes_of_everything_a_cell_is_given(here: Path) -> None:
    path = write(here, scenario())
    before = prints(path)
    for name, changed in {
        "context/rule.md": {"rule / high"},
        "skills/review/SKILL.md": {"+terse", "bare", "probed"},
        "agents/coder.md": {"probed"},
        "hook.ts": {"probed"},
        "probe.py": {"probed"},
        "setup.sh": set(before),
        "prompts/fix.md": set(before) - {"bare"},
    }.items():
        text = (here / name).read_text()
        (here / name).write_text(text + "more\n")
        assert {cell for cell, found in prints(path).items() if found != before[cell]} == changed, name
        (here / name).write_text(text)
    assert prints(path) == before


def test_prose_order_comments_and_names_of_bricks_change_no_fingerprint(here: Path) -> None:
    before = prints(write(here, scenario()))
    raw = scenario()
    raw["values"]["context"]["rule"]["description"] = "other words"
    raw["scenario"]["title"] = "Another title"
    raw["task"] = dict(reversed(raw["task"].items()))
    raw["harness"]["gang"] = raw["harness"].pop("crew")
    raw["variants"]["probed"]["harness"] = ["probe", "gang", "hook", "skills"]
    raw["protocol"]["repetitions"] = 9
    raw["validation"][0]["timeout"] = 99
    assert prints(write(here, raw)) == before


def test_an_inline_text_and_a_file_with_that_text_are_one_configuration(here: Path) -> None:
    before = prints(write(here, scenario()))
    raw = scenario()
    raw["task"]["prompt"] = "Fix the counter.\n"
    assert prints(write(here, raw)) == before


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [("agent", "thinking", "low"), ("agent", "provider", "other"), ("agent", "model", "m"), ("task", "history", False)],
)
def test_a_fingerprint_covers_what_the_sections_say(here: Path, section: str, key: str, value: object) -> None:
    before = prints(write(here, small()))
    raw = small()
    raw[section][key] = value
    assert prints(write(here, raw))["plain"] != before["plain"]

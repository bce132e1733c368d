"""Every refusal of the scenario language names the file, the key, what was found and what to write."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from refusal_cases import CASES, Change
from scenarios import dumps, place, scenario, small, write

from trysquare.scenario import ScenarioError, load


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = place(tmp_path_factory.mktemp("experiment"))
    (directory / "blank.md").write_text(" \n")
    (directory / "latin.md").write_bytes(b"caf\xe9")
    (directory / "plain.sh").write_text("#!/bin/sh\n")
    return directory


def refusal(here: Path, raw: Any) -> str:
    with pytest.raises(ScenarioError) as found:
        load(write(here, raw))
    return str(found.value)


def line(text: str, *parts: str) -> str:
    """The one line of a refusal that holds every part."""
    found = [row for row in text.splitlines() if all(part in row for part in parts)]
    assert found, f"no line holds {parts} in:\n{text}"
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(("base", "change", "parts"), CASES)
def test_a_refusal_names_the_file_the_key_what_was_found_and_the_remedy(
    here: Path, base: Callable[[], dict[str, Any]], change: Change, parts: tuple[str, ...]
) -> None:
    raw = base()
    change(raw)
    found = line(refusal(here, raw), *parts)
    assert found.startswith(f"{here / 'rule.toml'}: ")
    assert found.endswith((".", ")."))


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("TASK.MD", '(did you mean "task.md"?)'),
        ("task.md ", '(did you mean "task.md"?)'),
        ("task.md\n", '(did you mean "task.md"?)'),
        ("TASK", '(did you mean "Task"?)'),
        ("My Task", '(did you mean "my task"?)'),
        ("Prompts/fix.md", "is a path"),
        ("prompts/FIX.md", '(did you mean "prompts/fix.md"?)'),
        ("Task.markdown", "is a path"),
        ("task.adoc", "is a path"),
        (".", "is a directory"),
        ("..", "is a directory"),
        ("prompts", "is a directory"),
    ],
)
@pytest.mark.parametrize("key", ["prompt", "context", "system"])
def test_a_mistyped_path_is_never_the_text(tmp_path: Path, key: str, value: str, meant: str) -> None:
    here = place(tmp_path)
    for name in ("task.md", "Task", "my task"):
        (here / name).write_text("Fix it.\n")
    line(refusal(here, small(variants={"plain": {}, "x": {key: value}})), f"[variants.x] {key}: ", meant)
    if key == "prompt":
        raw = small()
        raw["task"]["prompt"] = value
        line(refusal(here, raw), "[task] prompt: ", meant)


@pytest.mark.parametrize(
    "text",
    ["Fix it.", "Fix", "Fix README.md", "see prompts/fix.md", "Done.", "a\nb.md", "task.md\nprompts/fix.md", "Why?"],
)
def test_what_reads_as_a_text_is_one(tmp_path: Path, text: str) -> None:
    here = place(tmp_path)
    raw = small()
    raw["task"]["prompt"] = text
    assert load(write(here, raw)).references == load(write(here, small())).references


@pytest.mark.parametrize("operator", ["&&", "||", ";", "|", ">", ">>", "<", "&"])
@pytest.mark.parametrize("key", ["test_command", "prepare"])
def test_a_word_that_only_a_shell_understands_is_refused_by_name(here: Path, key: str, operator: str) -> None:
    raw = scenario()
    command = f"python3 -m unittest {operator} more"
    raw["task"][key] = command if key == "test_command" else [command]
    line(
        refusal(here, raw), f"{here / 'rule.toml'}: [task] {key}: ", f"uses `{operator}`", "put the steps into a script"
    )


@pytest.mark.parametrize("word", ["skills", "agents", "extensions"])
def test_a_brick_written_into_a_cell_is_refused_with_where_it_belongs(here: Path, word: str) -> None:
    raw = small(variants={"plain": {}, "x": {word: ["a"]}})
    line(refusal(here, raw), "[variants.x]: unknown key", word, "define [harness.<name>]", 'write harness = ["<name>"]')


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"def evaluate(run):\n    return {\n", "at line 2 ('{' was never closed)"),
        (b"ok = 1\n\nif ok\n    pass\n", "at line 3 (expected ':')"),
        (b"name = 'caf\xe9'\n", "(unicode error)"),
        (b"ok = 1\0\n", "null bytes"),
        (b"x = " + b"-" * 100_000 + b"1\n", "("),
    ],
    ids=["open brace", "no colon", "not UTF-8", "a NUL", "too deep"],
)
def test_a_python_file_that_does_not_parse_is_refused_with_its_line(tmp_path: Path, source: bytes, said: str) -> None:
    here = place(tmp_path)
    (here / "validator.py").write_bytes(source)
    line(refusal(here, small()), "[[validation]] #1 command", '"validator.py" is not valid Python', said, "correct it")


def test_a_python_file_is_parsed_and_not_run_and_its_warnings_are_its_own(tmp_path: Path) -> None:
    here = place(tmp_path)
    (here / "validator.py").write_text("import nowhere_to_be_found\n\nPATTERN = '\\d'\nraise SystemExit(3)\n")
    load(write(here, small()))


@pytest.mark.parametrize("shebang", ["#!/bin/sh", "#!/usr/bin/env node", "#!/usr/bin/env -S uv run --script"])
def test_a_python_file_that_asks_for_another_interpreter_is_refused(tmp_path: Path, shebang: str) -> None:
    here = place(tmp_path)
    (here / "validator.py").write_text(f"{shebang}\necho\n")
    line(refusal(here, small()), "[[validation]] #1 command", shebang, "is run with the Python of trysquare; rename it")
    (here / "validator.py").write_text("#!/usr/bin/env python3\nprint()\n")
    load(write(here, small()))


def test_every_column_of_the_tables_is_a_name_no_metric_may_have() -> None:
    from trysquare.measure import Run
    from trysquare.scenario.judging import COLUMNS
    from trysquare.synthesis.runs import columns
    from trysquare.table import cost_measures, score_table, spend_measures

    usage = {"input": 1, "output": 1, "cacheRead": 1, "cacheWrite": 1, "turns": 1, "retries": 0, "cost": 1.0}
    runs = [Run("a", "b", 0, usage=usage)]
    names = {measure.name for measure in (*cost_measures(), *spend_measures(runs))} | {*columns([], runs)}
    head = {name.strip() for name in score_table([], []).splitlines()[0].split("|") if name.strip()}
    assert names | head | {"n"} == COLUMNS


def test_two_validators_of_one_mode_need_names(here: Path) -> None:
    raw = small()
    raw["validation"].append({"mode": "script", "command": "validator.py", "metrics": ["other"]})
    line(refusal(here, raw), "[[validation]] #2 name", '"script" too', 'name = "script-2"')
    raw["validation"][1]["name"] = "second"
    assert [validator.name for validator in load(write(here, raw)).validators] == ["script", "second"]


def test_a_table_that_should_be_a_list_of_tables_is_sent_to_its_header(here: Path) -> None:
    raw = scenario()
    raw["validation"] = raw["validation"][0]
    assert "write its header as [[validation]]." in line(refusal(here, raw), "[validation]: found one table")


def test_every_problem_is_shown_at_once_also_across_sections_and_kinds(here: Path) -> None:
    raw = scenario()
    raw["agent"]["thinking"] = "hgh"
    raw["task"]["prompt"] = "prompts/none.md"
    raw["variants"]["x"] = {"harness": ["nobody"]}
    raw["verdict"]["criterion"] = "nothing"
    raw["more"] = {}
    assert len(refusal(here, raw).splitlines()) == 5


def test_a_section_of_the_wrong_shape_causes_no_refusals_about_what_it_would_have_held(here: Path) -> None:
    raw = scenario()
    raw["values"]["context"]["rule"]["contex"] = "x"
    raw["harness"]["hook"]["lod"] = "x"
    raw["validation"][0]["metrics"] = "delivered"
    found = refusal(here, raw).splitlines()
    assert len(found) == 3 and all("contex" in row or "lod" in row or "metrics" in row for row in found)


def test_a_refusal_lists_a_bounded_number_of_problems(here: Path) -> None:
    raw = small(variants={f"cell {number}": {"harness": ["nobody"]} for number in range(100)})
    found = refusal(here, raw).splitlines()
    assert len(found) == 41 and found[-1].startswith("... and ")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[task\nrepo = 1", ("line 1, column 6", "Expected ']'")),
        ('[task]\nrepo = "a"\nrepo = "b"\n', ("line 3",)),
        ("[axes]\nmood = ['a']\nmood = ['b']\n", ("line 3", "correct it")),
        ("[task]\nrepo = ", ("end of the file",)),
        ("x = 1" + "0" * 5000, ("cannot be read as TOML",)),
        ("x = " + "[" * 5000, ("cannot be read as TOML",)),
    ],
)
def test_a_syntax_error_carries_file_line_and_column(here: Path, text: str, parts: tuple[str, ...]) -> None:
    line(refusal(here, text), str(here / "rule.toml"), *parts)


def test_a_file_that_is_not_utf8_is_refused(here: Path) -> None:
    (here / "odd.toml").write_bytes(b"title = 'caf\xe9'")
    with pytest.raises(ScenarioError, match="not UTF-8"):
        load(here / "odd.toml")


def test_a_byte_order_mark_is_accepted(here: Path) -> None:
    (here / "mark.toml").write_bytes(b"\xef\xbb\xbf" + dumps(small()).encode())
    assert load(here / "mark.toml").name == "mark"


def test_a_file_that_is_not_there_and_a_directory_are_refused(here: Path) -> None:
    with pytest.raises(ScenarioError, match="no such file"):
        load(here / "nowhere.toml")
    with pytest.raises(ScenarioError, match="is a directory"):
        load(here)


def test_a_machine_file_passed_as_scenario_is_recognised(here: Path) -> None:
    with pytest.raises(ScenarioError, match="is a machine file, not a scenario"):
        load(here / "trysquare.toml")


def test_a_value_is_repeated_shortened_and_on_one_line(here: Path) -> None:
    raw = scenario()
    raw["agent"]["thinking"] = "x\ny" * 100
    found = refusal(here, raw)
    assert len(found.splitlines()) == 1 and "\\n" in found and "..." in found and len(found) < 400

"""Experiments that would measure nothing, or chance: refused where that is certain, said where it may be meant."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scenarios import place, repository, scenario, small, write

from tests.matrices import LAUNCHES, matrix, rows
from trysquare import runner
from trysquare.cli import main
from trysquare.custom_metrics.conditions import check
from trysquare.matrix import Blob
from trysquare.scenario import ScenarioError, load
from trysquare.scenario.assertions import Assertion
from trysquare.scenario.certain import certainties, contradictions
from trysquare.synthesis import build


@pytest.fixture
def here(tmp_path: Path) -> Path:
    repository(tmp_path / "repo")
    return place(tmp_path)


def header(path: Path) -> list[str]:
    [plan] = runner.resolve_all(runner.Settings.of({"scenario": str(path), "output": str(path.parent / "results")}))
    return runner.header(plan)


def refusal(path: Path) -> str:
    with pytest.raises(ScenarioError) as found:
        header(path)
    return str(found.value)


@pytest.mark.parametrize("option", ["repetitions", "timeout", "concurrency"])
def test_no_number_of_the_command_line_is_taken_for_one_that_is_not_given(here: Path, option: str) -> None:
    command = [sys.executable, "-c", "import trysquare.cli as c; raise SystemExit(c.main())", "run", f"--{option}=0"]
    command.append(str(write(here, small())))
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 1 and f"{option}: found 0" in done.stderr and "Traceback" not in done.stderr
    assert not (here / "results").exists()


@pytest.mark.parametrize(
    "option", ["--cores=0", "--until-complete=0", "--output=", "--only=", "--overwrite= ", "--profile="]
)
def test_what_is_empty_or_none_is_not_taken_for_an_option_that_is_not_given(
    here: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["run", option, str(write(here, small()))])
    assert f"argument {'-o/' if 'output' in option else ''}{option.split('=')[0]}: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "other",
    [{}, {"thinking": "off"}, {"prompt": "Fix the counter."}, {"history": True}, {"harness": []}, {"use": ["no"]}],
)
def test_two_cells_of_one_configuration_are_said_to_differ_by_chance(here: Path, other: dict[str, Any]) -> None:
    same = small(variants={"plain": {}, "b": other}, presets={"no": {}})
    assert 'SAME: "plain", "b" are the same configuration: a gap between them is chance' in header(write(here, same))
    assert not [line for line in header(write(here, small())) if line.startswith("SAME")]


def test_a_page_says_that_a_gap_between_equal_cells_is_chance() -> None:
    plan = matrix()
    twin = replace(plan.cells["rule / off"], fingerprint=plan.cells["nothing / off"].fingerprint)
    equal = replace(plan, cells={**plan.cells, "rule / off": twin})
    said = "nothing / off and rule / off are the same configuration: a gap between them is chance."
    assert said in build(equal, rows(equal), LAUNCHES).warnings
    assert said not in build(plan, rows(plan), LAUNCHES).warnings


def test_agents_that_nothing_can_start_are_warned_of(here: Path) -> None:
    raw = scenario(variants={"crewed": {"harness": ["crew"]}, "both": {"harness": ["crew", "hook"]}})
    [said] = [line for line in header(write(here, raw)) if "no tool of its own" in line]
    assert said.startswith('AGENTS: "crewed": ') and "add an extension" in said
    plan = matrix()
    crewed = replace(plan.cells["rule / off"], agents={"scout.md": Blob("a" * 24)})
    found = build(replace(plan, cells={**plan.cells, "rule / off": crewed}), rows(plan), LAUNCHES).warnings
    assert any("injected in rule / off, where no extension brings a tool" in warning for warning in found)


def test_a_skill_that_would_not_load_is_refused_with_its_file(here: Path) -> None:
    (here / "skills/review/SKILL.md").write_text("Look twice.\n")
    said = refusal(write(here, scenario()))
    assert '[harness.skills] paths: "review/SKILL.md" has no frontmatter' in said and "`description: ...`" in said


def test_a_brick_without_any_skill_and_two_skills_of_one_name_are_refused(here: Path) -> None:
    raw = small(variants={"plain": {}, "x": {"harness": ["skills"]}}, harness={"skills": {"paths": ["data"]}})
    assert "[harness.skills] paths: the agent finds no skill in them" in refusal(write(here, raw))
    shutil.copytree(here / "skills/review", here / "skills/again")
    raw["harness"] = {"skills": {"paths": ["skills"]}}
    assert 'two skills of the name "review"' in refusal(write(here, raw))


@pytest.mark.parametrize(
    ("text", "said"), [("exit 0\n", "does not say what runs it"), ("#!/bin/sh\r\nexit 0\r\n", "as on Windows")]
)
def test_an_executable_that_the_system_cannot_start_is_refused(here: Path, text: str, said: str) -> None:
    (here / "setup.sh").write_text(text, newline="")
    (here / "validate").write_text(text, newline="")
    (here / "validate").chmod(0o755)
    with pytest.raises(OSError):
        subprocess.run([here / "validate"], check=False)
    raw = scenario()
    raw["validation"][0]["command"] = "validate"
    found = refusal(write(here, raw))
    assert [line.split(": ", 3)[1] for line in found.splitlines()] == ["[task] setup", "[[validation]] #1 command"]
    assert all(said in line for line in found.splitlines())


def test_a_program_of_the_machine_is_an_executable(here: Path) -> None:
    shutil.copy("/bin/true", here / "setup.sh")
    load(write(here, scenario()))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("pyhton3 -m unittest", '"pyhton3"'),
        ("/nowhere/suite", '"/nowhere/suite"'),
        ("A=1 python3 -m unittest", '"A=1" is an assignment'),
        ("python3 -m unittest", ""),
        ("./suite.sh", ""),
        ("tools/suite", ""),
    ],
)
def test_a_command_that_this_machine_cannot_start_is_warned_of(here: Path, command: str, said: str) -> None:
    raw = scenario()
    raw["task"] |= {"test_command": command, "prepare": [command]}
    found = [line for line in header(write(here, raw)) if line.startswith("COMMAND")]
    assert len(found) == (2 if said else 0) and all(said in line for line in found)


@pytest.mark.parametrize(("first", "second"), [("a\u200bb", "ab"), ("caf\u00e9", "cafe\u0301"), ("a\u00a0b", "a b")])
def test_names_that_look_the_same_are_refused(here: Path, first: str, second: str) -> None:
    found = refusal(write(here, small(variants={"plain": {}, first: {}, second: {}})))
    assert f"the cells {first!a} and {second!a} look the same" in found
    raw = small()
    raw["validation"][0]["metrics"] += [first, second]
    assert f"{second!a} and {first!a} look the same" in refusal(write(here, raw))


def asserted(*conditions: dict[str, Any]) -> list[str]:
    return list(contradictions([Assertion(metric="x", **each) for each in conditions]))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"equals": 1}, {"equals": 2}),
        ({"equals": 1}, {"equals": True}),
        ({"equals": "a"}, {"min": 1}),
        ({"present": True}, {"absent": True}),
        ({"max": 1}, {"gt": 1}),
        ({"equals": "done"}, {"contains": "fail"}),
        ({"matches": "a"}, {"equals": 1}),
    ],
)
def test_assertions_that_exclude_each_other_are_refused_where_passed_is_declared(
    here: Path, first: dict[str, Any], second: dict[str, Any]
) -> None:
    assert len(asserted(first, second)) == len(asserted(second, first)) == 1
    raw = scenario()
    raw["validation"][2] |= {"metrics": ["passed"], "assertions": [{"metric": "x", **each} for each in (first, second)]}
    assert "#3 assertions: " in refusal(write(here, raw)) and "never hold together" in refusal(write(here, raw))
    raw["validation"][2]["metrics"] = ["assert.x", "assert.x#2"]
    load(write(here, raw))
    for value in (0, 1, 2, True, "a", "done", "fail"):
        assert not all(check({"metric": "x", **each}, {"x": value})[0] for each in (first, second))


@pytest.mark.parametrize(
    "conditions",
    [
        ({"min": 1}, {"max": 1}),
        ({"equals": 1, "tolerance": 1}, {"equals": 2}),
        ({"present": True}, {"equals": "a"}),
        ({"absent": True}, {"absent": True}),
        ({"contains": "a"}, {"contains": "b"}),
        ({"contains": 1}, {"equals": 1.0}),
        ({"equals": "Done"}, {"contains": "done"}),
        ({"matches": "a"}, {"matches": "b"}),
    ],
)
def test_assertions_that_can_hold_together_are_accepted(conditions: tuple[dict[str, Any], ...]) -> None:
    assert not asserted(*conditions)


@pytest.mark.parametrize(
    "pattern", ["", ".*", "^", "$", ".*$", "^.*", "(?:a|b)?", "[a]*", r"\d*", "a{0,3}", "x|", r"a|\Z", "(?s).*"]
)
def test_an_expression_that_every_text_matches_is_refused(pattern: str) -> None:
    assert list(certainties(Assertion(metric="x", matches=pattern)))
    for text in ("", "a", "A b\nc", "\n", "0", "\u00e9", "$", "^"):
        assert check({"metric": "x", "matches": pattern}, {"x": text})[0]


@pytest.mark.parametrize("pattern", ["^$", "a", "^.*$", r"\b", ".+", r"\$", "[*]", "(?=a)", "^a*b", r"\.*x", "(a*)b"])
def test_an_expression_that_some_text_does_not_match_is_accepted(pattern: str) -> None:
    assert not list(certainties(Assertion(metric="x", matches=pattern)))


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("pieces", None, ["respones"]),
        ("assertions", None, [{"metric": "a", "min": "1"}]),
        ("include", None, [["ters"]]),
    ],
)
def test_one_mistake_is_one_line(here: Path, section: str, key: None, value: Any) -> None:
    raw = scenario()
    place = {"pieces": raw["validation"][1], "assertions": raw["validation"][2], "include": raw["axes"]}[section]
    place[section] = value
    found = refusal(write(here, raw))
    assert len(found.splitlines()) == 1, found
    assert os.fspath(here) in found


def test_an_empty_text_of_the_config_is_told_to_be_left_out() -> None:
    with pytest.raises(
        runner.SettingsError, match=r'only: found "", which says nothing; write a value, or leave only out'
    ):
        runner.Settings.of({"scenario": "s.toml", "only": [""]})

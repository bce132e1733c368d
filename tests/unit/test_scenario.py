"""The scenario language: what a well-formed file means."""

import subprocess
import sys
from pathlib import Path

import pytest
from scenarios import place, scenario, small, write

from trysquare.scenario import Cell, ScenarioError, load, split_command


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return place(tmp_path)


def cells(path: Path) -> dict[str, dict]:
    return {cell.name: dict(cell.delta) for cell in load(path).cells}


def test_a_grid_is_the_product_of_its_axes_in_declared_order_then_included_cells_then_variants(here: Path) -> None:
    assert list(cells(write(here, scenario()))) == [
        "nothing / off",
        "nothing / high",
        "rule / high",
        "+terse",
        "bare",
        "probed",
    ]


def test_a_cell_changes_what_its_values_presets_and_own_lines_say(here: Path) -> None:
    found = cells(write(here, scenario()))
    assert found["nothing / off"] == {}
    assert found["rule / high"] == {"context": "context/rule.md", "thinking": "high"}
    assert found["+terse"] == {"system": "Be terse.", "harness": ("skills",)}
    assert found["bare"] == {"prompt": "Fix it.", "system": "Be terse.", "harness": ("skills",)}
    assert found["probed"] == {"history": False, "harness": ("probe", "crew", "hook", "skills")}


def test_the_first_value_of_an_axis_is_the_baseline_and_may_be_described(here: Path) -> None:
    raw = small(
        variants=None,
        axes={"mood": ["calm", "wild"]},
        values={"mood": {"calm": {"description": "as shipped"}, "wild": {"thinking": "max"}}},
        verdict={"criterion": "delivered", "reference": "calm"},
    )
    first, second = load(write(here, raw)).cells
    assert first == Cell("calm", {}, "as shipped") and first.is_baseline
    assert not second.is_baseline


def test_the_line_of_a_cell_wins_over_presets_that_disagree(here: Path) -> None:
    raw = small(
        presets={"slow": {"thinking": "high"}, "fast": {"thinking": "low"}},
        variants={"plain": {}, "both": {"use": ["slow", "fast"], "thinking": "max"}},
    )
    assert cells(write(here, raw))["both"] == {"thinking": "max"}


def test_presets_that_agree_may_set_one_key_twice(here: Path) -> None:
    raw = small(
        presets={"a": {"thinking": "high"}, "b": {"thinking": "high", "system": "Go."}},
        variants={"plain": {}, "both": {"use": ["a", "b"]}},
    )
    assert cells(write(here, raw))["both"] == {"system": "Go.", "thinking": "high"}


def test_bricks_add_up_in_order_and_each_is_loaded_once(here: Path) -> None:
    raw = small(
        harness={name: {"load": "hook.ts"} for name in ("a", "b", "c")},
        presets={"p": {"harness": ["b", "a"]}},
        variants={"plain": {}, "all": {"use": ["p"], "harness": ["a", "c"]}},
    )
    assert cells(write(here, raw))["all"] == {"harness": ("b", "a", "c")}


def test_an_included_cell_without_lines_is_named_after_its_presets_in_their_order(here: Path) -> None:
    raw = small(
        presets={"a": {"thinking": "high"}, "b": {"system": "Go."}},
        axes={"include": [["b", "a"]]},
    )
    assert list(cells(write(here, raw))) == ["+a+b", "plain", "deep"]


def test_an_axis_value_may_be_a_preset_or_a_block_that_uses_it(here: Path) -> None:
    raw = small(
        variants=None,
        presets={"deep": {"thinking": "high"}, "terse": {"system": "Go."}},
        axes={"mood": ["calm", "deep", "terse"]},
        values={"mood": {"terse": {"use": ["terse"], "thinking": "low"}}},
        verdict={"criterion": "delivered", "reference": "calm"},
    )
    assert cells(write(here, raw)) == {
        "calm": {},
        "deep": {"thinking": "high"},
        "terse": {"system": "Go.", "thinking": "low"},
    }


def test_a_reference_may_be_a_cell_or_a_value_for_every_axis(here: Path) -> None:
    assert load(write(here, scenario())).reference == "nothing / off"
    raw = scenario(verdict={"criterion": "delivered", "reference": "bare"})
    assert load(write(here, raw)).reference == "bare"


def test_everything_a_cell_declares_includes_what_it_falls_back_to(here: Path) -> None:
    found = load(write(here, scenario()))
    declared = found.declared(found.cells[2])
    assert {name: declared[name] for name in ("prompt", "context", "system", "thinking", "history", "setup")} == {
        "prompt": "prompts/fix.md",
        "context": "context/rule.md",
        "system": None,
        "thinking": "high",
        "history": True,
        "setup": "setup.sh",
    }
    probed = found.declared(found.cells[-1])
    assert list(probed["harness"]) == ["probe", "crew", "hook", "skills"]
    assert probed["harness"]["crew"].model == "small"
    assert probed["history"] is False


def test_what_is_not_declared_has_its_default(here: Path) -> None:
    found = load(write(here, small(), "my exp.toml"))
    assert (found.name, found.title) == ("my exp", "my exp")
    assert (found.verdict.draws, found.verdict.seed) == (10_000, 20_260_729)
    assert (found.agent.kind, found.task.history, found.verdict.validity) == ("pi", True, ())
    assert found.validators[0].name == "script"


def test_sections_are_readable_by_key_as_far_as_they_were_written(here: Path) -> None:
    task = load(write(here, small())).task
    assert task["repo"] == task.repo == "counter"
    assert "setup" not in task and task.get("setup", "none") == "none"
    with pytest.raises(KeyError):
        task["setup"]


def test_manual_metrics_are_those_of_forms(here: Path) -> None:
    raw = small()
    raw["validation"].append({"mode": "form", "name": "readers", "metrics": ["clear", "kind"]})
    assert load(write(here, raw)).manual_metrics == ("clear", "kind")


@pytest.mark.parametrize("value", ["a/b", "notes.md", "x.toml"])
def test_a_value_that_looks_like_a_path_is_never_sent_as_text(here: Path, value: str) -> None:
    raw = small(variants={"plain": {"prompt": value}})
    with pytest.raises(ScenarioError, match="is a path"):
        load(write(here, raw))


@pytest.mark.parametrize("value", ["Read notes.md and/or ask", "one\ntwo/three", "plain"])
def test_a_value_with_spaces_or_line_breaks_is_text(here: Path, value: str) -> None:
    assert load(write(here, small(variants={"plain": {"prompt": value}}))).cells[0].delta["prompt"] == value


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("python3 -m unittest", ["python3", "-m", "unittest"]),
        ("node --test 'src/**/*.test.js'", ["node", "--test", "src/**/*.test.js"]),
        ('sh -c "cd x && make; ls > y"', ["sh", "-c", "cd x && make; ls > y"]),
        (r"echo \; a\&b", ["echo", ";", "a&b"]),
        ("  make  test\n", ["make", "test"]),
    ],
)
def test_a_command_is_split_as_a_shell_splits_words(command: str, words: list[str]) -> None:
    assert split_command(command) == words


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("a && b", "`&&`"),
        ("a || b", "`||`"),
        ("a; b", "`;`"),
        ("a | b", "`|`"),
        ("a > b", "`>`"),
        ("a >> b", "`>>`"),
        ("a < b", "`<`"),
        ("a &", "`&`"),
        ("a 2>&1", "`>`"),
        ("", "empty"),
        ("   ", "empty"),
        ('""', "empty"),
        ("a 'b", "quotes"),
        ("a\nb", "one line"),
    ],
)
def test_a_command_that_needs_a_shell_is_refused_by_the_word(command: str, said: str) -> None:
    with pytest.raises(ScenarioError) as refusal:
        split_command(command)
    assert said in str(refusal.value)


def test_importing_the_language_loads_neither_its_models_nor_anything_heavy() -> None:
    heavy = ["pydantic", "numpy", "scipy", "pandas", "matplotlib", "jinja2", "rich", "snakemake", "subprocess"]
    code = f"import sys, trysquare.scenario; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"

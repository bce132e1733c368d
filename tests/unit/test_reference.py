"""The reference tables of the guide are what the typed source says."""

import argparse
from pathlib import Path

import pytest

from trysquare import reference
from trysquare.runner.settings import KEYS
from trysquare.scenario.language import ScenarioFile

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("name", reference.pages())
def test_a_page_of_the_reference_is_the_one_the_source_gives(name):
    text = (DOCS / "reference" / name).read_text(encoding="utf-8")
    assert text == reference.pages()[name], "run: python -m trysquare.reference docs/reference"


def test_every_page_is_in_the_table_of_contents():
    contents = (DOCS / "index.md").read_text(encoding="utf-8").splitlines()
    assert {f"reference/{Path(name).stem}" for name in reference.pages()} <= set(contents)


def test_every_section_every_key_and_every_command_is_listed(tmp_path):
    reference.main([str(tmp_path)])
    pages = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    for section in ScenarioFile.model_fields:
        assert f"[{section}" in pages["scenario.md"], section
    for model in [*reference.SCENARIO.values(), *reference.MACHINE.values()]:
        for key in model.model_fields:
            assert f"| `{key}` |" in pages["scenario.md"] + pages["machine.md"] or key in ("defaults", "isolation"), key
    assert all(f"| `{key}` |" in pages["config.md"] for key in KEYS)
    commands = next(each for each in reference.parser()._actions if isinstance(each, argparse._SubParsersAction))
    assert all(f"## `trysquare {command}`" in pages["commands.md"] for command in commands.choices)
    assert "`--ping`" in pages["commands.md"]


def test_a_table_says_what_a_key_may_hold():
    rows = {row[0]: row[1] for row in reference._keys(reference.SCENARIO["[protocol]"])}
    assert rows["`repetitions`"] == "whole number, 1 or more, 100000 or less"
    rows = {row[0]: (row[1], row[2]) for row in reference._keys(reference.SCENARIO["[agent]"])}
    assert rows["`thinking`"][0].startswith("one of `off`, `minimal`") and rows["`thinking`"][1] == "required"

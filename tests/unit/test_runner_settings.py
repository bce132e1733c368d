"""The workflow config: every key, from a file or from the engine's command line."""

import dataclasses
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from trysquare.runner import Settings, SettingsError
from trysquare.runner import schema as generator
from trysquare.runner.settings import KEYS
from trysquare.vally.yaml12 import parse_yaml

ROOT = Path(__file__).resolve().parents[2]


def refusal(config: dict[str, Any], command_line: dict[str, Any] | None = None) -> str:
    with pytest.raises(SettingsError) as found:
        Settings.of(config, command_line)
    return str(found.value)


def test_what_is_not_said_has_its_default() -> None:
    found = Settings.of({"scenario": "a.toml", "only": None, "output": ""})
    assert found == Settings(scenario=("a.toml",))
    assert (found.output, found.only, found.extend, found.repetitions) == ("results", (), False, None)


def test_every_key_is_read() -> None:
    config = {
        "scenario": ["a.toml", "b.toml"],
        "output": "out",
        "machine_file": "m.toml",
        "repetitions": 3,
        "concurrency": 2,
        "timeout": 1.5,
        "only": "rule / off",
        "extend": True,
        "layout": "blind",
        "reference": "plain",
        "rehearse": False,
        "rejudge": ["judge"],
    }
    found = Settings.of(config)
    assert found.scenario == ("a.toml", "b.toml") and found.only == ("rule / off",) and found.rejudge == ("judge",)
    assert found.overrides == {"repetitions": 3, "concurrency": 2, "timeout": 1.5}
    assert Settings.of({"scenario": "a", "overwrite": ["x", "y"]}).overwrite == ("x", "y")


@pytest.mark.parametrize(
    "text", ["1.0", "a: b", "#100% a=b, ~c.", "true", "[x]", "back\\slash\\", 'it\'s "q"', "null", "é模"]
)
def test_any_text_reaches_the_settings_through_the_engines_command_line(text: str) -> None:
    from snakemake.cli import parse_config

    from trysquare.cli.engine import setting

    written = [setting("scenario", text), setting("only", [text]), setting("reference", text), setting("extend", True)]
    found = Settings.of(parse_config([*written, setting("repetitions", 3), setting("layout", "blind")]))
    assert (found.scenario, found.only, found.reference) == ((text,), (text,), text)
    assert (found.extend, found.repetitions, found.layout) == (True, 3, "blind")


def test_the_quoting_a_refusal_shows_is_read_as_the_text() -> None:
    import shlex

    from snakemake.cli import parse_config

    remedy = refusal({"scenario": "a", "only": 1.0}).partition("for the engine: ")[2].rstrip(".")
    assert Settings.of(parse_config(["scenario=a", *shlex.split(remedy)[1:]])).only == ("1.0",)


def test_values_that_arrive_as_text_are_read_as_what_the_key_holds() -> None:
    config = {"scenario": "a", "repetitions": "3", "timeout": "2.5", "extend": "True", "rehearse": "false"}
    found = Settings.of(config)
    assert (found.repetitions, found.timeout, found.extend, found.rehearse) == (3, 2.5, True, False)


@pytest.mark.parametrize(
    ("config", "parts"),
    [
        ({}, ("scenario", "missing", "scenario: exp/rule.toml")),
        ({"scenario": "a", "repetition": 3}, ("unknown key", 'did you mean "repetitions"')),
        ({"scenario": "a", "only": 1.0}, ("only", "found 1.0", "--config 'only=[\"1.0\"]'")),
        ({"scenario": "a", "only": {"a": "b"}}, ("only", '{"a": "b"}', "quote it")),
        ({"scenario": "a", "only": ["x", True]}, ("only", "found true", "quote it")),
        ({"scenario": 3}, ("scenario", "found 3", "quote it")),
        ({"scenario": "a", "repetitions": 0}, ("repetitions", "found 0", "1 or more")),
        ({"scenario": "a", "repetitions": True}, ("repetitions", "found true", "whole number")),
        ({"scenario": "a", "repetitions": 2.5}, ("repetitions", "found 2.5", "whole number")),
        ({"scenario": "a", "concurrency": "many"}, ("concurrency", '"many"', "whole number")),
        ({"scenario": "a", "timeout": -3}, ("timeout", "found -3", "more than 0")),
        ({"scenario": "a", "timeout": "inf"}, ("timeout", '"inf"', "more than 0")),
        ({"scenario": "a", "extend": 1}, ("extend", "found 1", "true or false")),
        ({"scenario": "a", "layout": "flat"}, ("layout", '"flat"', "grouped or blind")),
        ({"scenario": "a", "layout": "blnd"}, ("layout", 'did you mean "blind"')),
        ({"scenario": "a", "output": "a {b}"}, ("output", '"a {b}"', "without them")),
        ({"scenario": "a", "output": "<logs>/x"}, ("output", '"<logs>/x"', "without them")),
        ({"scenario": "a", "output": "~/x"}, ("output", '"~/x"', "write the directory out")),
        ({"scenario": "a", "only": "x", "overwrite": "x"}, ("only", "cannot be given with overwrite")),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_its_key(config: dict[str, Any], parts: tuple[str, ...]) -> None:
    found = refusal(config)
    assert found.startswith("config: ") and all(part in found for part in parts), found


@pytest.mark.parametrize("act", ["overwrite", "rejudge"])
def test_an_act_is_refused_in_a_file_and_taken_from_the_command_line(act: str) -> None:
    config = {"scenario": "a", act: "x"}
    found = refusal(config, {})
    assert act in found and "an act, not a setting" in found and f"--config {act}=" in found
    assert getattr(Settings.of(config, {act: "x"}), act) == ("x",)


def test_every_problem_is_shown_at_once() -> None:
    assert len(refusal({"repetitions": 0, "extend": 3, "ony": 1}).splitlines()) == 4


def test_the_keys_are_the_fields() -> None:
    assert list(KEYS) == [field.name for field in dataclasses.fields(Settings) if field.init]


def test_the_schema_in_the_repository_is_the_one_the_keys_give() -> None:
    assert (ROOT / "workflow/schemas/config.schema.yaml").read_text() == generator.text()


def test_the_schema_is_closed_and_holds_no_act() -> None:
    schema = parse_yaml(generator.text())
    jsonschema.validate({"scenario": ["a", "b"], "repetitions": 3, "layout": "blind", "timeout": 1.5}, schema)
    for wrong in ({"scenario": "a", "x": 1}, {}, {"scenario": "a", "overwrite": "x"}, {"scenario": "a", "extend": "x"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_the_reference_of_the_config_describes_every_key() -> None:
    text = (ROOT / "config/README.md").read_text()
    for name, key in KEYS.items():
        assert f"| `{name}` |" in text and key.description in text, name

"""The workflow config: which scenario to run, under which load, and where to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from trysquare.errors import TrysquareError
from trysquare.outputs.names import PLACEHOLDER
from trysquare.refusals import Refusals, closest, listed, show

Kind = Literal["text", "texts", "whole", "seconds", "flag", "layout"]


class SettingsError(TrysquareError):
    """A workflow config that cannot be used."""


@dataclass(frozen=True)
class Key:
    """One key of the config: what it holds, what it means, and whether it is an act, which a file may not hold."""

    kind: Kind
    description: str
    act: bool = False


KEYS: Mapping[str, Key] = {
    "scenario": Key(
        "texts",
        "path of the scenario, or a list of paths: several matrices in one launch; or a matrix directory to score",
    ),
    "output": Key("text", "directory that holds the matrices"),
    "machine_file": Key(
        "text", "the machine file (default: `trysquare.toml` beside the scenario or above, or in `config/` there)"
    ),
    "repetitions": Key("whole", "measures this many repetitions instead of the scenario's, in a directory of its own"),
    "concurrency": Key("whole", "runs at the same time, instead of the scenario's"),
    "timeout": Key("seconds", "seconds one run may take, instead of the scenario's"),
    "only": Key("texts", "cells to measure; the matrix stays incomplete"),
    "overwrite": Key("texts", "cells whose runs are set aside and measured again", act=True),
    "cell": Key("texts", "cells whose runs the target discard sets aside", act=True),
    "extend": Key("flag", "carry the runs that a smaller matrix of this experiment holds"),
    "layout": Key("layout", "`grouped` (runs/<cell>/<id>) or `blind` (runs/<id>)"),
    "reference": Key("text", "another reference cell for the pages"),
    "rehearse": Key("flag", "play a script instead of asking the provider"),
    "rejudge": Key("texts", "validators of mode judge whose verdicts are bought again", act=True),
}
"""Every key, in the order the reference lists them."""

QUOTED = "--config '{key}=[\"{value}\"]'"
"""How the engine's command line is made to hand over a text that looks like something else: as a list of one."""


@dataclass(frozen=True)
class Settings:
    """The config of one launch; None and empty where nothing is said."""

    scenario: tuple[str, ...]
    output: str = "results"
    machine_file: str | None = None
    repetitions: int | None = None
    concurrency: int | None = None
    timeout: float | None = None
    only: tuple[str, ...] = ()
    overwrite: tuple[str, ...] = ()
    cell: tuple[str, ...] = ()
    extend: bool = False
    layout: str | None = None
    reference: str | None = None
    rehearse: bool = False
    rejudge: tuple[str, ...] = ()
    overrides: Mapping[str, float] = field(init=False, compare=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        named = {name: getattr(self, name) for name in ("repetitions", "concurrency", "timeout")}
        object.__setattr__(self, "overrides", {name: value for name, value in named.items() if value is not None})

    @classmethod
    def of(cls, config: Mapping[str, Any], command_line: Mapping[str, Any] | None = None) -> "Settings":
        """The settings that the engine's config holds.

        `command_line` is the part of it that was given for this launch; acts that are elsewhere come from a file and
        are refused. Values given as text ("3", "true") are read as what the key holds.

        Raises
        ------
        SettingsError
            With one line for each problem.
        """
        refusals = Refusals("config", SettingsError)
        values = {}
        for name, value in config.items():
            if name not in KEYS:
                refusals.add(str(name), f"unknown key{closest(str(name), KEYS)}; the keys are {listed(KEYS)}.")
                continue
            if value is None or value == "" or value == []:
                continue
            if KEYS[name].act and command_line is not None and name not in command_line:
                refusals.add(name, f"is an act, not a setting; take it out of the file and give --config {name}=...")
                continue
            values[name] = _value(name, value, refusals)
        if "scenario" not in values:
            refusals.add("scenario", "missing; write the path of a scenario, for instance scenario: exp/rule.toml.")
        if values.get("only") and values.get("overwrite"):
            refusals.add("only", "cannot be given with overwrite, which already names the cells; give one of the two.")
        _check_output(str(values.get("output", "")), refusals)
        refusals.settle()
        return cls(**values)


def _check_output(output: str, refusals: Refusals) -> None:
    if PLACEHOLDER.search(output):
        refusals.add("output", f"found {show(output)}: the engine fills in braces and <words>; write it without them.")
    if output.startswith("~"):
        refusals.add("output", f"found {show(output)}, where nothing expands the `~`; write the directory out.")


def _value(name: str, value: Any, refusals: Refusals) -> Any:
    kind = KEYS[name].kind
    if isinstance(value, list | tuple) and len(value) == 1 and kind != "texts":
        [value] = value
    if kind == "text":
        return _text(name, value, refusals)
    if kind == "texts":
        items = value if isinstance(value, list | tuple) else [value]
        return tuple(_text(name, item, refusals) for item in items)
    if kind == "flag":
        return _flag(name, value, refusals)
    if kind == "layout":
        if value not in ("grouped", "blind"):
            near = closest(value, ["grouped", "blind"]) if isinstance(value, str) else ""
            refusals.add(name, f"found {show(value)}{near}; write grouped or blind.")
        return value
    return _number(name, value, refusals)


def _text(name: str, value: Any, refusals: Refusals) -> str:
    if isinstance(value, str) and value.strip() and "\0" not in value:
        return value
    if isinstance(value, str) and not value.strip():
        refusals.add(name, f"found {show(value)}, which says nothing; write a value, or leave {name} out.")
        return ""
    plain = value if isinstance(value, str | int | float) else "..."
    refusals.add(
        name, f"found {show(value)}, which is no text; quote it for the engine: {QUOTED.format(key=name, value=plain)}."
    )
    return ""


def _flag(name: str, value: Any, refusals: Refusals) -> bool:
    text = str(value).lower() if isinstance(value, bool | str) else ""
    if text not in ("true", "false"):
        refusals.add(name, f"found {show(value)}; write true or false.")
    return text == "true"


def _number(name: str, value: Any, refusals: Refusals) -> float:
    whole = KEYS[name].kind == "whole"
    text = "" if isinstance(value, bool) or not isinstance(value, int | float | str) else str(value).strip()
    pattern = r"[0-9]{1,9}" if whole else r"[0-9]{1,9}(?:\.[0-9]{1,9})?"
    if not re.fullmatch(pattern, text) or float(text) <= 0:
        what = "a whole number, 1 or more" if whole else "a number of seconds, more than 0"
        refusals.add(name, f"found {show(value)}; write {what}.")
        return 1
    return int(text) if whole else float(text)

"""Values of a machine file: addresses that are paths, addresses that are URLs, and which file is which."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trysquare.errors import TrysquareError

CONFIG_SECTIONS = frozenset({"repos", "defaults", "isolation"})
"""Sections that only a machine file has; `harness` is in both files."""

SCENARIO_SECTIONS = frozenset(
    {"scenario", "task", "agent", "protocol", "axes", "values", "variants", "presets", "validation", "verdict"}
)
"""Sections that only a scenario has."""


class ConfigError(TrysquareError):
    """A machine file that cannot be used, or a name it does not resolve."""


def which_file(raw: Mapping[str, Any]) -> str | None:
    """Which of the two TOML files this is: "config", "scenario", or None when its sections do not say."""
    config, scenario = CONFIG_SECTIONS & raw.keys(), SCENARIO_SECTIONS & raw.keys()
    if bool(config) == bool(scenario):
        return None
    return "config" if config else "scenario"


def is_remote(value: str) -> bool:
    """Whether an address is a git URL (`https http ssh git file`, or scp-like `git@host:path`) and not a directory."""
    if re.match(r"(?:https?|ssh|git|file)://", value):
        return True
    return re.match(r"[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:(?!//)", value) is not None


def expand(value: str, relative_to: Path | None = None) -> Path:
    """A path of a machine file with `~` and `$VAR` expanded, relative ones anchored at `relative_to`.

    Raises
    ------
    ConfigError
        When a variable is not set or a home directory is not known.
    """
    text = os.path.expandvars(value)
    unset = re.search(r"\$(?:\w+|\{[^}]*\})", text)
    if unset:
        raise ConfigError(f"{value!r} uses {unset[0]}, which is not set here; set it, or write the path out.")
    path = Path(os.path.expanduser(text))  # noqa: PTH111 - Path.expanduser raises where this leaves the text alone
    if str(path).startswith("~"):
        raise ConfigError(f"{value!r} starts with a home directory that is not known here; write the path out.")
    return path if relative_to is None or path.is_absolute() else relative_to / path

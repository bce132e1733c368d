"""The scenario language: one TOML file is one experiment, or it is refused before anything is spent.

Importing this package is cheap; the typed models of the file are loaded when a scenario is.
"""

from trysquare.scenario.commands import SHELL_ONLY, ScenarioError, split_command
from trysquare.scenario.loading import load, parse
from trysquare.scenario.model import Cell, Reference, Scenario, Validator

__all__ = [
    "SHELL_ONLY",
    "Cell",
    "Reference",
    "Scenario",
    "ScenarioError",
    "Validator",
    "load",
    "parse",
    "split_command",
]

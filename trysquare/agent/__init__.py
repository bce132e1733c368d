"""The coding agent `pi`: where it is, what it is given, and what it did. No other part of the package knows it.

Everything that could reach the agent unasked is switched off, and each brick of an experiment is handed over by name.
"""

from trysquare.agent.arguments import ambient_thinking, argv, recorded_model, resolves_to, thinking_of
from trysquare.agent.asking import ask
from trysquare.agent.gate import subagent_gate
from trysquare.agent.home import environment, home, secrets
from trysquare.agent.installation import command, version
from trysquare.agent.launch import run, run_until_productive
from trysquare.agent.outcome import Outcome
from trysquare.agent.pages import export_html
from trysquare.agent.space import Space
from trysquare.measure.stream import DISCARDED

__all__ = [
    "DISCARDED",
    "Outcome",
    "Space",
    "ambient_thinking",
    "argv",
    "ask",
    "command",
    "environment",
    "export_html",
    "home",
    "recorded_model",
    "resolves_to",
    "run",
    "run_until_productive",
    "secrets",
    "subagent_gate",
    "thinking_of",
    "version",
]

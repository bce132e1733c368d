"""Agents that cells inject: what is refused before they run, and what is said of them."""

import json
from dataclasses import replace

from tests.matrices import LAUNCHES, matrix, rows
from trysquare import agent, validation
from trysquare.matrix import Blob
from trysquare.synthesis import build


def test_a_cell_that_injects_agents_is_refused_when_they_would_think_at_another_level():
    said = validation.check_thinking_precondition("off", "high", True)
    assert said is not None and "think at high" in said and "declares off" in said and 'thinking = "high"' in said
    assert validation.check_thinking_precondition("high", "high", True) is None
    assert validation.check_thinking_precondition("off", "high", False) is None


def test_the_private_home_has_agents_think_at_the_level_of_their_cell_whatever_the_operator_prefers(
    tmp_path, monkeypatch
):
    (tmp_path / "operator").mkdir()
    (tmp_path / "operator/settings.json").write_text('{"defaultThinkingLevel": "max"}')
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "operator"))
    home = agent.home(tmp_path / "home", "low")
    assert agent.ambient_thinking() == "max"
    assert agent.ambient_thinking(home / "settings.json") == "low"


def test_the_gate_lies_beside_the_names_it_lets_pass(tmp_path):
    gate = agent.subagent_gate(tmp_path / "gate", {"scout": {}, "coder": {}})
    assert gate.name == "subagent-gate.ts" and "tool_call" in gate.read_text()
    assert json.loads((gate.parent / "subagents.json").read_text()) == ["coder", "scout"]


def test_a_page_says_that_what_injected_agents_consume_is_in_no_column():
    plan = matrix()
    crew = replace(plan.cells["rule / off"], agents={"scout.md": Blob("a" * 24)})
    with_agents = replace(plan, cells={**plan.cells, "rule / off": crew})
    warning = "Agents are injected in rule / off, and what these consume is in no column of tokens, turns or cost."
    assert warning in build(with_agents, rows(with_agents), LAUNCHES).warnings
    assert warning not in build(plan, rows(plan), LAUNCHES).warnings

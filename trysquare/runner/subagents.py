"""Refusals about the agents that cells inject, and what a launch says about them."""

from collections.abc import Iterator, Mapping

from trysquare.matrix import CellPlan, Matrix
from trysquare.refusals import listed, show
from trysquare.repo.agents import settle
from trysquare.scenario import Scenario, ScenarioError


def refuse_other_thinking(scenario: Scenario, cells: Mapping[str, CellPlan], bricks: Mapping[str, bytes]) -> None:
    """Refuse cells whose agents would think at another level than the cell declares.

    Where an agent's model carries no level it runs at the default of the private home, which is the level of the cell.

    Raises
    ------
    ScenarioError
        With one line for each cell.
    """
    from trysquare.agent import thinking_of
    from trysquare.validation import check_thinking_precondition

    problems = []
    for cell in cells.values():
        for model in _models(cell, bricks):
            ambient = thinking_of(model) or cell.thinking
            problem = check_thinking_precondition(cell.thinking, ambient, uses_subagents=True)
            if problem:
                problems.append(f"{scenario.path}: the cell {show(cell.name)} injects agents: {problem}")
                break
    if problems:
        raise ScenarioError("\n".join(problems))


def _models(cell: CellPlan, bricks: Mapping[str, bytes]) -> Iterator[str]:
    """The model of each agent a cell injects, as it is written into the definition."""
    for path, blob in cell.agents.items():
        if path.endswith(".md"):
            _, settled = settle(bricks[blob.digest], path)
            yield str(settled["model"])


def unpriced_note(matrix: Matrix) -> list[str]:
    """What a launch says of cells whose agents start others: no column holds what those consume."""
    cells = [cell.name for cell in matrix.cells.values() if cell.agents]
    if not cells:
        return []
    return [f"AGENTS: {listed(cells)}: tokens and turns are the agent's own, without those of the agents it starts"]


def unstarted_note(matrix: Matrix) -> list[str]:
    """What a launch says of cells whose agents nothing can start: only an extension brings a tool for it."""
    if not matrix.unstarted:
        return []
    return [
        f"AGENTS: {listed(matrix.unstarted)}: nothing tells the model of the agents injected; "
        f"{matrix.agent.kind} has no tool of its own that starts agents: add an extension that brings one"
    ]

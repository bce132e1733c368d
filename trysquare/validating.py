"""Everything a launch refuses, without launching anything; on request one prompt to each model."""

import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from trysquare import agent, runner
from trysquare.errors import AgentError
from trysquare.refusals import Gathering
from trysquare.scenario import ScenarioError

PROMPT = "Answer with one word: ready."
PATIENCE = 120.0
"""Seconds a model may take to answer."""


def check(scenario: Path, output: str | None = None) -> runner.Plan:
    """The plan of a scenario that a launch would accept; what is elsewhere is pinned, as a launch does.

    Raises
    ------
    TrysquareError
        With every refusal a launch would make.
    """
    config = {"scenario": str(scenario)} | ({} if output is None else {"output": output})
    [plan] = runner.resolve_all(runner.Settings.of(config))
    gathering = Gathering()
    for refuse in (runner.refuse_foreign, runner.refuse_measured, runner.refuse_inherited_context):
        with gathering.part():
            refuse(plan)
    with gathering.part():
        runner.refuse_unusable_places(plan, tried=True)
        plan = runner.settle(plan)
    with gathering.part():
        agent.version()
    gathering.settle(ScenarioError)
    return plan


def described(plan: runner.Plan) -> list[str]:
    """What a launch would print before it spends anything, and that it would be accepted."""
    return [*runner.header(plan), f"{plan.scenario.path}: valid; nothing was measured"]


def ping(plan: runner.Plan) -> Iterator[str]:
    """Send one short prompt to each model a run would ask; a line for each that answers.

    Raises
    ------
    AgentError
        Once all were asked, with a line for each that did not answer as declared.
    """
    silent = []
    for provider, model, thinking in _models(plan):
        with tempfile.TemporaryDirectory(prefix="trysquare-ping-") as place:
            outcome = _ask(plan, Path(place), provider, model, thinking)
        if not outcome.produced_something:
            silent.append(f"{provider} {model}: does not answer ({outcome.detail}); correct it, or log the agent in.")
        elif outcome.model is None or not agent.resolves_to(model, outcome.model):
            silent.append(
                f"{provider} {model}: {outcome.model} answered; write its id, or a pattern that is part of it."
            )
        else:
            yield f"{provider} {model}: {outcome.model} answered in {outcome.duration:.1f} s"
    if silent:
        raise AgentError("\n".join(silent))


def _models(plan: runner.Plan) -> list[tuple[str, str, str]]:
    """Provider, model and thinking level of the measured agent and, where no script plays them, of each judge."""
    asked, rehearsed = plan.scenario.agent, plan.matrix.rehearsal is not None
    found = {(asked.provider, asked.model): asked.thinking}
    for judge in [each.config for each in plan.scenario.validators if each.mode == "judge" and not rehearsed]:
        found.setdefault((judge["provider"], judge["model"]), judge["thinking"])
    return [(*names, thinking) for names, thinking in found.items()]


def _ask(plan: runner.Plan, place: Path, provider: str, model: str, thinking: str) -> agent.Outcome:
    tree, sessions = place / "tree", place / "session"
    tree.mkdir()
    sessions.mkdir()
    with _scripted(plan, place) as scripted:
        offered = None if scripted is None else scripted.models(model)
        home = agent.home(place / "home", thinking, offered)
        return agent.run(
            tree,
            agent.argv(PROMPT, provider if offered is None else "rehearsal", model, thinking, sessions),
            PATIENCE,
            place / "trace.jsonl",
            ceiling=plan.matrix.protocol.stream_limit,
            env=agent.environment(home, offered),
        )


def _scripted(plan: runner.Plan, place: Path) -> AbstractContextManager[Any]:
    if plan.matrix.rehearsal is None:
        return nullcontext()
    from trysquare import rehearsal

    script = rehearsal.Script.parse(plan.bricks[plan.matrix.rehearsal.script].decode())
    cell = next(iter(plan.matrix.cells))
    return rehearsal.Provider(script, cell, 0, log=place / "requests.jsonl", run="ping")

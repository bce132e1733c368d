"""Running a judge: a pinned agent call that must end in one call of the tool `verdict`."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from trysquare import agent
from trysquare.files import write_text
from trysquare.measure.stream import counted, events
from trysquare.validation.dossier import INSTRUCTIONS, keys
from trysquare.validation.result import Result

TOOL = "verdict"
EXTENSION = Path(__file__).parents[1] / "judge-tool.ts"
"""The extension that registers the tool."""

FIELDS = "TRYSQUARE_VERDICT"
"""The variable by which the extension learns the metrics."""


class Judge(Protocol):
    """What running a judge takes of a validator; `config` holds `provider`, `model` and `thinking`."""

    @property
    def mode(self) -> str: ...  # noqa: D102

    @property
    def metrics(self) -> Sequence[str]: ...  # noqa: D102

    @property
    def config(self) -> Mapping[str, Any]: ...  # noqa: D102


@dataclass(frozen=True)
class Launch:
    """One launch of a judge: its sessions, what it used, how long it took in seconds, and what came of it in a line."""

    sessions: tuple[Path, ...]
    usage: Mapping[str, Any]
    duration: float
    detail: str
    stderr: str
    model: str | None


@dataclass(frozen=True)
class Judgement:
    """What a judge came to, and every launch that took; the last one gave the verdict, if there is one."""

    result: Result
    launches: tuple[Launch, ...]


def run_judge(
    validator: Judge,
    directory: str | Path,
    prompt: str,
    brick: str | Path,
    timeout: float,
    trace: str | Path,
    attempts: int = 1,
    ceiling: int | None = None,
) -> Result:
    """Run a judge in an empty directory, at most `attempts` times while there is no usable verdict, and read it back.

    Parameters
    ----------
    directory, prompt
        As `judge_dossier` returns them.
    brick
        The extension that registers the tool, `EXTENSION`.
    timeout : float
        Seconds for one launch.
    trace
        Where the stream goes; homes and sessions are made beside it.
    """
    limits = Limits(timeout, attempts, ceiling)
    return call_judge(validator, Path(directory), prompt, Path(trace), limits, Setting(brick=brick)).result


@dataclass(frozen=True)
class Limits:
    """Seconds and launches a judge may take, and the bytes its stream may have."""

    timeout: float
    attempts: int = 1
    ceiling: int | None = None


@dataclass(frozen=True)
class Setting:
    """What a judge is called with beside its question.

    `brick` is the extension that registers the tool, `offered` are the models of a rehearsal's provider. `failed` is
    called with each launch that gave no verdict, as it ends.
    """

    brick: str | Path = EXTENSION
    offered: Mapping[str, Any] | None = None
    failed: Callable[[Launch], object] | None = None


def call_judge(validator: Judge, room: Path, prompt: str, trace: Path, limits: Limits, setting: Setting) -> Judgement:
    """Run a judge as `run_judge` does, and tell every launch."""
    config, work = validator.config, trace.absolute().parent
    question = work / "dossier.md"
    write_text(question, prompt)
    env, offered = _environment(work / "home", validator, setting.offered), setting.offered
    provider = config["provider"] if offered is None else next(iter(offered["providers"]))
    launches: list[Launch] = []
    for attempt in range(1, limits.attempts + 1):
        sessions = work / f"session-{attempt}"
        sessions.mkdir()
        model = (provider, config["model"], config["thinking"])
        told = agent.ask(question, INSTRUCTIONS, model, sessions, (TOOL, Path(setting.brick)))
        outcome = agent.run(room, told, limits.timeout, trace, limits.ceiling, env=env)
        found = sorted(sessions.glob("*.jsonl"))
        verdict = read_verdict(
            (path.read_text(encoding="utf-8", errors="replace") for path in found), validator.metrics
        )
        problem = _problem(verdict, outcome, config["model"])
        launches.append(Launch(tuple(found), outcome.usage, outcome.duration, problem, outcome.stderr, outcome.model))
        if verdict is not None and not problem:
            return Judgement(Result(validator.mode, verdict, _log(launches)), tuple(launches))
        if setting.failed is not None:
            setting.failed(launches[-1])
        if verdict is not None or outcome.signalled or outcome.overflowed:
            break
    detail = f"{launches[-1].detail} ({counted(len(launches), 'launch', 'launches')})"
    return Judgement(Result(validator.mode, None, _log(launches), detail), tuple(launches))


def _environment(home: Path, validator: Judge, offered: Mapping[str, Any] | None) -> dict[str, str]:
    agent.home(home, validator.config["thinking"], offered)
    fields = [{"key": key, "metric": metric} for metric, key in keys(validator.metrics).items()]
    return {**agent.environment(home, offered), FIELDS: json.dumps(fields)}


def _problem(verdict: Mapping[str, Any] | None, outcome: agent.Outcome, asked: str) -> str:
    """Why a launch gave no usable verdict, empty when it gave one."""
    if verdict is None:
        return outcome.detail or f"the judge never called the tool `{TOOL}` with a verdict"
    if outcome.model is not None and not agent.resolves_to(asked, outcome.model):
        return f"{outcome.model} answered where {asked} was asked for"
    return ""


def _log(launches: Iterable[Launch]) -> str:
    said = [
        (f"launch {number}: {each.detail or 'a verdict'}", each.stderr.strip())
        for number, each in enumerate(launches, 1)
    ]
    return "".join(f"{line}\n" for pair in said for line in pair if line)


def read_verdict(sessions: Iterable[str], metrics: Sequence[str]) -> dict[str, Any] | None:
    """The first verdict that the tool accepted, from the text of session files; None when there is none."""
    for session in sessions:
        calls: dict[str, Any] = {}
        for entry in events(session):
            message = entry.get("message")
            if not isinstance(message, Mapping):
                continue
            if message.get("role") == "assistant":
                calls |= dict(_calls(message.get("content")))
            elif message.get("role") == "toolResult" and message.get("isError") is False:
                verdict = _verdict(calls.get(str(message.get("toolCallId"))), metrics)
                if verdict is not None:
                    return verdict
    return None


def _calls(content: Any) -> Iterable[tuple[str, Any]]:
    for block in content if isinstance(content, list) else []:
        if isinstance(block, Mapping) and block.get("type") == "toolCall" and block.get("name") == TOOL:
            yield str(block.get("id")), block.get("arguments")


def _verdict(arguments: Any, metrics: Sequence[str]) -> dict[str, Any] | None:
    """What the arguments of one call say, None when that is no verdict on every metric."""
    answers = {
        metric: answer
        for metric, key in keys(metrics).items()
        if isinstance(arguments, Mapping) and isinstance(answer := arguments.get(key), Mapping) and _sound(answer)
    }
    if len(answers) < len(metrics):
        return None
    return {
        "metrics": {metric: answer["value"] for metric, answer in answers.items()},
        "reasons": {metric: answer["reason"] for metric, answer in answers.items()},
        "unjudged": {},
    }


def _sound(answer: Mapping[str, Any]) -> bool:
    value, reason = answer.get("value"), answer.get("reason")
    held = isinstance(value, bool) or (isinstance(value, int | float) and math.isfinite(value))
    return held and isinstance(reason, str) and bool(reason.strip())

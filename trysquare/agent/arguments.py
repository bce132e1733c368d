"""What the agent is told to do, and what a session says it did it with."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from trysquare.agent.home import SETTINGS, operator_home
from trysquare.errors import AgentError
from trysquare.measure.stream import models

PI = "pi"
LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
DEFAULT_LEVEL = "medium"

# The kernel's bound on one argument, its final zero byte included.
_LONGEST = 32 * 4096


def argv(
    prompt: str,
    provider: str,
    model: str,
    thinking: str,
    session_dir: str | Path,
    extensions: Sequence[str | Path] | None = None,
    skills: Sequence[str | Path] | None = None,
    has_context: bool = False,
) -> list[str]:
    """The whole argument list of one run; `run` puts the installed agent in the place of `pi`.

    Project files are trusted (a fresh clone never is, and would lose its `.pi` silently); skills, templates, extensions
    and MCP servers are not looked for, context files only when `has_context`. `session_dir` is made absolute.

    Raises
    ------
    AgentError
        When the prompt cannot be an argument.
    """
    told = ["-p", "--mode", "json", "--provider", provider, "--model", model]
    told += ["--session-dir", str(Path(session_dir).absolute()), "-a", "-ns", "-np", "-ne", "--thinking", thinking]
    told += [] if has_context else ["-nc"]
    for flag, paths in (("-e", extensions), ("--skill", skills)):
        for path in paths or ():
            told += [flag, str(path)]
    return [PI, *told, *_as_text(prompt)]


def _as_text(prompt: str) -> list[str]:
    size = len(prompt.encode("utf-8", "surrogateescape"))
    if size >= _LONGEST - 1 or "\0" in prompt:
        raise AgentError(
            f"the prompt has {size} bytes and {'a' if chr(0) in prompt else 'no'} zero byte: "
            f"write one of less than {_LONGEST - 1} bytes without, and let the agent read the rest from a file."
        )
    if prompt.startswith("@"):
        # The agent attaches a file for an argument that begins with @, after `--` too.
        return ["\n" + prompt]
    return ["--", prompt] if prompt.startswith("-") else [prompt]


def resolves_to(declared: str, ran: str) -> bool:
    """Whether the model that ran is one the declared pattern names.

    A pattern is part of an id: `gemma-4` ran as `gemma-4-31b`. A `provider/` before either, and a thinking level after
    the pattern (`:high`), say nothing about the model.
    """
    level = thinking_of(declared)
    pattern = declared if level is None else declared.removesuffix(f":{level}")
    wanted, answered = (name.rpartition("/")[2].lower() for name in (pattern, ran))
    return bool(wanted) and wanted in answered


def thinking_of(pattern: str) -> str | None:
    """The thinking level that a pattern of a model carries (`gemma-4:high`), if any."""
    name, _, level = pattern.rpartition(":")
    return level if name and level in LEVELS else None


def recorded_model(sessions: Iterable[Path]) -> str | None:
    """The model id the last of the session files recorded; None, never the declared pattern, when they do not say."""
    found = [models(path.read_text(encoding="utf-8", errors="replace")) for path in sessions]
    return found[-1][-1] if found and found[-1] else None


def ambient_thinking(settings: Path | None = None) -> str:
    """The level subagents run at under a settings file: that of a home made by `home`, by default the operator's."""
    path = operator_home() / SETTINGS if settings is None else settings
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return DEFAULT_LEVEL
    except ValueError:
        raise AgentError(f"{path} is not readable JSON: correct it, the agent could not read it either.") from None
    level = found.get("defaultThinkingLevel") if isinstance(found, dict) else None
    return level if isinstance(level, str) else DEFAULT_LEVEL

"""What the archived session says of the agent's doings."""

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from trysquare.assay.metrics import CannotJudge
from trysquare.assay.shell import leaves_sources_alone

WRITERS = frozenset({"edit", "write"})
READERS = frozenset({"find", "grep", "ls", "read", "tool_search", "verdict"})
SHELL = "bash"
OPAQUE = frozenset({SHELL, "codemode", "powershell", "subagent"})
"""Tools whose failure does not undo what they wrote before."""

SKILL = r'(?s)<skill name="([^"]+)" location="[^"]+">\n.*?\n</skill>(?:\n\n|\Z)'


class ToolCall(NamedTuple):
    """One call the agent made, as the archived session recorded it.

    `failed` is None when the session ends before the result of the call. `cwd` is the directory the agent worked in,
    which absolute paths in `arguments` are below.
    """

    name: str
    arguments: Mapping[str, Any] = MappingProxyType({})
    failed: bool | None = False
    cwd: str = ""

    def __hash__(self) -> int:
        return hash((self.name, self.failed))

    def wrote(self, path: str) -> bool:
        """Whether this call wrote the file `path`, relative to the tree. A failed call never counts.

        Raises
        ------
        CannotJudge
            When it may have and the record cannot tell: a shell command that is not plainly reading, a subagent, a
            call without result, a tool this version does not know.
        """
        return wrote(self, path)


def wrote(call: ToolCall, path: str, suite: Sequence[str] = ()) -> bool:
    """`ToolCall.wrote`, knowing the words of the declared test command."""
    if call.name in READERS or (call.failed and call.name not in OPAQUE):
        return False
    if call.name == SHELL and leaves_sources_alone(str(call.arguments.get("command", "")), suite):
        return False
    if call.name not in WRITERS:
        known = (
            "may have written" if call.name in OPAQUE else "is a tool this version does not know and may have written"
        )
        raise CannotJudge(f"{_shown(call)} {known} {path}, and the session does not say")
    if not _same(call, path):
        return False
    if call.failed is None:
        raise CannotJudge(f"{_shown(call)} has no result in the session: whether it wrote {path} is unknown")
    return True


def _same(call: ToolCall, path: str) -> bool:
    target = call.arguments.get("path")
    if not isinstance(target, str):
        raise CannotJudge(f"{_shown(call)} names no path, so what it wrote is unknown")
    target = target.removeprefix("@")
    if posixpath.isabs(target) and not call.cwd and not posixpath.isabs(path):
        raise CannotJudge(f"{_shown(call)} names {target}, and the session does not say where the tree was")
    return _placed(call.cwd, target) == _placed(call.cwd, path)


def _placed(cwd: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(cwd, path))


def _shown(call: ToolCall) -> str:
    command = call.arguments.get("command")
    return (
        f"the call of {call.name} `{' '.join(command.split())[:80]}`"
        if isinstance(command, str)
        else f"a call of {call.name}"
    )


def measured(directory: Path) -> list[dict[str, Any]]:
    """The entries of the session that was measured: of several attempts, the one that started last.

    Raises
    ------
    CannotJudge
        When there is no session, or it is damaged.
    """
    sessions = [list(_entries(path)) for path in sorted(directory.glob("*.jsonl"))]
    if not any(sessions):
        raise CannotJudge(f"{directory} holds no session: nothing about the agent's process can be read")
    return max((entries for entries in sessions if entries), key=lambda entries: str(entries[0].get("timestamp", "")))


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except ValueError:
            if number == len(lines):
                return
            raise CannotJudge(f"line {number} of {path} is damaged: the session cannot be read") from None
        if isinstance(entry, dict):
            yield entry


def _messages(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        message = entry.get("message")
        if entry.get("type") == "message" and isinstance(message, dict):
            yield message


def _blocks(message: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return [block for block in blocks if isinstance(block, dict) and block.get("type") == kind]


def tool_calls(entries: list[dict[str, Any]]) -> list[ToolCall]:
    """Every call of a session in the order they were made; those of a message that broke off were never run."""
    cwd = str(entries[0].get("cwd", ""))
    calls: list[ToolCall] = []
    waiting: dict[Any, int] = {}
    for message in _messages(entries):
        role = message.get("role")
        if role == "assistant" and message.get("stopReason") not in ("error", "aborted"):
            for block in _blocks(message, "toolCall"):
                waiting[block.get("id")] = len(calls)
                arguments = block.get("arguments")
                calls.append(
                    ToolCall(str(block.get("name")), arguments if isinstance(arguments, dict) else {}, None, cwd)
                )
        elif role == "toolResult":
            name, failed = str(message.get("toolName")), message.get("isError") is True
            index = waiting.pop(message.get("toolCallId"), None)
            if index is None:
                calls.append(ToolCall(name, {}, failed, cwd))
            else:
                calls[index] = ToolCall(name, calls[index].arguments, failed, cwd)
    return calls


def skills_expanded(entries: list[dict[str, Any]]) -> tuple[str, ...]:
    """The skills whose body opens the first user message, in order."""
    first = next((message for message in _messages(entries) if message.get("role") == "user"), None)
    if first is None:
        raise CannotJudge("the session holds no user message: which skills the prompt carried is unknown")
    text = "".join(str(block.get("text", "")) for block in _blocks(first, "text"))
    names: list[str] = []
    while found := re.match(SKILL, text):
        names.append(found[1])
        text = text[found.end() :]
    return tuple(names)

"""Reading what the agent says: its event stream, and the session files it keeps.

The stream has no size anybody controls, so nothing here holds more than one line of it, and no content makes it fail.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

LINE_LIMIT = 8 * 1024 * 1024
"""Bytes a line may have and still be read as an event."""

DISCARDED = (b'{"type":"message_update"', b'{"type":"tool_execution_update"')
"""How the lines begin that nothing reads: each repeats all that was said so far, to add a few characters."""

Event = Mapping[str, Any]

_FAILED = ("error", "aborted")
_COUNTED = ("input", "output", "cacheRead", "cacheWrite")
_ABSURD = 1e15


def bounded(handle: IO[bytes]) -> Iterator[bytes]:
    r"""Every line of a binary stream, cut after `\n` alone; one longer than `LINE_LIMIT` is dropped whole."""
    while chunk := handle.readline(LINE_LIMIT + 1):
        if chunk.endswith(b"\n") or len(chunk) <= LINE_LIMIT:
            yield chunk
            continue
        while chunk and not chunk.endswith(b"\n"):
            chunk = handle.readline(LINE_LIMIT)


def decoded(lines: Iterable[bytes | str]) -> Iterator[dict[str, Any]]:
    """Every JSON object among the lines; what is none, a torn last line for instance, is passed over."""
    for line in lines:
        if isinstance(line, bytes):
            if line.startswith(DISCARDED):
                continue
            line = line.strip().decode("utf-8", "replace")
        line = line.strip()
        if not line.startswith("{"):
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def events(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object of a text that is small enough to be held, such as a session."""
    return decoded(text.split("\n"))


def one_line(text: str) -> str:
    """The text with every run of white space made one space."""
    return " ".join(text.split())


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """A count and its noun: `1 run`, `0 runs`, `2 passes` when the plural is given."""
    return f"{n} {noun if n == 1 else plural or noun + 's'}"


def first_few(names: Sequence[str], most: int = 3) -> str:
    """Several names, of which the first few stand for many: `a, b, c and 9 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True)
class Reading:
    """What one stream is worth.

    `usage` holds input, output, cacheRead, cacheWrite (tokens), turns, retries (None when unknown) and cost;
    `response` the text of the last assistant message that has any; `error` the first error, in one line; `gave_up` the
    error the last assistant message ended on, empty when it ended otherwise; `model` the id that answered last;
    `aborted` whether that last message was broken off on request.
    """

    usage: dict[str, Any]
    response: str
    error: str
    gave_up: str = ""
    model: str | None = None
    aborted: bool = False


class Fold:
    """The sums, lasts and firsts of a stream, one event at a time.

    A turn is the end of an assistant message that was billed for anything: without that condition a provider that
    serves nothing still makes turns. Retries belong beside the numbers, for each replays the whole context.
    """

    def __init__(self) -> None:
        self._sums: dict[str, Any] = dict.fromkeys(_COUNTED, 0)
        self._turns = self._retries = 0
        self._cost: float = 0
        self._response = self._error = self._gave_up = ""
        self._model: str | None = None
        self._aborted = False

    def add(self, event: Event) -> None:
        """Take one event of the stream."""
        kind = event.get("type")
        if kind == "message_end":
            self.add_message(event.get("message"))
        elif kind == "auto_retry_start":
            self._retries += 1
            self._note_error(event.get("errorMessage"))
        elif kind == "model_change":
            self._model = _text(event.get("modelId")) or self._model

    def add_message(self, message: Any) -> None:
        """Take one complete message, whoever wrote it."""
        if not isinstance(message, Mapping) or message.get("role") != "assistant":
            return
        usage = message.get("usage")
        if isinstance(usage, Mapping):
            self._add_usage(usage)
        self._response = _prose(message.get("content")) or self._response
        self._model = _text(message.get("model")) or self._model
        reason = message.get("stopReason")
        self._gave_up, self._aborted = "", reason == "aborted"
        if reason in _FAILED:
            said = one_line(_text(message.get("errorMessage")))
            self._gave_up = said or f"the provider's answer ended with {reason}"
            self._note_error(self._gave_up)

    @property
    def reading(self) -> Reading:
        """What the events so far are worth."""
        usage = {**self._sums, "turns": self._turns, "retries": self._retries, "cost": self._cost}
        return Reading(usage, self._response, self._error, self._gave_up, self._model, self._aborted)

    def _add_usage(self, usage: Event) -> None:
        counts = {name: _number(usage.get(name)) for name in _COUNTED}
        for name, count in counts.items():
            self._sums[name] += count
        cost = usage.get("cost")
        self._cost += _number(cost.get("total") if isinstance(cost, Mapping) else cost)
        self._turns += any(counts[name] for name in ("input", "output", "cacheRead"))

    def _note_error(self, said: Any) -> None:
        self._error = self._error or one_line(_text(said))


def read(stream: Iterable[Event]) -> Reading:
    """What a whole stream of events is worth."""
    fold = Fold()
    for event in stream:
        fold.add(event)
    return fold.reading


def read_file(path: str | Path) -> Reading:
    """What a stream on disk is worth, holding one line at a time; an absent file is an empty stream."""
    try:
        with Path(path).open("rb") as handle:
            return read(decoded(bounded(handle)))
    except FileNotFoundError:
        return read(())


def strip_session(session: str) -> dict[str, Any]:
    """The usage of an archived session, as its stream gave it; `retries` is None, for a session does not hold them."""
    fold = Fold()
    for entry in events(session):
        if entry.get("type") == "message":
            fold.add_message(entry.get("message"))
    return {**fold.reading.usage, "retries": None}


def thinking_levels(session: str) -> list[str]:
    """Every thinking level a session recorded, in order, without immediate repetitions."""
    return _succession(session, "thinking_level_change", "thinkingLevel", "thinkingLevel")


def models(session: str) -> list[str]:
    """The id of every model a session recorded, in order, without immediate repetitions."""
    return _succession(session, "model_change", "modelId", "model")


def final_text(stream: str) -> str:
    """The text of the last assistant message that has any, from a stream held in memory."""
    return read(events(stream)).response


def consumed_tokens(usage: Mapping[str, Any]) -> bool:
    """Whether anything was measured: turns, output, and input of any kind (a cached prompt has `input` 0)."""
    sent = sum(usage.get(name) or 0 for name in ("input", "cacheRead", "cacheWrite"))
    return bool(usage.get("turns") and usage.get("output") and sent)


def _succession(session: str, change: str, key: str, of_message: str) -> list[str]:
    found: list[str] = []
    for entry in events(session):
        message = entry.get("message")
        value = ""
        if entry.get("type") == change:
            value = _text(entry.get(key))
        elif isinstance(message, Mapping) and message.get("role") == "assistant":
            value = _text(message.get(of_message))
        if value and value not in found[-1:]:
            found.append(value)
    return found


def _prose(content: Any) -> str:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    blocks = content if isinstance(content, list) else []
    texts = [_text(block.get("text")) for block in blocks if isinstance(block, Mapping) and block.get("type") == "text"]
    return "\n".join(text for text in texts if text.strip())


def _text(value: Any) -> str:
    # The halves of a character that was cut in two can be in JSON, but in no file.
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(value, str) else ""


def _number(value: Any) -> int | float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _ABSURD else 0

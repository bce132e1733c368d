"""Signs of life: one small file per run under way, written by its job, without locks, read by whoever watches."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trysquare.layout import Layout
from trysquare.matrix import RunPlan
from trysquare.measure.stream import Fold

THROTTLE = 1.0
"""Seconds between two writes, unless a message or a tool call ended or began."""

SILENT = 30.0
"""Seconds without a sign of life after which a run is called silent."""

NOTABLE = ("message_end", "tool_execution_start", "auto_retry_start")


@dataclass(frozen=True)
class Beat:
    """The last sign of life of one run; `tool` is the name of its last tool call, `started` seconds since the epoch."""

    id: str
    cell: str
    repetition: int
    started: float
    turns: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tool: str = ""


class Heart:
    """Writes the signs of life of one run, for the length of a `with`; to be called with every event of its agent.

    What goes wrong is said once and harms nothing.
    """

    def __init__(self, layout: Layout, run: RunPlan) -> None:
        self._path = layout.heartbeat(run.id)
        self._beat: dict[str, Any] = asdict(Beat(run.id, run.cell, run.repetition, time.time()))
        self._fold = Fold()
        self._written = 0.0
        self._broken = False

    def __enter__(self) -> "Heart":
        self._write()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            self._fail(error)

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Take one event of the agent's stream."""
        try:
            self._fold.add(event)
            if event.get("type") == "tool_execution_start":
                self._beat["tool"] = str(event.get("toolName"))[:100]
            if event.get("type") in NOTABLE or time.monotonic() - self._written >= THROTTLE:
                self._write()
        except Exception as error:
            self._fail(error)

    def _write(self) -> None:
        if self._broken:
            return
        self._written = time.monotonic()
        usage = self._fold.reading.usage
        sent = usage["input"] + usage["cacheRead"] + usage["cacheWrite"]
        self._beat |= {"turns": usage["turns"], "tokens_in": sent, "tokens_out": usage["output"]}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            neighbour = self._path.with_name(f".{self._path.name}.{os.getpid()}")
            neighbour.write_text(json.dumps(self._beat), encoding="utf-8", errors="replace")
            neighbour.replace(self._path)
        except OSError as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        if not self._broken:
            self._broken = True
            print(f"NOTE: the signs of life of this run cannot be written ({error}); the run goes on.", flush=True)


def beats(layout: Layout) -> Iterator[tuple[Beat, float]]:
    """The last sign of life of every run under way, and the seconds since; what is not readable is passed over."""
    for path in sorted(layout.live.glob("*.json")):
        found = _beat(path)
        if found is not None:
            yield found


def _beat(path: Path) -> tuple[Beat, float] | None:
    try:
        age = max(0.0, time.time() - path.stat().st_mtime)
        beat = Beat(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    texts, numbers = (beat.id, beat.cell, beat.tool), (beat.started, beat.turns, beat.tokens_in, beat.tokens_out)
    sound = all(isinstance(text, str) for text in texts) and all(isinstance(each, int | float) for each in numbers)
    return (beat, age) if sound and path.stem == beat.id else None

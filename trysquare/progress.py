"""A bar for work people wait for, and an honest estimate of what is left."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

OFF = "TRYSQUARE_NO_PROGRESS"
"""Set to anything but nothing or 0, this variable turns the bar off. It changes nothing that is measured."""


WIDTH = 24
"""Columns of the bar itself."""


@dataclass(frozen=True)
class Segment:
    """A part of the line a bar is; where the terminal is narrow, the parts of the smallest `weight` go first."""

    text: str
    weight: int


def fitted(segments: Sequence[Segment], width: int) -> str:
    """The heaviest segments that fit side by side, in their order, cut to the width when even one does not."""
    left = [segment for segment in segments if segment.text]
    while len(left) > 1 and sum(len(segment.text) + 2 for segment in left) - 2 > width:
        left.remove(min(left, key=lambda segment: segment.weight))
    return "  ".join(segment.text for segment in left)[: max(width, 0)]


def eta_seconds(completed: int, total: int, elapsed: float) -> float | None:
    """Seconds left at the throughput since launch, or None before the first completion.

    On a saturated pool of workers this is exact where a recent rate swings: runs of ten minutes complete nothing at
    all within most windows a recent rate would look at.
    """
    if completed <= 0 or elapsed < 0:
        return None
    return max(total - completed, 0) * elapsed / completed


def clock(seconds: float | None) -> str:
    """A duration at the scale it is read at: `42s`, `7m 05s`, `1h 12m`; `-` when unknown."""
    if seconds is None:
        return "-"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02}m"


def wanted(stream: TextIO | None = None, no_progress: bool = False) -> bool:
    """Whether to draw a bar: on a terminal that can move its cursor, unless turned off."""
    stream = sys.stdout if stream is None else stream
    if no_progress or os.environ.get(OFF, "0") not in ("", "0") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


class Bar:
    """A counter being advanced and a print that survives it; without a terminal, only the print."""

    def __init__(self, progress: "Progress | None" = None, task_id: "TaskID | None" = None) -> None:
        self._progress = progress
        self._task = task_id

    def tick(self, step: int = 1) -> None:
        """Advance the bar; going past the total is allowed."""
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task, step)

    def show(self, completed: int, total: int, note: Callable[[], Sequence[Segment]] = tuple) -> None:
        """Set the bar outright, and what is asked for its further segments each time it is drawn."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=completed, total=total, note=note)

    def line(self, text: str = "") -> None:
        """Write one line above the bar, or straight out when there is none."""
        if self._progress is None:
            print(text, flush=True)
        else:
            self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def warn(self, text: str) -> None:
        """The same for standard error; with a bar both streams are the one terminal it owns."""
        if self._progress is None:
            print(text, file=sys.stderr, flush=True)
        else:
            self.line(text)


@contextmanager
def bar(total: int, label: str, enabled: bool = True) -> Iterator[Bar]:
    """A bar pinned to the bottom of the terminal for the length of the block, or one that only prints."""
    if not enabled:
        yield Bar()
        return
    started, close = start(total, label)
    try:
        yield started
    finally:
        close()


def start(total: int, label: str) -> tuple[Bar, Callable[[], None]]:
    """A bar that is drawn until the returned function is called, or until the process leaves by its hard exit."""
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, Task
    from rich.table import Column
    from rich.text import Text

    from trysquare import interrupt

    console = Console(file=sys.stderr)

    class Line(ProgressColumn):
        """All of the bar as one line that is never wider than the terminal."""

        def render(self, task: Task) -> Text:
            done, planned = int(task.completed), int(task.total or 0)
            own = [
                Segment(task.description, 1),
                Segment(drawn(done, planned, console.encoding), 2),
                Segment(f"{done}/{planned}", 9),
            ]
            return Text(fitted([*own, *task.fields["note"]()], console.width - 1), no_wrap=True, overflow="crop")

    line = Line(table_column=Column(no_wrap=True))
    progress = Progress(line, console=console, transient=True, refresh_per_second=4)
    task = progress.add_task(label, total=total, note=tuple)
    progress.start()
    interrupt.on_hard_exit(progress.stop)
    return Bar(progress, task), progress.stop


def drawn(completed: int, total: int, encoding: str = "utf-8") -> str:
    """The bar itself, in characters that the encoding has."""
    full, empty = "━─" if encoding.lower().startswith("utf") else "#-"
    filled = WIDTH * min(completed, total) // total if total > 0 else 0
    return full * filled + empty * (WIDTH - filled)

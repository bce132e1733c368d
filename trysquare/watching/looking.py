"""What a page says of a matrix that is being measured: counts, and who is alive. No median, no verdict."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from trysquare import locks
from trysquare.collecting import State, derive, status_line
from trysquare.errors import TrysquareError
from trysquare.files import digest
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.watching.heartbeat import SILENT, Beat, beats

REST = 10.0
"""How many times as long as the last look at every record took, the next one is put off."""

SOONEST = 2.0
"""Seconds between two looks at every record, at least."""


@dataclass(frozen=True)
class CellView:
    """How many runs of a cell are in which state; `done` are valid, `missing` includes those in flight."""

    name: str
    planned: int
    done: int
    in_flight: int
    empty: int
    failed: int


@dataclass(frozen=True)
class RunView:
    """One run under way: what its agent has done, and the seconds since it was last heard of."""

    beat: Beat
    age: float
    running: float

    @property
    def silent(self) -> bool:
        """Whether it has not been heard of for too long."""
        return self.age > SILENT


@dataclass(frozen=True)
class View:
    """One matrix at one moment."""

    key: str
    name: str
    title: str
    status: str
    complete: bool
    rehearsed: bool
    cells: tuple[CellView, ...]
    runs: tuple[RunView, ...]


class Watcher:
    """Looks at one matrix as often as it is asked to, and at its records no oftener than they can be read."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._plan: tuple[float, Matrix] | None = None
        self._state: State | None = None
        self._due = 0.0

    @property
    def key(self) -> str:
        """What the matrix is called in an address: eight hexadecimal digits, which name no path."""
        return digest(self.layout.root.name)[:8]

    @property
    def page(self) -> Path:
        """Where the synthesis is once there is one."""
        return self.layout.synthesis.with_suffix(".html")

    def look(self) -> View:
        """The matrix as it is now."""
        state = self._recorded()
        flying = [each for each in beats(self.layout) if state.states.get(each[0].id) != "valid"]
        now = time.time()
        runs = tuple(RunView(beat, age, max(0.0, now - beat.started)) for beat, age in flying)
        return View(
            key=self.key,
            name=self.layout.root.name,
            title=state.matrix.experiment.title,
            status=status_line(self.layout.root.name, state, at_work=locks.at_work(self.layout)),
            complete=state.complete,
            rehearsed=state.rehearsed,
            cells=tuple(_cells(state, Counter(beat.cell for beat, _ in flying))),
            runs=() if state.complete else tuple(replace(run, beat=_said(run.beat)) for run in runs),
        )

    def _recorded(self) -> State:
        modified = self.layout.plan.stat().st_mtime
        if self._plan is None or self._plan[0] != modified:
            self._plan, self._state = (modified, Matrix.load(self.layout.plan)), None
        if self._state is None or time.monotonic() >= self._due:
            began = time.monotonic()
            self._state = derive(self.layout, self._plan[1])
            ended = time.monotonic()
            self._due = ended + max(SOONEST, REST * (ended - began))
        return self._state


def _said(beat: Beat) -> Beat:
    return replace(beat, tool=beat.tool or "-")


def _cells(state: State, flying: Mapping[str, int]) -> Iterator[CellView]:
    for name in state.matrix.cells:
        planned = sum(run.cell == name for run in state.matrix.runs.values())
        found = Counter(state.standing(run) for run in state.runs if run.cell == name)
        failed = found["validator_failed"] + found["damaged"]
        yield CellView(name, planned, found["valid"], flying.get(name, 0), found["empty"], failed)


def watchers(directory: Path) -> list[Watcher]:
    """Every matrix of a directory, which is one itself, or holds some.

    Raises
    ------
    TrysquareError
        When there is none.
    """
    found = [directory] if (directory / "plan.json").exists() else []
    found = found or sorted(path.parent for path in [*directory.glob("*/plan.json"), *directory.glob("*/*/plan.json")])
    if not found:
        raise TrysquareError(f"{directory} holds no matrix: name a matrix directory, or the results that hold some.")
    return [Watcher(Layout(path)) for path in found]

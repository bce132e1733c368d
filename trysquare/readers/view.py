"""A matrix directory as somebody sees it who has no part in measuring it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from trysquare.errors import ArchiveError
from trysquare.files import read_json
from trysquare.layout import RunLayout
from trysquare.measure import Run, models


@dataclass(frozen=True)
class ArchivedCell:
    """One declared configuration.

    `thinking` is the level it declares, None where its runs alone say that; `parts` are the digests of what it is made
    of, empty where the archive keeps none; `fingerprint` covers all of it, in the terms of the tool that wrote it.
    """

    name: str
    thinking: str | None = None
    fingerprint: str | None = None
    parts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ArchivedValidator:
    """What scored the runs: its mode, and a digest of all that its verdicts depend on, None where none is kept."""

    mode: str
    digest: str | None = None


@dataclass(frozen=True)
class ArchivedRun:
    """One run: where its files are, and its measures; `run` is None when nothing of it was measured."""

    id: str
    cell: str
    repetition: int
    state: str
    files: RunLayout
    run: Run | None = None

    @property
    def configuration(self) -> Mapping[str, Any]:
        """What configuration.json says, empty when there is none or it is damaged."""
        return self._configuration[0]

    @property
    def damage(self) -> str:
        """Why configuration.json cannot be read, empty when it can or is not there."""
        return self._configuration[1]

    @cached_property
    def _configuration(self) -> tuple[Mapping[str, Any], str]:
        try:
            found = read_json(self.files.configuration)
        except (FileNotFoundError, NotADirectoryError):
            return {}, ""
        except ArchiveError as error:
            return {}, str(error)
        return (found, "") if isinstance(found, dict) else ({}, f"{self.files.configuration} holds no object.")

    @property
    def sessions(self) -> list[Path]:
        """The session files, one per attempt, in order; the last is the attempt that was measured."""
        return sorted(self.files.session.glob("*.jsonl"))

    @property
    def models(self) -> tuple[str, ...]:
        """The models that answered: as its configuration records them, else as the session that was measured does."""
        recorded = self.configuration.get("model_id")
        if recorded:
            return (str(recorded),)
        sessions = self.sessions[-1:]
        return tuple(name for path in sessions for name in models(path.read_text(encoding="utf-8", errors="replace")))


@dataclass(frozen=True)
class Archive:
    """A measured matrix.

    Attributes
    ----------
    root : Path
        Its directory.
    original : bool
        Whether the original trysquare wrote it.
    scenario, title, repo, etalon, provider, model
        What was measured, as declared; `repo` is None when no file says so.
    commit : str or None
        The commit the plan pins the etalon to; the records of the runs are the authority.
    repetitions, concurrency, timeout
        The declared repetitions, and the load of the last launch, None when it is not recorded.
    overrides : tuple of str
        What the launch changed of the declaration.
    cells : mapping of name to ArchivedCell
        The declared cells, in order.
    runs : tuple of ArchivedRun
        Every run, cells in declared order and then others, by repetition.
    declared : tuple of str
        The declared metrics in contract order; empty when no file names them.
    validators : mapping of name to ArchivedValidator
        In declared order.
    rehearsed : bool
        Whether a script played the model.
    imported : str or None
        The results of another tool its measures were taken from; none of its evidence is then on disk.
    lacks : tuple of str
        What the archive does not hold, and what else its numbers must be read with, a sentence each.
    """

    root: Path
    original: bool
    scenario: str
    title: str
    repo: str | None
    etalon: str
    commit: str | None
    provider: str
    model: str
    repetitions: int
    concurrency: int | None
    timeout: float | None
    overrides: tuple[str, ...]
    cells: Mapping[str, ArchivedCell]
    runs: tuple[ArchivedRun, ...]
    declared: tuple[str, ...]
    validators: Mapping[str, ArchivedValidator]
    rehearsed: bool = False
    imported: str | None = None
    lacks: tuple[str, ...] = ()

    @property
    def rows(self) -> list[Run]:
        """The measures of every run that has any."""
        return [archived.run for archived in self.runs if archived.run is not None]

    @property
    def counts(self) -> Counter[str]:
        """How many runs of declared cells are in each state."""
        return Counter(archived.state for archived in self.runs if archived.cell in self.cells)

    @property
    def complete(self) -> bool:
        """Whether every run of a declared cell is valid."""
        return set(self.counts) == {"valid"}

    def standing(self) -> str:
        """How far it is, in words: `3 of 4 runs valid, 1 missing`."""
        counts = self.counts
        others = [f"{count} {state.replace('_', ' ')}" for state, count in sorted(counts.items()) if state != "valid"]
        return ", ".join([f"{counts['valid']} of {counts.total()} runs valid", *others])

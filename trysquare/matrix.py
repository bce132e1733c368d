"""The frozen plan of one matrix: what plan.json holds, and all that jobs know of the experiment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trysquare.errors import ArchiveError
from trysquare.files import read_json, write_json
from trysquare.frozen import decode, encode

FORMAT = 1

REHEARSAL = "rehearsal"
"""The provider that always plays a script; rehearsals are written to the directory of its plural."""


@dataclass(frozen=True)
class Blob:
    """One frozen file: its bytes are `bricks/<digest>` of the matrix."""

    digest: str
    executable: bool = False


Tree = Mapping[str, Blob]
"""Relative POSIX paths and the frozen files that go there."""


@dataclass(frozen=True)
class Experiment:
    """What the scenario says of itself. None of it is part of a fingerprint."""

    name: str
    title: str
    path: str
    hypothesis: str | None = None


@dataclass(frozen=True)
class Source:
    """Where the measured code comes from.

    `repo` is the logical name, `origin` the directory or URL as the machine file declares it, `checkout` the absolute
    directory runs are cloned from (the pinned working tree when the origin is a URL), `commit` the etalon peeled.
    """

    repo: str
    origin: str
    checkout: str
    etalon: str
    commit: str


@dataclass(frozen=True)
class Task:
    """The parts of the task that scoring reads; the prompt belongs to the cells."""

    test_command: str | None = None
    prepare: tuple[str, ...] | None = None
    artefacts: tuple[str, ...] | None = None
    collect: tuple[str, ...] = ()


@dataclass(frozen=True)
class Agent:
    """Which agent measures, and what it is asked to answer with (`model` is a pattern)."""

    kind: str
    provider: str
    model: str


@dataclass(frozen=True)
class Protocol:
    """The load of a launch: `timeout` in seconds, `stream_limit` in bytes, `max_cost` in the provider's currency."""

    repetitions: int
    concurrency: int
    timeout: float
    attempts: int
    stream_limit: int
    max_cost: float | None = None


@dataclass(frozen=True)
class Extension:
    """An extension given to the agent: a frozen tree and its entry, or a pinned repository and a path in it."""

    brick: str
    load: str
    tree: Tree = field(default_factory=dict)
    origin: str | None = None
    tag: str | None = None


@dataclass(frozen=True)
class CellPlan:
    """One configuration, resolved down to bytes.

    `prompt`, `context`, `system` are digests of texts in `bricks/`; `keep_context` leaves the repository's own context
    files in force. `files` are committed above the etalon, `agents` and `skills` are plumbing put under `.pi/`.
    `setup` is the relative name and the bytes of the setup executable. `parts` names every component of the
    fingerprint with its digest, so that a change can be named.
    """

    name: str
    fingerprint: str
    parts: Mapping[str, str]
    thinking: str
    prompt: str
    context: str | None = None
    system: str | None = None
    keep_context: bool = False
    history: bool = True
    setup: Blob | None = None
    files: Tree = field(default_factory=dict)
    agents: Tree = field(default_factory=dict)
    skills: Tree = field(default_factory=dict)
    extensions: tuple[Extension, ...] = ()
    agent_model: str | None = None
    description: str = ""


@dataclass(frozen=True)
class RunPlan:
    """One planned run; `directory` is relative to `runs/` (`<cell>/<id>`, or `<id>` in a blind tree)."""

    id: str
    cell: str
    repetition: int
    directory: str


@dataclass(frozen=True)
class ValidatorPlan:
    """One validator, frozen.

    `digest` covers everything that must score again when it changes (bytes, inputs, test_command, prepare, artefacts,
    setup) and names the score pointer. `command` is the path in `tree` to execute; `settings` holds the keys of the
    modes other than script.
    """

    name: str
    mode: str
    metrics: tuple[str, ...]
    digest: str
    command: str | None = None
    tree: Tree = field(default_factory=dict)
    timeout: float = 600.0
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class VerdictPlan:
    """How gaps are judged: `reference` is a cell name, `validity` the metrics a run must have true to count."""

    criterion: str
    reference: str
    validity: tuple[str, ...]
    draws: int
    seed: int


@dataclass(frozen=True)
class Rehearsal:
    """A scripted model plays the provider; `script` is the digest of the TOML it plays."""

    script: str


@dataclass(frozen=True)
class Matrix:
    """One experiment at one repetition count, frozen before anything is spent.

    `imported` names the results of another tool that its measures were taken from; such a matrix has no runs on disk.
    """

    name: str
    experiment: Experiment
    source: Source
    task: Task
    agent: Agent
    protocol: Protocol
    cells: Mapping[str, CellPlan]
    runs: Mapping[str, RunPlan]
    validators: Mapping[str, ValidatorPlan]
    verdict: VerdictPlan
    workdir: str
    blind: bool = False
    overrides: tuple[str, ...] = ()
    rehearsal: Rehearsal | None = None
    isolation: str = "none"
    imported: str | None = None
    format: int = FORMAT

    @property
    def declared(self) -> tuple[str, ...]:
        """Every declared metric, in contract order."""
        return tuple(metric for validator in self.validators.values() for metric in validator.metrics)

    @property
    def played(self) -> bool:
        """Whether a script plays a model that could have been paid for."""
        return self.rehearsal is not None and self.agent.provider != REHEARSAL

    @property
    def alike(self) -> tuple[tuple[str, ...], ...]:
        """The cells that are one configuration, by several names."""
        groups: dict[str, list[str]] = {}
        for name, cell in self.cells.items():
            groups.setdefault(cell.fingerprint, []).append(name)
        return tuple(tuple(names) for names in groups.values() if len(names) > 1)

    @property
    def unstarted(self) -> tuple[str, ...]:
        """The cells that inject agents, and load no extension that could bring a tool to start them."""
        return tuple(name for name, cell in self.cells.items() if cell.agents and not cell.extensions)

    def save(self, path: Path) -> bool:
        """Write plan.json when it differs; returns whether it did."""
        return write_json(path, encode(self))

    @classmethod
    def load(cls, path: Path) -> "Matrix":
        """Read plan.json.

        Raises
        ------
        ArchiveError
            When there is none, or another version of trysquare wrote it.
        """
        try:
            data = read_json(path, "restore it, or remove it and launch `run`, which writes it again from its scenario")
        except (FileNotFoundError, NotADirectoryError):
            raise ArchiveError(_absent(path)) from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ArchiveError(
                f"{path} was not written by this version of trysquare: use the version that measured it."
            )
        try:
            return decode(cls, data)
        except (KeyError, TypeError) as error:
            raise ArchiveError(f"{path} is damaged ({error}): restore it, or launch `run` again to write it.") from None


def _absent(plan: Path) -> str:
    """What is said of a plan that is not there: the directory may be no matrix, or have lost it."""
    from trysquare.outputs import own_trace

    root = plan.parent
    if not root.is_dir():
        return f"{root} is no directory: name a matrix directory."
    if trace := own_trace(root):
        return (
            f"{plan} does not exist, although {trace} is there: launch `run` with the scenario the matrix was measured "
            "with, which writes plan.json and bricks again and measures no recorded run again."
        )
    return f"{plan} does not exist: name a matrix directory, or launch `run` to make one."

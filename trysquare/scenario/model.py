"""A loaded scenario: what the rest of trysquare knows of an experiment file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from trysquare.scenario.language import Agent, Brick, Protocol, Task, Verdict


@dataclass(frozen=True)
class Cell:
    """One configuration to measure.

    `delta` holds what it changes, presets resolved and bricks united; an empty one is the baseline. `description` is
    prose, kept apart because no part of it changes what is measured.
    """

    name: str
    delta: Mapping[str, Any] = field(default_factory=dict)
    description: str = ""

    @property
    def is_baseline(self) -> bool:
        """Whether the cell changes nothing."""
        return not self.delta


@dataclass(frozen=True)
class Validator:
    """One validator and the metrics it contracts to answer; `config` holds the other keys of its block."""

    mode: str
    metrics: tuple[str, ...]
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What its result file is called: the declared name, else its mode."""
        return str(self.config.get("name", self.mode))


@dataclass(frozen=True)
class Reference:
    """A file the scenario points at: where that is written, the path as written, and what it must be."""

    where: str
    value: str
    kind: Literal["text", "file", "extension", "executable", "command", "tree"]


@dataclass(frozen=True)
class Scenario:
    """One experiment.

    The sections are readable by attribute and by key. `axes` maps each axis to its values, `bricks` each name of
    `[harness]` to its brick, both in declared order.
    """

    name: str
    title: str
    task: "Task"
    agent: "Agent"
    protocol: "Protocol"
    cells: tuple[Cell, ...]
    validators: tuple[Validator, ...]
    verdict: "Verdict"
    bricks: Mapping[str, "Brick"] = field(default_factory=dict)
    hypothesis: str | None = None
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    path: Path | None = None
    references: tuple[Reference, ...] = ()

    @property
    def base(self) -> Path:
        """The directory that paths of the scenario are relative to."""
        return Path() if self.path is None else self.path.parent

    @property
    def cell_names(self) -> tuple[str, ...]:
        """The declared cells, in order."""
        return tuple(cell.name for cell in self.cells)

    @property
    def manual_metrics(self) -> tuple[str, ...]:
        """The metrics that people fill in."""
        return tuple(
            metric for validator in self.validators if validator.mode == "form" for metric in validator.metrics
        )

    @property
    def reference(self) -> str:
        """The name of the reference cell."""
        declared = self.verdict.reference
        return declared if isinstance(declared, str) else " / ".join(declared[axis] for axis in self.axes)

    def declared(self, cell: Cell) -> dict[str, Any]:
        """Everything one cell declares, the values it falls back to included, its bricks resolved from their names.

        The single fallback rule. Keys: prompt, context, system, thinking, history, setup, harness (name to brick).
        """
        delta = cell.delta
        return {
            "prompt": delta.get("prompt", self.task.prompt),
            "context": delta.get("context"),
            "system": delta.get("system"),
            "thinking": delta.get("thinking", self.agent.thinking),
            "history": delta.get("history", self.task.history),
            "setup": delta.get("setup", self.task.setup),
            "harness": {name: self.bricks[name] for name in delta.get("harness", ())},
        }

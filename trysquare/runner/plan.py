"""A plan: everything settled before a single token is spent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from trysquare.config import Config
from trysquare.layout import Layout
from trysquare.matrix import REHEARSAL, Matrix, RunPlan
from trysquare.outputs.carry import Carried
from trysquare.scenario import Scenario


@dataclass(frozen=True)
class Plan:
    """One scenario, resolved against one machine and one output directory.

    `todo` are the runs to measure, in the order they start. `repo_path` is the directory runs are cloned from,
    `repo_source` what the machine file declares. `overrides` are the values given for this launch. `bricks` maps each
    digest of `matrix` to its bytes. `carried` are runs to copy from a smaller matrix, `replay` names the cells whose
    runs are to be set aside and measured again, `only` the cells this launch is restricted to.
    """

    scenario: Scenario
    config: Config
    output: Layout
    repo_path: Path
    repo_source: str
    todo: tuple[RunPlan, ...]
    overrides: Mapping[str, float]
    blindness: tuple[str, ...]
    notes: tuple[str, ...]
    matrix: Matrix
    bricks: Mapping[str, bytes]
    carried: Carried | None = None
    replay: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    @property
    def directory(self) -> Path:
        """The matrix directory."""
        return self.output.root

    def load(self, name: str) -> float:
        """What this launch runs `concurrency`, `timeout` or `attempts` at."""
        value: float = {
            "concurrency": self.matrix.protocol.concurrency,
            "timeout": self.matrix.protocol.timeout,
            "attempts": self.matrix.protocol.attempts,
        }[name]
        return value


def matrices_root(output: str | Path, scenario: Scenario, *, rehearse: bool = False) -> Path:
    """The directory that holds the matrices of a scenario: the output itself, or its rehearsals."""
    rehearsed = rehearse or scenario.agent.provider == REHEARSAL
    return Path(output) / f"{REHEARSAL}s" if rehearsed else Path(output)


def interleave(todo: Iterable[RunPlan]) -> list[RunPlan]:
    """Runs by repetition first, cells in the order given: cells are measured side by side, under one load."""
    return sorted(todo, key=lambda run: run.repetition)


def stream_ceiling(plan: Plan) -> int:
    """How many bytes of its stream one run may keep."""
    return plan.matrix.protocol.stream_limit

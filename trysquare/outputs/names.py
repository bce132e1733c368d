"""Names in a result tree: what an experiment, a cell and a run are called on disk."""

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trysquare.scenario import Scenario

PLACEHOLDER = re.compile(r"[{}]|<[a-z][a-z0-9_]*>")
"""What the engine fills in wherever it stands in a path."""


def slug(value: str) -> str:
    """A value as one path component: `/` and space become `-`."""
    return value.replace("/", "-").replace(" ", "-")


def cell_dir(cell: str) -> str:
    """The directory of a cell: the ` / ` between axis values becomes `_`."""
    return slug(cell.replace(" / ", "_"))


def identity(scenario: "Scenario") -> str:
    """The directory name without its repetition count: what is measured, not how often."""
    parts = (scenario.name, scenario.task.etalon, scenario.agent.provider, scenario.agent.model)
    return "_".join(slug(part) for part in parts)


def experiment_name(scenario: "Scenario", repetitions: int | None = None) -> str:
    """The directory name, which is the experiment's identity."""
    return f"{identity(scenario)}_n{scenario.protocol.repetitions if repetitions is None else repetitions}"


def run_id(scenario_name: str, cell: str, repetition: int) -> str:
    """Eight hexadecimal digits for one planned run; they do not depend on the number of repetitions."""
    return hashlib.blake2s(f"{scenario_name}/{cell}/{repetition}".encode(), digest_size=4).hexdigest()

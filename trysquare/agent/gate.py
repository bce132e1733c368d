"""The gate between the agent and the agents a cell injects: what it is, and where it is put for one launch."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from trysquare.files import write_json

GATE = Path(__file__).resolve().parents[1] / "subagent-gate.ts"


def subagent_gate(directory: Path, agents: Iterable[str]) -> Path:
    """Put the gate for the agents of these names into a directory; returns the extension to load."""
    directory.mkdir(parents=True)
    write_json(directory / "subagents.json", sorted(agents))
    return Path(shutil.copyfile(GATE, directory / GATE.name))

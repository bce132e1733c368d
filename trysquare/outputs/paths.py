"""Where the runs of a result tree are, in either layout, and which matrices of an experiment exist."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trysquare.files import read_json
from trysquare.layout import Layout, RunLayout
from trysquare.outputs.names import cell_dir, identity

if TYPE_CHECKING:
    from trysquare.scenario import Scenario

MARKS = ("run.json", "measured.json", "configuration.json", "diff.patch", "session", "validation")
"""What a run leaves behind; a cell directory holds none of these."""


def run_location(runs_dir: Path, run_id: str, cell: str | None) -> Path:
    """The directory of one run; `cell` is None in a blind tree and for a run that no declared cell owns."""
    return runs_dir / run_id if cell is None else runs_dir / cell_dir(cell) / run_id


def is_run_dir(directory: Path) -> bool:
    """Whether a directory is a run's rather than a cell's."""
    return directory.is_dir() and any((directory / mark).exists() for mark in MARKS)


def sniff_layout(runs_dir: Path) -> str | None:
    """The layout a tree has, "grouped" or "blind", read from its shape; None when it holds no run."""
    for entry in _directories(runs_dir):
        if is_run_dir(entry):
            return "blind"
        if any(is_run_dir(inner) for inner in _directories(entry)):
            return "grouped"
    return None


def archived_run_dirs(experiment: Path) -> list[Path]:
    """Every run directory under an experiment, in either layout; its name is the run id."""
    found = []
    for entry in _directories(experiment / "runs"):
        if is_run_dir(entry):
            found.append(entry)
        else:
            found += [inner for inner in _directories(entry) if is_run_dir(inner)]
    return found


def ledger_run_dirs(experiment: Path, state: Mapping[str, Any]) -> dict[str, Path]:
    """Where each run that a state.json names is, in the layout it records."""
    runs, blind = experiment / "runs", state.get("layout") == "blind"
    return {name: run_location(runs, name, None if blind else run.get("cell")) for name, run in state["runs"].items()}


def own_trace(directory: Path) -> str | None:
    """The name of a file there that only this trysquare writes, None when there is none."""
    layout = Layout(directory)
    if layout.launches.exists():
        return layout.launches.name
    if layout.bricks.is_dir():
        return layout.bricks.name
    runs = (RunLayout(path) for path in archived_run_dirs(directory))
    pointers = (path for run in runs for path in (run.pointer, run.record) if path.exists())
    return next((path.relative_to(directory).as_posix() for path in pointers), None)


DERIVED = "remove it, and `trysquare render` on the matrix writes it again from the archive"
"""What to do about a derived file that is damaged."""


def measures_in(directory: Path, remedy: str = DERIVED) -> list[dict[str, Any]]:
    """The rows of measures.json, empty when there is none; `remedy` is what to do where it is damaged."""
    try:
        rows: list[dict[str, Any]] = read_json(directory / "measures.json", remedy)
    except FileNotFoundError:
        return []
    return rows


def matrices(root: Path, scenario: "Scenario") -> dict[int, Path]:
    """Every matrix of this experiment under `root`, by repetition count, the smallest first."""
    prefix = f"{identity(scenario)}_n"
    found = {}
    for entry in _directories(root):
        count = entry.name.removeprefix(prefix)
        named = entry.name.startswith(prefix) and re.fullmatch(r"[1-9][0-9]{0,8}", count)
        if named and (Layout(entry).plan.exists() or Layout(entry).state.exists()):
            found[int(count)] = entry
    return dict(sorted(found.items()))


def largest(root: Path, scenario: "Scenario") -> Path | None:
    """The matrix of this experiment with the most valid runs; of two with as many, the one of more repetitions."""
    valid = {
        path: sum(row.get("state") == "valid" for row in measures_in(path))
        for path in matrices(root, scenario).values()
    }
    return max((path for path in reversed(valid) if valid[path]), key=valid.__getitem__, default=None)


def per_cell(runs: Mapping[str, Any]) -> dict[str, int]:
    """How many runs a mapping of run ids holds for each cell, in first-seen order."""
    counts: dict[str, int] = {}
    for run in runs.values():
        cell = run["cell"] if isinstance(run, Mapping) else run.cell
        counts[cell] = counts.get(cell, 0) + 1
    return counts


def _directories(parent: Path) -> Iterable[Path]:
    try:
        return sorted(entry for entry in parent.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []

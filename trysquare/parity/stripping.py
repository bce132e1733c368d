"""Layer 1: tokens and turns, computed again from the archived sessions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trysquare.files import read_json
from trysquare.measure import Run, counted, strip_session
from trysquare.parity.published import USAGE, directories, published_by_id
from trysquare.parity.report import Report

COMPARED = ("input", "output", "cacheRead", "turns")
"""Parts of the usage that a session holds too."""


def layer1(measures_path: str | Path, archive: str | Path) -> Report:
    """Compare what was counted in the live stream with what the archived sessions say: another path to each number.

    Retries are left out, since no session holds them, and so are prices. Where the archive says which cell a run is
    of, that is compared as well. With several sessions the last one counts, which is the attempt that was measured.
    """
    published = published_by_id(measures_path)
    found = directories(published, archive)
    report = Report()
    exact = compared = 0
    for name, run in published.items():
        sessions = sorted((found[name] / "session").glob("*.jsonl")) if name in found else []
        if name in found:
            report.problems.extend(_labels(run, found[name]))
        if not sessions or run.state == "empty":
            continue
        compared += 1
        differences = _differences(run, sessions)
        exact += not differences
        report.problems.extend(differences)
    without = len(published) - compared
    report.observed.append(f"{exact} of {counted(compared, 'session')} give exactly the published tokens and turns")
    if without:
        report.observed.append(f"{counted(without, 'published run')} without a session to compare with")
    report.observed.append("retries and prices are not compared: no session holds retries")
    if not compared:
        report.problems.append(f"{archive} holds no session of a published run: name the archive of these runs")
    return report


def _differences(run: Run, sessions: Sequence[Path]) -> list[str]:
    counted_again = strip_session(sessions[-1].read_text(encoding="utf-8", errors="replace"))
    return [
        f"{run.id} ({run.cell}): {USAGE[name]} published {_number(run.usage[name])}, its session gives "
        f"{_number(counted_again[name])}"
        for name in COMPARED
        if run.usage[name] is not None and run.usage[name] != counted_again[name]
    ]


def _number(value: Any) -> str:
    return "nothing" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _labels(run: Run, directory: Path) -> list[str]:
    """What the archive says of a run's cell, where it is not what the published row says."""
    try:
        said = read_json(directory / "configuration.json")
    except FileNotFoundError:
        return []
    cell = said.get("cell", run.cell) if isinstance(said, dict) else run.cell
    return [] if cell == run.cell else [f"{run.id}: published as a run of {run.cell}, archived as one of {cell}"]

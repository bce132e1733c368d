"""Lines that keep a matrix from being read as more than it is."""

from collections.abc import Iterable, Mapping
from typing import Any

LABELS = {"missing": "missing", "empty": "empty", "validator_failed": "failed by a validator"}
"""How each state that is not valid is said."""


def incomplete_note(counts: Mapping[str, int]) -> str:
    """The one line an incomplete matrix gets instead of a synthesis; empty when every run is valid."""
    parts = [f"{counts[state]} {label}" for state, label in LABELS.items() if counts.get(state)]
    if not parts:
        return ""
    total = sum(counts.values())
    return (
        f"incomplete, {counts.get('valid', 0)} of {total} runs valid, {', '.join(parts)}; "
        "no synthesis: launch the target `run` again to complete it"
    )


def carried_note(state: Mapping[str, Any]) -> str:
    """The paragraph that says which runs were measured by an earlier launch of a smaller matrix; empty without any."""
    lines = [
        f"{entry['runs']} runs were carried from `{entry['directory']}` (n = {entry['repetitions']}), measured at "
        f"concurrency {entry['concurrency']} with a timeout of {entry['timeout']:g} s"
        for entry in state.get("carried") or ()
    ]
    if not lines:
        return ""
    return f"{'; '.join(lines)}. Durations and costs of one cell come from more than one session of measuring."


def unmeasured_note(state: Mapping[str, Any], runs: Iterable[Mapping[str, Any]]) -> str:
    """The line for runs that state.json counts as measured and measures.json has no row for; empty without any."""
    rows = {row["id"] for row in runs}
    lost = [
        name
        for name, run in state["runs"].items()
        if run["state"] in ("valid", "validator_failed") and name not in rows
    ]
    if not lost:
        return ""
    return (
        f"{len(lost)} measured runs have no row in measures.json and are in no table ({', '.join(lost[:10])}): "
        "launch the target `collect` to rebuild it from the archive"
    )

"""Lines that keep a matrix from being read as more than it is."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

LABELS = {
    "missing": "missing",
    "empty": "empty",
    "unscored": "still to be scored",
    "validator_failed": "failed by a validator",
    "damaged": "damaged",
}
"""How each state that is not valid is said."""

SHOWN = 240
"""Characters of a reason that the line repeats."""


def incomplete_note(
    counts: Mapping[str, int], reasons: Sequence[str] = (), act: str | None = "launch the target `run` again"
) -> str:
    """The one line an incomplete matrix gets instead of a synthesis; empty when every run is valid.

    `reasons` are those of the runs that a validator failed; the line says the most frequent one. `act` completes it,
    and is None while a launch is at work.
    """
    said = {state: f"{counts[state]} {label}" for state, label in LABELS.items() if counts.get(state)}
    if not said:
        return ""
    total = sum(counts.values())
    if reasons and "validator_failed" in said:
        [(reason, times)] = Counter(reasons).most_common(1)
        others = len(set(reasons)) - 1
        cut = reason if len(reason) <= SHOWN else f"{reason[: SHOWN - 3]}..."
        more = f"; {others} other reason{'s' * (others > 1)}"
        said["validator_failed"] += f" ({times} of them: {cut}{more})" if others else f" ({cut})"
    valid, parts = counts.get("valid", 0), ", ".join(said.values())
    remedy = "`trysquare status` names the remedy of each damaged run"
    if said.keys() == {"damaged"}:
        return f"incomplete, {valid} of {total} runs valid, {parts}; no synthesis: {remedy}"
    if act is None:
        line = f"incomplete, {valid} of {total} runs valid, {parts}; no synthesis yet: it is being run now"
    else:
        line = f"incomplete, {valid} of {total} runs valid, {parts}; no synthesis: {act} to complete it"
    return f"{line}; {remedy}" if "damaged" in said else line


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

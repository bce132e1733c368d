"""Why a job failed, in one line."""

from pathlib import Path
from typing import Any

from trysquare.measure.stream import one_line

SHOWN = 300
"""Characters that are shown of what an executor says."""

HINTS = (
    "Detailed failure reason unavailable (status command is not 'sacct').",
    "For further error details see the cluster/cloud log and the log files of the involved rule(s).",
)
"""What executors add to every failure, whatever it was."""


def why_failed(logs: list[str], record: Any) -> str:
    """Why a job failed: the last line of its log, and what the executor says, whose job may never have begun."""
    last = _last_line(logs)
    # A submission that failed is followed by the whole command, indented.
    refused = one_line((getattr(record, "rule_msg", None) or "").partition("\n    ")[0])
    for hint in HINTS:
        refused = refused.replace(hint, "").strip()
    said = [f"{refused[: SHOWN - 3]}..." if len(refused) > SHOWN else refused] if refused else []
    number = str((getattr(record, "aux", None) or {}).get("external_jobid") or "")
    if number and number not in refused:
        said.append(f"job {number} of the cluster")
    return "; ".join([*([last] if last else []), *said]) or f"no reason given  (log: {', '.join(logs) or 'none'})"


def _last_line(logs: list[str]) -> str:
    """The last line of a job's log, and where the log is; empty when it says nothing."""
    for name in logs:
        try:
            lines = Path(name).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except FileNotFoundError:
            continue
        if lines:
            return f"{lines[-1]}  (log: {name})"
    return ""

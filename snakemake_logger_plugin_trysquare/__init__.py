"""Progress of a matrix: one line per finished run, failures with their reason, and an ETA from throughput.

Selected by the profiles (`logger: [trysquare]`); any other of the engine's loggers can be named instead.
"""

import logging
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_trysquare.reasons import why_failed
from trysquare import interrupt
from trysquare.errors import ArchiveError
from trysquare.files import read_json, read_lines
from trysquare.holding import NOT_STARTED
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.measure.stream import counted, first_few
from trysquare.progress import Bar, Segment, clock, eta_seconds, start, wanted

PAID = ("measure",)
"""The rules whose jobs a person waits for; the estimate rests on them."""

SCORED = "score_run"
"""The rule whose failures have one reason for many runs: their validator."""

STAGES = {"measure": "measured", SCORED: "scored"}
"""The rules that have a count of their own beside the bar, and what they are called there."""

REPEATED = "CalledProcessError in file"
"""What the engine says of every failed job beside its event: the command line, which says nothing of the reason."""

SAID_ALREADY = ("Exiting because a job execution failed", "At least one job did not complete successfully")
"""What the engine says at the end of a launch with failed jobs, each of which was told with its reason."""


@dataclass
class _Tally:
    """Jobs of one kind: how many are planned, done and failed."""

    planned: int = 0
    done: int = 0
    failed: int = 0


class LogHandler(LogHandlerBase):
    """Turns the engine's events into lines, and into a bar on a terminal."""

    def __post_init__(self) -> None:
        """Start with nothing planned; the bar appears with the first job."""
        self._jobs: dict[int, Any] = {}
        self._cells: dict[str, dict[str, str]] = {}
        self._running: set[int] = set()
        self._planned: Counter[str] = Counter()
        self._tallies: dict[str, _Tally] = {}
        self._bar = Bar()
        self._close: Any = None
        self._began: float | None = None
        self._used: dict[str, float] = dict.fromkeys(("input", "output", "cost"), 0)
        self._held = False
        self._alike: dict[str, list[str]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Handle one record of the engine; a defect here must not stop a launch."""
        try:
            self._handle(record)
        except Exception:
            self.handleError(record)

    def _handle(self, record: logging.LogRecord) -> None:
        event = getattr(record, "event", None)
        handlers = {
            LogEvent.RUN_INFO: self._run_info,
            LogEvent.JOB_INFO: self._job_info,
            LogEvent.JOB_STARTED: self._job_started,
            LogEvent.JOB_FINISHED: self._job_finished,
            LogEvent.JOB_ERROR: self._job_error,
        }
        if event in handlers:
            handlers[event](record)
        elif record.levelno >= logging.WARNING or event == LogEvent.ERROR:
            text = record.getMessage()
            if REPEATED not in text:
                if record.levelno >= logging.ERROR:
                    self._say_alike()
                if not any(said in text for said in SAID_ALREADY):
                    self._say(text)

    def close(self) -> None:
        """Give the terminal back."""
        self._say_alike()
        if self._close is not None:
            self._close()
            self._close = None
        super().close()

    def _say(self, text: str) -> None:
        if text and text != "None":
            self._bar.warn(text)

    def _run_info(self, record: Any) -> None:
        stats = {rule: count for rule, count in record.stats.items() if rule != "total"}
        if stats == self._planned:
            return
        self._planned = Counter(stats)
        self._tallies = {rule: _Tally(count) for rule, count in stats.items()}
        self._say("jobs: " + ", ".join(f"{rule} {count}" for rule, count in stats.items()))

    def _job_info(self, record: Any) -> None:
        self._jobs[record.jobid] = record

    def _job_started(self, record: Any) -> None:
        if self._began is None:
            self._began = time.monotonic()
            if wanted(sys.stderr):
                self._bar, self._close = start(self._planned.total(), "trysquare")
        self._running.update(record.jobs)
        self._show()

    def _tally(self, jobid: int) -> _Tally:
        job = self._jobs.get(jobid)
        return self._tallies.setdefault(job.rule_name if job else "", _Tally())

    def _job_finished(self, record: Any) -> None:
        tally = self._tally(record.job_id)
        self._running.discard(record.job_id)
        tally.done += 1
        job = self._jobs.get(record.job_id)
        if job is not None and job.rule_name in PAID:
            self._say(self._run_line(job))
        self._show()

    def _cell(self, matrix: str, run: str) -> str:
        """The cell of a run as the scenario calls it; its directory where the plan cannot be read."""
        if matrix not in self._cells:
            try:
                planned = list(Matrix.load(Layout(Path(matrix)).plan).runs.values())
            except (OSError, ArchiveError):
                planned = []
            self._cells[matrix] = {each.directory: each.cell for each in planned}
        return self._cells[matrix].get(run, run.partition("/")[0])

    def _run_line(self, job: Any) -> str:
        layout = Layout(Path(job.wildcards["matrix"]))
        run = layout.run(job.wildcards["run"])
        try:
            record = read_json(run.record)
        except (OSError, ArchiveError) as error:
            cell = self._cell(job.wildcards["matrix"], job.wildcards["run"])
            return f"{self._position()} ok  {cell}  {run.id}  (its record cannot be read here yet: {error})"
        usage = record["usage"]
        launches = [line for line in read_lines(layout.launches) if line.get("kind") == "launch"]
        if launches and record["launch"]["id"] != launches[-1]["id"]:
            return f"{self._position()} kept  {record['cell']}  {run.id}  measured by an earlier launch"
        for name in self._used:
            self._used[name] += usage.get(name) or 0
        turns, retries = counted(usage["turns"], "turn"), counted(usage["retries"], "retry", "retries")
        said = [record["cell"], f"{record['duration']:.0f}s", _tokens(usage), turns, retries]
        cut = ["cut off by the time limit"] if record.get("timed_out") else []
        return "  ".join([f"{self._position()} ok", *said, *cut])

    def _job_error(self, record: Any) -> None:
        self._running.discard(record.jobid)
        if interrupt.stopping():
            self._show()  # the job was stopped, which is no failure
            return
        self._tally(record.jobid).failed += 1
        job = self._jobs.get(record.jobid)
        wildcards = (job.wildcards if job else None) or {}
        matrix, directory = wildcards.get("matrix", ""), wildcards.get("run", "")
        run_id, cell = Path(directory).name, self._cell(matrix, directory) if directory else ""
        why = why_failed([str(name) for name in (job.log if job else None) or []], record).removeprefix(f"{run_id}: ")
        rule = job.rule_name if job else "job"
        named = "  ".join(filter(None, [cell, run_id, rule] if directory else [matrix, rule]))
        reason = why.partition("  (log: ")[0].replace(run_id, "")
        if rule == SCORED and reason in self._alike:
            self._alike[reason].append(run_id)
        elif NOT_STARTED not in why:
            self._alike |= {reason: [run_id]} if rule == SCORED else {}
            self._say(f"{self._position()} failed  {named}: {why}")
        elif not self._held:
            self._held = True
            self._say(f"{self._position()} held back  the runs of {cell} and others are {why}")
        self._show()

    def _say_alike(self) -> None:
        """Say of how many runs scoring failed as of one that was told, and which."""
        for first, *others in self._alike.values():
            if others:
                self._say(f"failed  {SCORED} of {counted(len(others), 'more run')}, like {first}: {first_few(others)}")
        self._alike = {reason: runs[:1] for reason, runs in self._alike.items()}

    def _waited_for(self) -> list[str]:
        """The rules people wait for: the paid ones when there are any, else all of them."""
        return [rule for rule in PAID if rule in self._tallies] or list(self._tallies)

    def _in_flight(self) -> int:
        """Jobs people wait for that run now; the engine says that a job has started before it says what it is."""
        rules = self._waited_for()
        return sum(job in self._jobs and self._jobs[job].rule_name in rules for job in self._running)

    def _paid(self) -> _Tally:
        """The tally people wait for."""
        tallies = [self._tallies[rule] for rule in self._waited_for()]
        return _Tally(
            sum(tally.planned for tally in tallies),
            sum(tally.done for tally in tallies),
            sum(tally.failed for tally in tallies),
        )

    def _position(self) -> str:
        tally, left = self._paid(), self._left()
        ended = tally.done + tally.failed
        eta = f" eta {clock(left)}" if left and ended < tally.planned else ""
        return f"[{ended}/{tally.planned}{eta}]"

    def _left(self) -> float | None:
        """Seconds until what people wait for has ended; None before any of it has landed."""
        tally, now = self._paid(), time.monotonic()
        ended = tally.done + tally.failed
        return eta_seconds(ended, tally.planned, now - (self._began or now)) if tally.done else None

    def _show(self) -> None:
        ended = sum(tally.done + tally.failed for tally in self._tallies.values())
        self._bar.show(ended, self._planned.total(), self._segments)

    def _segments(self) -> list[Segment]:
        """What stands beside the bar, asked for whenever it is drawn."""
        stages = [
            f"{name} {self._tallies[rule].done}/{self._tallies[rule].planned}"
            for rule, name in STAGES.items()
            if rule in self._tallies
        ]
        paid, left = self._paid(), self._left()
        return [
            Segment("  ".join(stages), 6),
            Segment(f"{self._in_flight()} in flight", 7),
            Segment(f"{paid.failed} failed" if paid.failed else "", 5),
            Segment(_tokens(self._used), 4),
            Segment(f"cost {self._used['cost']:.4g}" if self._used["cost"] else "", 3),
            Segment(f"eta {clock(left)}" if left is not None else "", 8),
        ]

    @property
    def writes_to_stream(self) -> bool:
        """Whether this handler replaces the engine's own on the terminal."""
        return True

    @property
    def writes_to_file(self) -> bool:
        """The engine keeps its own log file."""
        return False

    @property
    def has_filter(self) -> bool:
        """It decides itself what to say."""
        return True

    @property
    def has_formatter(self) -> bool:
        """It words its lines itself."""
        return True

    @property
    def needs_rulegraph(self) -> bool:
        """It draws no graph."""
        return False


def _tokens(usage: Mapping[str, float]) -> str:
    return f"{usage['input']:,} in / {usage['output']:,} out".replace(",", " ")

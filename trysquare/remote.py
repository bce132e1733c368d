"""Launches whose jobs run elsewhere: what they must share is examined, and a stop loses sight of no job."""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trysquare import history, holding, interrupt, locks
from trysquare.errors import TrysquareError
from trysquare.files import write_text
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.measure.stream import counted, one_line

SKEW = 5.0
"""Seconds by which the clock of a file system may differ from this machine's without a word."""

PATIENCE = 60
"""Seconds that a scheduler may take to answer."""


def follow(workflow: Any) -> None:
    """Let no stop come between the submission of a job and the engine's note of it, and have a stop cancel every job.

    A run that would only be told that its provider refuses is not submitted at all.
    """
    executor: Any = getattr(workflow.scheduler, "_executor", None)
    if hasattr(executor, "cancel_jobs"):
        follower = _Follower(workflow.scheduler, executor, executor.run_job, executor.report_job_submission)
        executor.run_job, executor.report_job_submission = follower.submit, follower.note
        executor.cancel = follower.cancel


@dataclass
class _Follower:
    """What stands between the engine and its executor, which forgets its jobs while it asks for their state."""

    scheduler: Any
    executor: Any
    run_job: Callable[[Any], None]
    report: Callable[..., None]
    submitted: dict[Any, Any] = field(default_factory=dict)

    def submit(self, job: Any) -> None:
        """Submit a job, unless it is held back or a stop was asked for."""
        from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

        if _held_back(job):
            self.executor.report_job_error(SubmittedJobInfo(job))
            return
        with interrupt.deferred():
            if not interrupt.stopping():
                self.run_job(job)

    def note(self, submitted: Any, *rest: Any, **named: Any) -> None:
        """Note what the scheduler calls a job."""
        self.submitted[submitted.job] = submitted
        self.report(submitted, *rest, **named)

    def cancel(self) -> None:
        """Cancel what was submitted and has not ended; schedulers take their time, so it is said before."""
        running = getattr(self.scheduler, "running", self.submitted)  # to cancel too many harms nothing, too few would
        jobs = [self.submitted[job] for job in running if job in self.submitted]
        cancels = getattr(self.executor.executor_settings, "cancel_cmd", True)
        number = counted(len(jobs), "job")
        self.executor.logger.warning(f"stopping: {f'cancelling {number}' if cancels else f'{number} left to end'}")
        self.executor.cancel_jobs(jobs)
        self.executor.shutdown()


def refuse_unreachable(workflow: Any) -> None:
    """Refuse to submit jobs to a Slurm that does not answer here; its executor would say so of every job by itself.

    Raises
    ------
    TrysquareError
        When jobs are to be submitted and `sinfo` is not there, fails, or says nothing in time.
    """
    if getattr(workflow.executor_plugin, "name", "") != "slurm":
        return
    if all(job.is_local for job in workflow.dag.needrun_jobs()):
        return
    try:
        asked = subprocess.run(["sinfo", "--noheader"], capture_output=True, text=True, timeout=PATIENCE, check=False)
        said = one_line(asked.stderr.strip().rpartition("\n")[2].removeprefix("sinfo: "))
        why = f"`sinfo` fails: {said}" if asked.returncode else ""
    except OSError as error:
        why = f"`sinfo` cannot be started ({str(error.strerror).lower()})"
    except subprocess.TimeoutExpired:
        why = f"`sinfo` has not answered within {PATIENCE} s"
    if why:
        raise TrysquareError(
            f"Slurm is not reached from {os.uname().nodename} ({why}), and nothing was submitted or spent: launch "
            "where `sinfo` answers, or leave Slurm's profile or executor out to measure on this machine."
        )


def _held_back(job: Any) -> bool:
    if job.is_group() or job.rule.name != "measure":
        return False
    layout = Layout(Path(job.wildcards.matrix))
    sentence = holding.held(layout, history.latest(layout.launches))
    if sentence:
        write_text(str(job.log[0]), sentence + "\n")
    return bool(sentence)


def examine(layout: Layout, matrix: Matrix) -> list[str]:
    """What of a matrix may not hold between machines, one sentence each; the lock of the launch is held by now.

    Raises
    ------
    TrysquareError
        When the file system of the matrix grants one lock twice, or the measured repository is not there.
    """
    if not locks.taken(layout.lock("launch")):
        raise TrysquareError(
            f"{layout.root} is on a file system that grants one lock twice, so that a run could be paid for twice: "
            "write results to one that honours flock, with --config output=DIR."
        )
    _refuse_invisible(matrix)
    skew = _skew(layout)
    return [] if abs(skew) <= SKEW else [_skewed(layout, skew)]


def refuse_unseen(layout: Layout, matrix: Matrix, launch: Mapping[str, Any]) -> None:
    """Refuse, in a job of a launch that runs elsewhere, to spend where that launch cannot be seen.

    Raises
    ------
    TrysquareError
        When the launch has ended or its lock does not reach this machine, or the measured repository is not there.
    """
    if launch["executor"] == "local":
        return
    here = os.uname().nodename
    if not locks.taken(layout.lock("launch")):
        raise TrysquareError(
            f"nothing is spent on {here}: the launch {launch['id']} on {launch['host']} has ended, or its lock on "
            f"{layout.root} is not seen here; results must be on a file system whose locks hold between machines."
        )
    _refuse_invisible(matrix)
    skew = _skew(layout)
    if abs(skew) > SKEW:
        print(_skewed(layout, skew))


def _refuse_invisible(matrix: Matrix) -> None:
    checkout = Path(matrix.source.checkout)
    if not checkout.is_dir():
        raise TrysquareError(
            f"{checkout} is not seen on {os.uname().nodename}: put the repository, and `workdir` of the machine file, "
            "where every machine that measures sees them."
        )


def _skew(layout: Layout) -> float:
    """Seconds by which the file system's clock is ahead of this machine's."""
    layout.incoming.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=layout.incoming, prefix="clock-") as probe:
        before = time.time()
        probe.write(b".")
        probe.flush()
        return os.stat(probe.name).st_mtime - before  # noqa: PTH116


def _skewed(layout: Layout, skew: float) -> str:
    return (
        f"NOTE: the clock of {layout.root} is {skew:+.0f} s off that of {os.uname().nodename}. Nothing that is "
        "measured depends on it; the watch page and file times do."
    )

"""What a launch on several machines rests on, and what its jobs refuse to spend without."""

import fcntl
import os
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.matrices import matrix
from trysquare import launching, locks, remote
from trysquare.errors import TrysquareError
from trysquare.files import append_line
from trysquare.holding import NOT_STARTED
from trysquare.layout import Layout

LAUNCH = {"id": "1", "host": "login", "executor": "slurm", "concurrency": 2, "kind": "launch"}


@pytest.fixture
def layout(tmp_path):
    return Layout(tmp_path / "scenario_v1_p_m_n4")


@pytest.fixture
def plan(tmp_path):
    made = matrix()
    return replace(made, source=replace(made.source, checkout=str(tmp_path)))


@pytest.fixture
def held(layout):
    """The lock of a launch, held by another process as long as the test runs."""
    code = "import sys; from pathlib import Path; from trysquare import launching; from trysquare.layout import Layout;"
    code += "launching.hold(Layout(Path(sys.argv[1]))); print(flush=True); sys.stdin.read()"
    argv = [sys.executable, "-c", code, str(layout.root)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        yield holder
        holder.stdin.close()


def test_a_job_that_sees_the_lock_of_its_launch_may_spend(layout, plan, held):
    remote.refuse_unseen(layout, plan, LAUNCH)
    assert remote.examine(layout, plan) == []


def test_a_job_whose_launch_is_gone_spends_nothing(layout, plan, held):
    held.kill()
    held.wait()
    with pytest.raises(TrysquareError, match=r"nothing is spent on .* the launch 1 on login has ended, or its lock"):
        remote.refuse_unseen(layout, plan, LAUNCH)


def test_a_job_where_the_launch_left_no_trace_spends_nothing(layout, plan):
    with pytest.raises(TrysquareError, match="nothing is spent"):
        remote.refuse_unseen(layout, plan, LAUNCH)


def test_a_job_that_cannot_see_the_repository_says_which(layout, plan, held):
    lost = replace(plan, source=replace(plan.source, checkout="/nowhere/repository"))
    with pytest.raises(TrysquareError, match="/nowhere/repository is not seen on"):
        remote.refuse_unseen(layout, lost, LAUNCH)


def test_a_job_of_a_local_launch_is_asked_nothing(layout, plan):
    remote.refuse_unseen(layout, plan, {**LAUNCH, "executor": "local"})
    assert not layout.root.exists()


def test_a_file_system_that_grants_one_lock_twice_is_refused(layout, plan):
    layout.lock("launch").parent.mkdir(parents=True)
    layout.lock("launch").touch()
    with pytest.raises(TrysquareError, match="grants one lock twice"):
        remote.examine(layout, plan)


def test_a_second_launch_is_told_of_the_first(layout, held):
    with pytest.raises(TrysquareError, match="is being run by another launch"):
        launching.hold(layout)


def test_who_only_looks_at_the_lock_keeps_no_launch_away(layout, monkeypatch):
    path = layout.lock("launch")
    assert not locks.at_work(layout) and not layout.root.exists()
    path.parent.mkdir(parents=True)
    path.touch()
    looking = os.open(path, os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    monkeypatch.setattr(time, "sleep", lambda _: os.close(looking))
    os.close(launching.hold(layout))
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(looking)


def test_a_matrix_whose_launch_lives_is_at_work_and_one_whose_launch_was_killed_is_not(layout, held):
    assert locks.at_work(layout)
    held.kill()
    held.wait()
    assert not locks.at_work(layout)


class Executor:
    """Notes what it is given, as the engine's executors are called."""

    def __init__(self, **settings):
        self.submitted, self.failed, self.cancelled, self.said = [], [], [], []
        self.executor_settings = SimpleNamespace(**settings)
        self.logger = SimpleNamespace(warning=self.said.append)

    def run_job(self, job):
        self.report_job_submission(SimpleNamespace(job=job), register_job=False)

    def report_job_submission(self, info, register_job=True):
        self.submitted.append(info.job)

    def report_job_error(self, info):
        self.failed.append(info.job)

    def cancel_jobs(self, jobs):
        self.cancelled += [info.job for info in jobs]

    def shutdown(self):
        self.said.append("shut down")


class Job(SimpleNamespace):
    __hash__, __eq__ = object.__hash__, object.__eq__


def job(layout, rule, log):
    names = {"wildcards": SimpleNamespace(matrix=str(layout.root)), "log": [str(log)]}
    return Job(rule=SimpleNamespace(name=rule), is_group=lambda: False, **names)


def test_a_run_that_is_held_back_is_not_submitted_and_a_score_is(layout, tmp_path):
    executor = Executor()
    remote.follow(SimpleNamespace(scheduler=SimpleNamespace(_executor=executor)))
    append_line(layout.launches, LAUNCH)
    log = tmp_path / "logs" / "measure.log"
    first, second, score = (job(layout, rule, log) for rule in ("measure", "measure", "score_run"))
    executor.run_job(first)
    for number in range(2):
        append_line(layout.refusals(LAUNCH["id"]), {"run": str(number), "refused": True, "said": "503"})
    executor.run_job(second)
    executor.run_job(score)
    assert (executor.submitted, executor.failed) == ([first, score], [second])
    assert log.read_text().startswith(NOT_STARTED)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "stopping: cancelling 2 jobs"),
        ({"cancel_cmd": "scancel"}, "stopping: cancelling 2 jobs"),
        ({"cancel_cmd": None}, "stopping: 2 jobs left to end"),
    ],
)
def test_a_stop_says_how_many_jobs_it_cancels_and_forgets_none(layout, tmp_path, settings, said):
    executor, running = Executor(**settings), []
    remote.follow(SimpleNamespace(scheduler=SimpleNamespace(_executor=executor, running=running)))
    ended, *living = (job(layout, "score_run", tmp_path / "log") for _ in range(3))
    for each in (ended, *living):
        executor.run_job(each)
    running += [*living, job(layout, "collect", tmp_path / "log")]
    executor.cancel()
    assert (executor.cancelled, executor.said) == (living, [said, "shut down"])

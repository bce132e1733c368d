import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from interrupting import OBEDIENT, PATIENCE, STUBBORN, eventually, nap, open_door, python, running

from trysquare import interrupt

__all__ = ["nap", "open_door"]


@pytest.mark.parametrize("adopt", ["", "interrupt.adopt()"])
def test_nothing_survives_a_parent_that_was_killed(nap: str, adopt: str) -> None:
    with python(f"{adopt}\ninterrupt.run({STUBBORN})", nap) as process:
        assert eventually(lambda: len(running(nap)) == 2)
        process.kill()
    assert eventually(lambda: not running(nap))


def test_a_brief_child_does_not_survive_its_parent_either(nap: str) -> None:
    with python("interrupt.run(['sleep', sys.argv[1]], brief=True)", nap) as process:
        assert eventually(lambda: running(nap))
        process.kill()
    assert eventually(lambda: not running(nap))


LEAVING = """
from trysquare.interrupt.registry import REGISTRY
interrupt.adopt()
REGISTRY.spawn(['sleep', sys.argv[1]], None, None, (None, -3, -3), True)
interrupt.dismiss()
os._exit(0)
"""


def test_a_job_that_ends_with_a_child_still_running_leaves_it_to_the_sentinel(nap: str) -> None:
    with python(LEAVING, nap) as process:
        assert process.wait(PATIENCE) == 0
    assert eventually(lambda: not running(nap))


def test_the_child_itself_dies_with_a_parent_whose_guard_was_killed_first(nap: str) -> None:
    with python("interrupt.run(['sleep', sys.argv[1]])", nap) as process:
        assert eventually(lambda: running(nap))
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for guard in set(map(int, children)) - set(running(nap)):
            os.kill(guard, signal.SIGKILL)
        process.kill()
    assert eventually(lambda: not running(nap))


JOB = """
interrupt.adopt()
try:
    interrupt.run({tree})
except Exception:
    print('taken for a result')
finally:
    print('cleaned', flush=True)
"""

QUICK_JOB = JOB.format(tree=OBEDIENT)

STUBBORN_JOB = JOB.format(tree=STUBBORN)


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_job_asked_to_stop_ends_its_tree_cleans_up_and_says_interrupted(nap: str, signum: signal.Signals) -> None:
    with python(QUICK_JOB, nap, start_new_session=True) as process:
        assert eventually(lambda: len(running(nap)) == 2)
        process.send_signal(signum)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (interrupt.INTERRUPTED, "cleaned\n", "interrupted\n")
    assert not running(nap)


def test_a_job_asked_again_and_again_still_cleans_up(nap: str) -> None:
    with python(STUBBORN_JOB, nap, start_new_session=True) as process:
        assert eventually(lambda: len(running(nap)) == 2)
        while process.poll() is None:
            for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                process.send_signal(signum)
            threading.Event().wait(0.005)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (interrupt.INTERRUPTED, "cleaned\n", "interrupted\n")
    assert not running(nap)


def test_a_job_leaves_when_its_parent_is_killed(nap: str, tmp_path: Path) -> None:
    parent = f"import subprocess\nsubprocess.run([sys.executable, '-c', sys.argv[2], sys.argv[1]])\n# {tmp_path}"
    source = "from trysquare import interrupt\nimport sys, os\n" + QUICK_JOB
    with python(parent, nap, source) as process:
        assert eventually(lambda: len(running(nap)) == 2)
        process.kill()
        out, err = process.communicate(timeout=PATIENCE)
    assert (out, err) == ("cleaned\n", "interrupted\n")
    assert not running(nap)


def test_a_job_whose_parent_was_gone_before_it_looked_does_not_start() -> None:
    child = "from trysquare import interrupt; import sys; sys.stdin.read(); interrupt.adopt(); print('went on')"
    parent = "import subprocess; child = subprocess.Popen([sys.executable, '-c', sys.argv[1]]); os._exit(0)"
    with python(parent, child, stdin=subprocess.PIPE, start_new_session=True) as process:
        process.wait(PATIENCE)
        out, err = process.communicate(timeout=PATIENCE)
    assert (out, err) == ("", "")


def test_a_hangup_that_is_ignored_already_stays_ignored(tmp_path: Path) -> None:
    source = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
{how}
os.kill(os.getpid(), signal.SIGHUP)
print(interrupt.stopping())
"""
    for how in ("interrupt.adopt()", "interrupt.forward()", "h = interrupt.handled(); h.__enter__()"):
        with python(source.format(how=how)) as process:
            assert process.communicate(timeout=PATIENCE) == ("False\n", "")


MAIN = """
import subprocess, threading
interrupt.forward()
source = 'from trysquare import interrupt\\nimport sys\\n' + sys.argv[2]
jobs = [subprocess.Popen([sys.executable, '-c', source, sys.argv[1]], stdout=subprocess.DEVNULL) for _ in range(2)]
try:
    threading.Event().wait()
except KeyboardInterrupt:
    print('interrupted', [job.wait() for job in jobs], flush=True)
"""


@pytest.mark.parametrize(
    ("signum", "times", "job"),
    [
        (signal.SIGTERM, 1, QUICK_JOB),
        (signal.SIGINT, 1, QUICK_JOB),
        (signal.SIGHUP, 1, QUICK_JOB),
        (signal.SIGTERM, 3, STUBBORN_JOB),
        (signal.SIGINT, 3, STUBBORN_JOB),
    ],
)
def test_a_stop_that_reaches_only_the_main_process_ends_its_jobs(
    nap: str, signum: signal.Signals, times: int, job: str
) -> None:
    with python(MAIN, nap, job, start_new_session=True) as process:
        assert eventually(lambda: len(running(nap)) == 4)
        for _ in range(times):
            process.send_signal(signum)
            threading.Event().wait(0.1)
        out, err = process.communicate(timeout=PATIENCE)
    assert (out, err, process.returncode) == ("interrupted [130, 130]\n", 2 * "interrupted\n", 0)
    assert not running(nap)


def test_a_stop_that_reaches_the_whole_group_ends_everything(nap: str) -> None:
    with python(MAIN, nap, QUICK_JOB, start_new_session=True) as process:
        assert eventually(lambda: len(running(nap)) == 4)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (out, err) == ("interrupted [130, 130]\n", 2 * "interrupted\n")
    assert not running(nap)

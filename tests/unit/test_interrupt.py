import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from trysquare import interrupt

PATIENCE = 20.0


@pytest.fixture(autouse=True)
def open_door() -> Iterator[None]:
    interrupt.reset()
    yield
    interrupt.reset()


@pytest.fixture
def nap() -> Iterator[str]:
    """The argument of a long sleep that no other process on this machine has."""
    seconds = f"{random.SystemRandom().randint(10**6, 10**7)}.5"
    yield seconds
    for pid in running(seconds):
        os.kill(pid, signal.SIGKILL)


def running(word: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            argv = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if argv[0].endswith(b"sleep") and word.encode() in argv:
            found.append(int(entry.name))
    return found


def eventually(condition: Callable[[], object]) -> bool:
    deadline = time.monotonic() + PATIENCE
    tick = threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            return False
        tick.wait(0.01)
    return True


def python(source: str, *args: str, **options: object) -> "subprocess.Popen[str]":
    argv = [sys.executable, "-W", "error", "-c", "from trysquare import interrupt\nimport sys, os\n" + source, *args]
    return subprocess.Popen(argv, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload,no-any-return]


def stubborn(nap: str) -> list[str]:
    """Two sleeps that ignore SIGTERM, one of them in a session of its own."""
    return ["sh", "-c", f"trap '' TERM; setsid sleep {nap} & echo ready; sleep {nap}"]


OBEDIENT = "['sh', '-c', f'setsid sleep {sys.argv[1]} & sleep {sys.argv[1]}']"
STUBBORN = "['sh', '-c', f\"trap '' TERM; setsid sleep {sys.argv[1]} & sleep {sys.argv[1]}\"]"


def test_a_child_is_run_as_subprocess_would_run_it(tmp_path: Path) -> None:
    argv = ["sh", "-c", "cat; printf 'a\\r\\nb\\n' >&2; pwd; echo $X; exit 7"]
    options = {"cwd": tmp_path, "env": {"X": "y", "PATH": os.environ["PATH"]}, "capture_output": True, "text": True}
    mine = interrupt.run(argv, input="in\n", **options)
    theirs = subprocess.run(argv, input="in\n", **options)
    assert (mine.args, mine.returncode, mine.stdout, mine.stderr) == (
        theirs.args,
        theirs.returncode,
        theirs.stdout,
        theirs.stderr,
    )


def test_more_than_a_pipe_holds_goes_in_and_comes_out() -> None:
    data = random.Random(1).randbytes(3_000_000)
    assert interrupt.run(["cat"], input=data, capture_output=True).stdout == data


def test_a_child_that_does_not_read_its_input_is_no_error() -> None:
    assert interrupt.run(["true"], input=b"x" * 1_000_000).returncode == 0


def test_a_program_that_does_not_exist_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        interrupt.run(["no-such-program"])


def test_a_file_given_as_stdout_takes_precedence_over_capturing(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        done = interrupt.run(["sh", "-c", "echo out; echo err >&2"], stdout=out, capture_output=True)
    assert (done.stdout, done.stderr, (tmp_path / "out").read_bytes()) == (None, b"err\n", b"out\n")


def test_a_file_given_as_stderr_takes_precedence_over_capturing(tmp_path: Path) -> None:
    with (tmp_path / "err").open("wb") as err:
        done = interrupt.run(["sh", "-c", "echo out; echo err >&2"], stderr=err, capture_output=True)
    assert (done.stdout, done.stderr, (tmp_path / "err").read_bytes()) == (b"out\n", None, b"err\n")


def test_undecodable_text_is_replaced_rather_than_fatal() -> None:
    assert interrupt.run(["printf", r"a\377b"], capture_output=True, text=True).stdout == "a�b"


def test_a_child_leads_a_session_of_its_own() -> None:
    source = "import os; print(os.getpid() == os.getsid(0) == os.getpgid(0))"
    assert interrupt.run([sys.executable, "-c", source], capture_output=True, text=True).stdout == "True\n"


def test_a_timeout_ends_the_whole_tree_and_hands_over_what_was_written(nap: str) -> None:
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        interrupt.run(stubborn(nap), timeout=0.3, capture_output=True, text=True)
    assert caught.value.output == b"ready\n"
    assert not running(nap)


def test_a_child_that_answers_a_timeout_in_time_is_not_killed(tmp_path: Path) -> None:
    script = f"trap 'echo bye > {tmp_path}/word; exit 0' TERM; echo up; while :; do sleep 0.05; done"
    with pytest.raises(subprocess.TimeoutExpired):
        interrupt.run(["bash", "-c", script], timeout=0.3, capture_output=True)
    assert (tmp_path / "word").read_text() == "bye\n"


@pytest.mark.parametrize("adopt", ["", "interrupt.adopt()"])
@pytest.mark.parametrize(
    "daemon",
    [
        "sleep {nap} & ",
        "setsid sleep {nap} & ",
        "(setsid sh -c 'sleep {nap} & sleep {nap}' &) ; ",
    ],
    ids=["group", "session", "daemon"],
)
def test_a_daemon_left_behind_is_killed_although_it_holds_the_output_open(nap: str, daemon: str, adopt: str) -> None:
    source = f"""
{adopt}
done = interrupt.run(['sh', '-c', sys.argv[1] + 'echo suite; exit 3'], capture_output=True, text=True)
print(done.returncode, done.stdout, end='')
"""
    with python(source, daemon.format(nap=nap)) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert (out, err) == ("3 suite\n", "")
    assert not running(nap)


def test_a_job_kills_a_daemon_that_cleared_its_environment(nap: str) -> None:
    source = """
interrupt.adopt()
interrupt.run(['sh', '-c', f'(setsid env -i sleep {sys.argv[1]} &)'])
from trysquare.interrupt.processes import children
print(len(children(os.getpid())))
"""
    with python(source, nap) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert (out, err) == ("1\n", ""), "only the guard may be left, no orphan, running or unreaped"
    assert not running(nap)


def test_daemons_of_a_child_that_still_runs_are_left_alone(nap: str, tmp_path: Path) -> None:
    source = """
import threading
interrupt.adopt()
go, nap = sys.argv[1:]
script = f'(setsid sleep {nap} &); mkfifo {go}; read x < {go}'
slow = threading.Thread(target=interrupt.run, args=(['sh', '-c', script],))
slow.start()
while not os.path.exists(go):
    threading.Event().wait(0.01)
interrupt.run(['true'])
print('alive' if interrupt.run(['pgrep', '-f', f'sleep {nap}$'], capture_output=True).stdout else 'dead')
os.close(os.open(go, os.O_WRONLY))
slow.join()
"""
    with python(source, str(tmp_path / "go"), nap) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert (out, err) == ("alive\n", "")
    assert not running(nap)


def test_captured_output_past_the_ceiling_ends_the_child(nap: str) -> None:
    with pytest.raises(interrupt.TooMuchOutput, match="more than 100000 bytes"):
        interrupt.run(["sh", "-c", f"sleep {nap} & yes"], capture_output=True, ceiling=100_000)
    assert not running(nap)


def test_output_measured_by_the_caller_past_the_ceiling_ends_the_child(nap: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    with path.open("wb") as out, pytest.raises(interrupt.TooMuchOutput):
        interrupt.run(
            ["sh", "-c", f"echo overrun; sleep {nap}"], stdout=out, ceiling=5, written=lambda: path.stat().st_size
        )
    assert not running(nap)


def test_a_child_too_quick_to_be_weighed_is_weighed_after_its_end(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with path.open("wb") as out, pytest.raises(interrupt.TooMuchOutput):
        interrupt.run(["echo", "overrun"], stdout=out, ceiling=5, written=lambda: path.stat().st_size)


def test_output_up_to_the_ceiling_is_allowed() -> None:
    assert interrupt.run(["printf", "12345"], capture_output=True, ceiling=5).stdout == b"12345"


def test_no_child_starts_after_a_stop(tmp_path: Path) -> None:
    interrupt.stop(signal.SIGTERM)
    interrupt.stop(signal.SIGINT)
    with pytest.raises(interrupt.Stopped):
        interrupt.run(["touch", str(tmp_path / "started")])
    assert not (tmp_path / "started").exists()
    assert interrupt.stopping()
    assert interrupt.signalled() == signal.SIGTERM


def test_a_stop_passes_through_handlers_of_ordinary_errors() -> None:
    assert issubclass(interrupt.Stopped, KeyboardInterrupt)
    assert not issubclass(interrupt.Stopped, Exception)


def test_a_stop_ends_every_running_child_and_none_of_them_has_a_result(nap: str) -> None:
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(interrupt.run, stubborn(nap), capture_output=True) for _ in range(3)]
        assert eventually(lambda: len(running(nap)) == 6)
        interrupt.stop()
        for run in runs:
            with pytest.raises(interrupt.Stopped):
                run.result(PATIENCE)
    assert not running(nap)


def test_many_children_at_once_keep_their_own_output() -> None:
    with ThreadPoolExecutor(8) as pool:
        outputs = pool.map(lambda n: interrupt.run(["echo", str(n)], capture_output=True, text=True).stdout, range(40))
        assert list(outputs) == [f"{n}\n" for n in range(40)]


def test_neither_descriptors_nor_zombies_nor_threads_are_left() -> None:
    source = """
import subprocess, threading, time
from pathlib import Path
def used():
    return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()
def zombies():
    below = [pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]
    return [pid for pid in below if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"]
interrupt.run(["true"], capture_output=True)
before = used()
for argv in (["cat"], ["false"], ["sh", "-c", "exec >&- 2>&-; exit 1"]) * 5:
    interrupt.run(argv, input=b"x", capture_output=True)
try:
    interrupt.run(["cat"], input=b"", stdout=subprocess.PIPE, timeout=0.0)
except subprocess.TimeoutExpired:
    print("too slow")
deadline = time.monotonic() + float(sys.argv[1])
while (used() != before or zombies()) and time.monotonic() < deadline:
    time.sleep(0.01)
print(used() == before, zombies())
"""
    with python(source, str(PATIENCE)) as process:
        assert process.communicate() == ("too slow\nTrue []\n", "")


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


def test_a_handled_signal_unwinds_with_the_children_gone_and_the_handlers_given_back(nap: str) -> None:
    before = signal.getsignal(signal.SIGTERM)
    asker = threading.Thread(
        target=lambda: eventually(lambda: len(running(nap)) == 2) and os.kill(os.getpid(), signal.SIGTERM)
    )
    asker.start()
    with pytest.raises(interrupt.Stopped) as caught, interrupt.handled(signal.SIGTERM):
        interrupt.run(stubborn(nap), stdout=subprocess.DEVNULL)
    asker.join()
    assert caught.value.signum == signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) == before
    assert not running(nap)


def test_off_the_main_thread_handling_signals_installs_nothing() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with ThreadPoolExecutor(1) as pool:

        def inside() -> object:
            with interrupt.handled(signal.SIGTERM):
                return signal.getsignal(signal.SIGTERM)

        assert pool.submit(inside).result() == before


WEDGED = f"""
import faulthandler, signal, threading
faulthandler.register(signal.SIGUSR1, all_threads=True)
interrupt.on_hard_exit(lambda: os.write(1, b'terminal given back\\n'))
child = threading.Thread(target=lambda: interrupt.run({STUBBORN}), daemon=True)
threading.excepthook = lambda _: None
with interrupt.handled():
    child.start()
    while True:
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            os.write(1, b'asked\\n')
"""


def heard(process: "subprocess.Popen[str]", line: str) -> None:
    """Read one line; where it does not come in time, what every thread of the process does is the failure's text.

    What comes after it is left unread: the descriptor is read, and not the stream, which would read ahead.
    """
    assert process.stdout is not None and process.stderr is not None
    out, err, wanted, said = process.stdout.fileno(), process.stderr.fileno(), line.encode(), b""
    deadline = time.monotonic() + PATIENCE
    while said != wanted and wanted.startswith(said):
        ready = select.select([out], [], [], max(0.0, deadline - time.monotonic()))[0]
        letter = os.read(out, 1) if ready else b""
        if not letter:
            break
        said += letter
    if said == wanted:
        return
    status = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    process.send_signal(signal.SIGUSR1)
    doing = os.read(err, 65536).decode() if select.select([err], [], [], PATIENCE)[0] else "nothing is said"
    process.kill()
    pytest.fail(f"heard {said!r}, not {line!r}; {[row for row in status if row.startswith(('Sig', 'Shd'))]}\n{doing}")


@pytest.mark.parametrize("times", [1, 2])
def test_a_process_that_will_not_unwind_leaves_all_the_same(nap: str, times: int) -> None:
    with python(WEDGED, nap) as process:
        assert eventually(lambda: len(running(nap)) == 2)
        process.send_signal(signal.SIGINT)
        heard(process, "asked\n")
        for _ in range(times - 1):
            process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, rest) == (interrupt.INTERRUPTED, "terminal given back\n")
    assert eventually(lambda: not running(nap))


def test_a_process_whose_children_nobody_can_list_any_more_leaves_all_the_same() -> None:
    source = """
import threading
from trysquare.interrupt.registry import REGISTRY
held = threading.Event()
def hold():
    with REGISTRY.lock:
        held.set()
        threading.Event().wait()
with interrupt.handled():
    threading.Thread(target=hold, daemon=True).start()
    held.wait()
    print('held', flush=True)
    threading.Event().wait()
"""
    with python(source) as process:
        heard(process, "held\n")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (interrupt.INTERRUPTED, "", "")


def test_a_stop_waits_for_the_end_of_what_must_not_be_cut_in_two(tmp_path: Path) -> None:
    source = """
interrupt.forward()
try:
    with interrupt.deferred():
        os.kill(os.getpid(), 15)
        os.kill(os.getpid(), 15)
        print("whole", flush=True)
    print("never", flush=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
with interrupt.deferred():
    print("nothing waits", flush=True)
"""
    argv = [sys.executable, "-c", "from trysquare import interrupt\nimport os\n" + source]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.returncode) == ("whole\nstopped\nnothing waits\n", 0), done.stderr


def test_a_stop_is_not_lost_between_two_threads_neither_of_which_may_be_cut_in_two() -> None:
    source = """
interrupt.forward()
first, second, ended = (threading.Event() for _ in range(3))
def submit():
    with interrupt.deferred():
        first.set()
        ended.wait()
        print("whole", flush=True)
def submit_shortly():
    first.wait()
    with interrupt.deferred():
        pass
    second.set()
threads = [threading.Thread(target=each) for each in (submit, submit_shortly)]
for thread in threads:
    thread.start()
try:
    second.wait()
    os.kill(os.getpid(), 15)
    print("asked", interrupt.stopping(), flush=True)
    ended.set()
    for thread in threads:
        thread.join()
    print("never", flush=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    argv = [sys.executable, "-c", "from trysquare import interrupt\nimport os, threading\n" + source]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr) == ("asked True\nwhole\nstopped\n", "")


def test_a_main_process_that_was_asked_to_stop_says_so_whatever_is_made_of_the_exception() -> None:
    asked = python(
        "import signal\n"
        "interrupt.forward()\n"
        "interrupt.insist()\n"
        "try:\n    signal.raise_signal(signal.SIGTERM)\n"
        "except KeyboardInterrupt:\n    print('an input function failed')\n    raise SystemExit(1)"
    )
    out, err = asked.communicate(timeout=PATIENCE)
    assert (asked.returncode, out, err) == (interrupt.INTERRUPTED, "an input function failed\n", "")

import os
import select
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from interrupting import PATIENCE, STUBBORN, eventually, nap, open_door, python, running, stubborn

from trysquare import interrupt

__all__ = ["nap", "open_door"]


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

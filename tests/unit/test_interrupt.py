import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from interrupting import PATIENCE, nap, open_door, python, running, stubborn

from trysquare import interrupt

__all__ = ["nap", "open_door"]


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

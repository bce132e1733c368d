"""The way from a rule into a job: real servers, clients and jobs, and every one of them killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from interrupting import eventually

from trysquare import forkserver

JOB = """
import json, os, signal, sys
from pathlib import Path
from trysquare import interrupt

def main(arguments):
    act, *rest = arguments
    if act == "say":
        print(json.dumps([os.getcwd(), rest, os.environ.get("ODD"), os.environ.get("GONE"), sys.stdin.read()]))
        print("aside", file=sys.stderr)
        return 7
    if act == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if act == "mark":
        interrupt.run(["true"])
        print(interrupt.registry.REGISTRY.token)
        return 0
    if act == "ignores":
        print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)
        return 0
    if act == "nap":
        Path(rest[0]).write_text(str(os.getppid()))
        interrupt.run(["sleep", rest[1]])
    return 0
"""


Client = Callable[..., "subprocess.Popen[str]"]
Napping = Callable[[], "tuple[subprocess.Popen[str], psutil.Process]"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "somejob.py").write_text(
        JOB + "\nif __name__ == '__main__':\n    from trysquare.jobs import entry\n    entry(main)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    return tmp_path


@pytest.fixture
def token(place: Path) -> str:
    return os.urandom(8).hex()


@pytest.fixture
def server(token: str) -> Iterator[psutil.Process]:
    """A server of its own launch: the process that lets go when it ends."""
    before = set(psutil.Process().children())
    started = forkserver.ForkServer(token)
    name = forkserver.address(token)
    assert eventually(lambda: f"@{name}" in Path("/proc/net/unix").read_text())
    [process] = set(psutil.Process().children()) - before
    yield process
    started.close()
    assert not process.is_running()


@pytest.fixture
def client(token: str) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Starts what a rule starts, with pipes for streams."""
    asked: list[subprocess.Popen[str]] = []

    def start(*words: str, **options: object) -> "subprocess.Popen[str]":
        argv = ["bash", "-c", f'exec {forkserver.command(token)} "$@"', "bash", *words]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        asked.append(subprocess.Popen(argv, text=True, **(pipes | options)))  # type: ignore[call-overload]
        return asked[-1]

    yield start
    for each in asked:
        if each.poll() is None:
            each.terminate()
            each.wait()
        for pipe in (each.stdin, each.stdout, each.stderr):
            assert pipe is not None
            pipe.close()


def said(place: Path, client: Client) -> tuple[int, str, str]:
    environment = {**os.environ, "ODD": "a=b\nü"}
    environment.pop("GONE", None)
    here = place / "a place"
    here.mkdir()
    asked = client("somejob", "say", "two words", "", "*", cwd=here, env=environment)
    out, err = asked.communicate("hello")
    return asked.returncode, out, err


@pytest.fixture
def napping(place: Path, client: Client) -> Iterator[Napping]:
    """Starts a client whose job waits for a child; returns the client and the child, whose parent is the job."""
    seconds = f"{10**6 + int.from_bytes(os.urandom(3))}.5"

    def children() -> list[psutil.Process]:
        return [each for each in psutil.process_iter(["cmdline"]) if each.info["cmdline"] == ["sleep", seconds]]

    def start() -> "tuple[subprocess.Popen[str], psutil.Process]":
        asked = client("somejob", "nap", str(place / "parent"), seconds)
        assert eventually(children)
        return asked, children()[0]

    yield start
    for each in children():
        with suppress(psutil.Error):
            each.kill()


def test_a_job_takes_the_place_of_its_client(place: Path, client: Client, server: psutil.Process) -> None:
    status, out, err = said(place, client)
    assert (status, err) == (7, "aside\n")
    assert out == f'["{place}/a place", ["two words", "", "*"], "a=b\\n\\u00fc", null, "hello"]\n'


def test_without_a_server_the_client_becomes_the_job(place: Path, client: Client) -> None:
    status, out, err = said(place, client)
    assert (status, err) == (7, "aside\n")
    assert out == f'["{place}/a place", ["two words", "", "*"], "a=b\\n\\u00fc", null, "hello"]\n'


def test_a_job_is_forked_from_the_server(place: Path, server: psutil.Process, napping: Napping) -> None:
    asked, _ = napping()
    assert (place / "parent").read_text() == str(server.pid)
    asked.terminate()
    asked.wait()


def test_jobs_do_not_share_the_mark_by_which_each_finds_its_own_children(
    client: Client, server: psutil.Process
) -> None:
    marks = {client("somejob", "mark").communicate()[0] for _ in range(3)}
    assert len(marks) == 3
    assert "\n" not in marks


def test_a_job_that_was_killed_fails(client: Client, server: psutil.Process) -> None:
    asked = client("somejob", "die")
    assert asked.communicate() == ("", "")
    assert asked.returncode == 128 + signal.SIGKILL


def test_a_module_that_cannot_be_loaded_says_why(client: Client, server: psutil.Process) -> None:
    asked = client("nosuchjob")
    assert "nosuchjob" in asked.communicate()[1]
    assert asked.returncode == 1


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGKILL])
def test_a_job_killed_before_it_began_is_neither_begun_again_nor_given_another_status(
    signum: int, place: Path, client: Client, server: psutil.Process
) -> None:
    (place / "early.py").write_text(f"import os; open('loads', 'a').write('x'); os.kill(os.getpid(), {signum})")
    asked = client("early", cwd=place)
    assert asked.communicate() == ("", "")
    assert asked.returncode == 128 + signum
    assert (place / "loads").read_text() == "x"


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_client_stops_its_job(signum: int, server: psutil.Process, napping: Napping) -> None:
    asked, child = napping()
    asked.send_signal(signum)
    assert asked.wait(10) == 130
    assert not child.is_running()
    assert asked.stderr is not None
    assert asked.stderr.read() == "interrupted\n"


def test_a_killed_client_stops_its_job_and_no_other(
    place: Path, client: Client, server: psutil.Process, napping: Napping
) -> None:
    asked, child = napping()
    other = client("somejob", "nap", str(place / "other"), "987654.5")
    assert eventually((place / "other").exists)
    asked.kill()
    assert eventually(lambda: not child.is_running())
    assert other.poll() is None
    other.terminate()
    assert other.wait(10) == 130


def test_a_killed_server_takes_its_jobs_along(server: psutil.Process, napping: Napping) -> None:
    asked, child = napping()
    server.kill()
    assert asked.wait(10) == 1
    assert not child.is_running()
    assert asked.stderr is not None
    assert "fork server" in asked.stderr.read()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_server_ends_after_its_jobs(signum: int, server: psutil.Process, napping: Napping) -> None:
    asked, child = napping()
    server.send_signal(signum)
    assert asked.wait(10) == 130
    assert not child.is_running()
    assert eventually(lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE)


def test_a_server_ends_with_its_launch_and_so_do_its_jobs(place: Path, token: str, client: Client) -> None:
    launch = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import time; from trysquare.forkserver import ForkServer; ForkServer({token!r}); time.sleep(99)",
        ]
    )
    assert eventually(lambda: f"@{forkserver.address(token)}" in Path("/proc/net/unix").read_text())
    [server] = psutil.Process(launch.pid).children()
    asked = client("somejob", "nap", str(place / "parent"), "987653.5")
    assert eventually((place / "parent").exists)
    launch.kill()
    launch.wait()
    assert asked.wait(10) == 130
    assert eventually(lambda: not server.is_running())


def test_what_is_ignored_stays_ignored(place: Path, token: str) -> None:
    source = (
        "import signal, subprocess, sys; from trysquare import forkserver\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        f"server = forkserver.ForkServer({token!r})\n"
        f"while '@{forkserver.address(token)}' not in open('/proc/net/unix').read(): pass\n"
        f"subprocess.run([*forkserver.command({token!r}).split(), 'somejob', 'ignores']); server.close()"
    )
    assert subprocess.run([sys.executable, "-c", source], capture_output=True, text=True).stdout == "True\n"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be two users")
def test_nothing_is_handed_to_the_server_of_another_user(place: Path, token: str, client: Client) -> None:
    source = (
        "import os, socket, sys; os.setuid(65534); s = socket.socket(socket.AF_UNIX)\n"
        "s.bind('\\0' + sys.argv[1]); s.listen(); print('ready', flush=True)\n"
        "c, _ = s.accept(); print(c.recv(100), flush=True)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", source, forkserver.address(token)], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "ready\n"
    assert said(place, client)[0] == 7
    assert other.communicate()[0] == "b''\n"

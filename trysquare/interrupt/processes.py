"""What /proc says of processes, and how a set of them is brought to an end."""

import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
TICK = 0.01

_LIBC = ctypes.CDLL(None, use_errno=True)
_PROC = Path("/proc")


def prctl(option: int, value: int) -> None:
    """prctl(2) of the calling process.

    Raises
    ------
    OSError
        When the kernel refuses.
    """
    if _LIBC.prctl(option, value, 0, 0, 0):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


@dataclass(frozen=True)
class Process:
    """A process that cannot be mistaken for a later one of the same id; `started` is in clock ticks since boot."""

    pid: int
    started: int


def look(pid: int) -> Process | None:
    """The process running under an id; None when there is none, or only its exit status is left."""
    try:
        stat = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    return None if fields[0] in (b"Z", b"X") else Process(pid, int(fields[19]))


def alive(pids: Iterable[int]) -> list[Process]:
    """Those of the ids that run, each once."""
    return [process for process in map(look, dict.fromkeys(pids)) if process is not None]


def children(pid: int) -> list[int]:
    """The ids of the children of every thread of a process, ended ones that wait for their parent included."""
    found: list[int] = []
    with suppress(OSError):
        for task in (_PROC / str(pid) / "task").iterdir():
            with suppress(OSError):
                found += map(int, (task / "children").read_bytes().split())
    return found


def descendants(pid: int, *spared: int) -> list[int]:
    """The ids of everything below a process, parents first, without the `spared` branches."""
    found, seen = [pid], {pid, *spared}
    for each in found:
        new = [child for child in children(each) if child not in seen]
        seen.update(new)
        found += new
    return found[1:]


def marked(mark: str, among: Iterable[int] | None = None) -> list[int]:
    """The ids of the processes, `among` some or all of this user, that have `mark` in their environment."""
    pids = among if among is not None else (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit())
    wanted, found = mark.encode(), []
    for pid in pids:
        with suppress(OSError):
            if wanted in (_PROC / str(pid) / "environ").read_bytes():
                found.append(pid)
    return found


def send(processes: Iterable[Process], signum: int) -> None:
    """One signal to each process that is still the one it was."""
    for process in processes:
        if look(process.pid) == process:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signum)


def take_down(find: Callable[[], list[Process]], grace: float, wait: Callable[[float], object] = time.sleep) -> None:
    """Ask what `find` lists to end, then make it.

    SIGTERM, at most `grace` seconds to answer, then SIGKILL to whatever `find` lists by then, until it lists nothing.
    Gives up after `grace` further seconds: what survives SIGKILL so long waits for a device. `wait` is called
    between two looks with the seconds it may take.
    """
    send(find(), signal.SIGTERM)
    deadline = time.monotonic() + grace
    while find() and time.monotonic() < deadline:
        wait(TICK)
    destroy(find, grace, wait)


def destroy(find: Callable[[], list[Process]], grace: float, wait: Callable[[float], object] = time.sleep) -> None:
    """SIGKILL to what `find` lists until it lists nothing, for at most `grace` seconds."""
    deadline = time.monotonic() + grace
    while (left := find()) and time.monotonic() < deadline:
        send(left, signal.SIGKILL)
        wait(TICK / 10)

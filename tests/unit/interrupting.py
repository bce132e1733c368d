"""Processes to interrupt: sleeps that nothing else on this machine sleeps, below programs of any kind."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
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

"""Jobs that start without loading anything: forked from one process of their launch that has it all loaded.

Most of a short job is the start of an interpreter and its imports. The rule starts `client.py` in a bare interpreter
instead, which hands its directory, environment and streams to the fork server of its launch. Without one, as on
another machine, it becomes the job itself.
"""

import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

CLIENT: Final = Path(__file__).with_name("client.py")
PATIENCE = 10.0
"""Seconds a server may take to end: as long as a stopped job, and some."""


def command(token: str) -> str:
    """What starts a job through the server of a launch, before its module and arguments, quoted for a shell."""
    return shlex.join([sys.executable, "-I", "-S", str(CLIENT), address(token)])


def address(token: str) -> str:
    """The name of the abstract socket of a launch; the kernel frees it with the server."""
    return f"trysquare-{token}"


class ForkServer:
    """The server of one launch. It ends with the process that started it, and takes its jobs along."""

    def __init__(self, token: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "trysquare.forkserver.server", address(token)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def close(self) -> None:
        """Have it end once its jobs have."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE)

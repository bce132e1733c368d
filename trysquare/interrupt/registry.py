"""The children of this process that came through the door, and whether the door is shut."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

from trysquare.interrupt import processes
from trysquare.interrupt.processes import Process, alive, children, descendants, look, marked

GRACE = 2.0
"""Seconds a child has to answer SIGTERM before it is killed."""

DEADLINE = 5.0
"""Seconds a whole shutdown may take before the process leaves without it."""

POLL = 0.25
"""Seconds between two looks at what bounds a running child."""

INTERRUPTED = 130
"""The exit code of a process that left because it was asked to."""

MARK = "TRYSQUARE_CHILD"
"""The variable whose value tells the descendants of a child from all other processes, in whatever session they are."""

Where = int | IO[Any] | None
"""A standard stream of a child, as `subprocess.Popen` takes it."""

# Survives this process, also when it is killed, and ends whatever still carries its mark.
_SENTINEL = """
trap '' HUP INT TERM
read -r end
[ "$end" = over ] && exit
left=1 rounds=0
while [ -n "$left" ] && [ $rounds -lt 200 ]; do
  left=$(grep -lsF -e "$1" /proc/[0-9]*/environ)
  for file in $left; do file=${file#/proc/}; kill -9 "${file%/environ}" 2>/dev/null; done
  rounds=$((rounds + 1))
  [ -z "$left" ] || sleep 0.02
done
"""


class Stopped(KeyboardInterrupt):
    """A stop was asked for, so a child was not started or its end means nothing.

    A KeyboardInterrupt, so that `except Exception` around a measurement never takes a cancelled run for a result.
    """

    def __init__(self, signum: int | None = None, message: str = "") -> None:
        self.signum = signum
        super().__init__(message or "stopped on request")


class Registry:
    """Every running child, under one lock that the signal handlers may take again."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.running: dict[int, str] = {}
        self.stopping = False
        self.signum: int | None = None
        self.adopted = False
        self.token = ""
        self._count = 0
        self._sentinel: int | None = None
        self._lifeline = -1

    def spawn(
        self,
        argv: Sequence[str | os.PathLike[str]],
        cwd: Any,
        env: Mapping[str, str] | None,
        streams: Sequence[Where],
        brief: bool,
    ) -> tuple["subprocess.Popen[bytes]", str]:
        """Start a child in a session of its own; returns it with its mark.

        Raises
        ------
        Stopped
            Once a stop was asked for.
        """
        with self.lock:
            if self.stopping:
                raise Stopped(self.signum)
            self.token = self.token or os.urandom(8).hex()  # not before: a fork must not share it
            self._watch()
            self._count += 1
            mark = f"[{self.token}.{self._count}]"
            outer = os.environ.get(MARK, "")
            stdin, stdout, stderr = streams
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env={**(os.environ if env is None else env), MARK: outer + mark},
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                bufsize=0,
                start_new_session=True,
                preexec_fn=None if brief else _die_with(os.getpid()),  # with one, the whole process is forked
            )
            self.running[process.pid] = mark
            return process, mark

    def forget(self, pid: int) -> None:
        """A child that was reaped."""
        with self.lock:
            self.running.pop(pid, None)

    def shut(self, signum: int | None) -> bool:
        """Let no child start from here on; whether this call was the one that shut the door."""
        with self.lock:
            if self.stopping:
                return False
            self.stopping, self.signum = True, signum
            return True

    def below(self) -> list[Process]:
        """Everything running below this process, the sentinel left out, parents first."""
        return alive(descendants(os.getpid(), *self._spared()))

    def everything(self) -> list[Process]:
        """Every running process that any child of the door left in the world."""
        roots = list(self.running)  # in one step, and without the lock: a hard exit must not wait for it
        below = descendants(os.getpid(), *self._spared()) if self.adopted else []
        trees = [pid for root in roots for pid in (root, *descendants(root))]
        return alive([*below, *trees, *(marked(f"[{self.token}.") if self.token else [])])

    def strays(self, pid: int) -> list[Process]:
        """What one child that has ended left running; ended orphans are reaped on the way."""
        with self.lock:
            mark = self.running[pid]
            if not self.adopted:
                return alive(marked(mark))
            orphans = [
                each for each in children(os.getpid()) if each not in self.running and each not in self._spared()
            ]
            for orphan in orphans:
                if look(orphan) is None:
                    with suppress(ChildProcessError):
                        os.waitpid(orphan, os.WNOHANG)
            own = orphans if len(self.running) == 1 else marked(mark, orphans)
        return alive([each for orphan in own for each in (orphan, *descendants(orphan))])

    def dismiss(self) -> None:
        """Let the sentinel end without a search, where all that a child may have left would be below this process."""
        if self._sentinel is not None and self.adopted and not self.below():
            os.write(self._lifeline, b"over\n")

    def _spared(self) -> tuple[int, ...]:
        return () if self._sentinel is None else (self._sentinel,)

    def _watch(self) -> None:
        if self._sentinel is not None:
            return
        end, self._lifeline = os.pipe()
        quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
        self._sentinel = os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", _SENTINEL, "trysquare-sentinel", f"[{self.token}."],
            {"PATH": os.environ.get("PATH", os.defpath)},
            file_actions=[(os.POSIX_SPAWN_DUP2, end, 0), *quiet],
            setsid=True,
        )
        os.close(end)


def _die_with(parent: int) -> Callable[[], None]:
    def bind() -> None:
        processes.prctl(processes.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(INTERRUPTED)

    return bind


REGISTRY = Registry()

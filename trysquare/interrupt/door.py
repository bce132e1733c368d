"""The one door that starts child processes."""

import math
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

from trysquare.interrupt.processes import Process, alive, descendants, destroy, marked, take_down
from trysquare.interrupt.registry import GRACE, POLL, REGISTRY, Stopped, Where

CHUNK = 65536
_PIPE_BUF = 512


class TooMuchOutput(Exception):
    """A child that was ended for writing more than it was allowed: its exit status is evidence of nothing."""

    def __init__(self, what: str, limit: float) -> None:
        self.what, self.limit = what, limit
        super().__init__(f"{what} wrote more than {limit:.0f} bytes and was stopped")


def run(
    argv: Sequence[str | os.PathLike[str]],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    input: str | bytes | None = None,
    timeout: float | None = None,
    capture_output: bool = False,
    text: bool = False,
    stdin: Where = None,
    stdout: Where = None,
    stderr: Where = None,
    ceiling: float | None = None,
    written: Callable[[], float] | None = None,
    brief: bool = False,
) -> "subprocess.CompletedProcess[Any]":
    """`subprocess.run`, for a child this process can end together with all it started.

    The child leads a session of its own and dies with this process. Whatever it leaves running when it ends, in its
    own group or not, is killed before this returns. `stdout` and `stderr` take precedence over `capture_output`;
    `text` means UTF-8, undecodable bytes replaced, any line end as a line feed.

    Parameters
    ----------
    timeout : float, optional
        Seconds until the child and its descendants get SIGTERM, then SIGKILL after `GRACE`.
    ceiling : float, optional
        Bytes the child may write. `written` says how many it has; without it, what was captured is counted.
    brief : bool
        Whether the child is sure to end by itself at once, and keeps its environment. It starts in a third of the time,
        and when this process is killed it is ended by the sentinel alone.

    Raises
    ------
    Stopped
        When a stop was asked for, before or during the run.
    subprocess.TimeoutExpired
        With what was captured so far, as bytes.
    TooMuchOutput
        Past `ceiling`.
    """
    captured = subprocess.PIPE if capture_output else None
    streams = (
        subprocess.PIPE if input is not None else stdin,
        captured if stdout is None else stdout,
        captured if stderr is None else stderr,
    )
    process, mark = REGISTRY.spawn(argv, cwd, env, streams, brief)
    child = _Child(
        process, mark, input.encode() if isinstance(input, str) else input or b"", None if written else ceiling
    )
    limits = _Limits(argv, timeout, ceiling, written)
    try:
        child.watch()
        while not child.ended:
            child.pump(limits.patience())
            if REGISTRY.stopping:
                raise Stopped(REGISTRY.signum)
            limits.check(child)
    except subprocess.TimeoutExpired as error:
        take_down(child.remains, GRACE, child.pump)
        error.output, error.stderr = child.read(process.stdout), child.read(process.stderr)
        raise
    except BaseException:
        take_down(child.remains, GRACE, child.pump)
        raise
    finally:
        child.close()
    if REGISTRY.stopping:
        raise Stopped(REGISTRY.signum)
    limits.check_output(child)
    outputs = (child.read(process.stdout), child.read(process.stderr))
    return subprocess.CompletedProcess(argv, process.returncode, *map(_text, outputs) if text else outputs)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


@dataclass
class _Limits:
    argv: Sequence[Any]
    timeout: float | None
    ceiling: float | None
    written: Callable[[], float] | None
    started: float = field(default_factory=time.monotonic)

    def patience(self) -> float:
        left = math.inf if self.timeout is None else self.started + self.timeout - time.monotonic()
        return max(0.0, min(POLL, left))

    def check(self, child: "_Child") -> None:
        if self.timeout is not None and time.monotonic() >= self.started + self.timeout and not child.ended:
            raise subprocess.TimeoutExpired(self.argv, self.timeout)
        self.check_output(child)

    def check_output(self, child: "_Child") -> None:
        if self.ceiling is None:
            return
        if (child.taken if self.written is None else self.written()) > self.ceiling:
            raise TooMuchOutput(str(self.argv[0]), self.ceiling)


class _Child:
    """One running child: moves its bytes, notices its end, and leaves nothing of it behind."""

    def __init__(self, process: "subprocess.Popen[bytes]", mark: str, data: bytes, room: float | None) -> None:
        self.process, self.mark, self.room = process, mark, room
        self.ended = False
        self.taken = 0
        self._data = memoryview(data)
        self._kept: dict[int, list[bytes]] = {}
        self._selector = selectors.DefaultSelector()
        self._end, self._notice = os.pipe()

    def watch(self) -> None:
        """Follow the pipes, and the end of the child itself: a daemon may keep its pipes open for ever."""
        self._selector.register(self._end, selectors.EVENT_READ, self._ending)
        threading.Thread(target=self._await, name="door", daemon=True).start()
        if self.process.stdin is not None:
            self._selector.register(self.process.stdin, selectors.EVENT_WRITE, self._feed)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                self._kept[id(pipe)] = []
                self._selector.register(pipe, selectors.EVENT_READ, self._take)

    def pump(self, seconds: float) -> None:
        """Move what can be moved, waiting at most `seconds` for something to happen."""
        if not self._selector.get_map():
            time.sleep(seconds)
        for key, _ in self._selector.select(seconds):
            key.data(key.fileobj)

    def read(self, pipe: IO[bytes] | None) -> bytes | None:
        return None if pipe is None else b"".join(self._kept.get(id(pipe), ()))

    def remains(self) -> list[Process]:
        pid = self.process.pid
        return alive([pid, *descendants(pid), *marked(self.mark)])

    def close(self) -> None:
        """Kill what is left, read what it wrote, reap."""
        try:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            destroy(lambda: REGISTRY.strays(self.process.pid), GRACE)
            deadline = time.monotonic() + GRACE
            while self._selector.get_map() and (left := deadline - time.monotonic()) > 0:
                self.pump(left)
        finally:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(GRACE)
            REGISTRY.forget(self.process.pid)
            self._release()

    def _release(self) -> None:
        self._selector.close()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        os.close(self._end)

    def _await(self) -> None:
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)
        os.close(self._notice)

    def _ending(self, end: int) -> None:
        self.ended = True
        self._selector.unregister(end)

    def _feed(self, pipe: IO[bytes]) -> None:
        try:
            sent = os.write(pipe.fileno(), self._data[:_PIPE_BUF]) if self._data else 0
        except BrokenPipeError:
            sent = len(self._data)
        self._data = self._data[sent:]
        if not self._data:
            self._selector.unregister(pipe)
            with suppress(BrokenPipeError):
                pipe.close()

    def _take(self, pipe: IO[bytes]) -> None:
        chunk = os.read(pipe.fileno(), CHUNK)
        if chunk:
            self.taken += len(chunk)
            if self.room is None or self.taken <= self.room:
                self._kept[id(pipe)].append(chunk)
        else:
            self._selector.unregister(pipe)
            pipe.close()

"""Launching the agent, and keeping of its output what can be kept."""

import math
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from trysquare import interrupt
from trysquare.agent.arguments import PI
from trysquare.agent.home import REDACTED, secrets
from trysquare.agent.installation import command
from trysquare.agent.outcome import Outcome
from trysquare.agent.space import Space
from trysquare.measure.stream import DISCARDED, Fold, bounded, decoded

CHUNK = 65536
"""Bytes of the standard error that are kept, its end."""

PULSE: Mapping[str, Any] = {"type": "message_update"}
"""What stands for an event that is not kept: the agent is alive."""

Arguments = Sequence[str] | Callable[[int], Sequence[str]]
Watch = Callable[[Mapping[str, Any]], object]


def run(
    cwd: Path,
    args: Sequence[str],
    timeout: float,
    trace: Path,
    ceiling: int | None = None,
    watch: Watch | None = None,
    env: Mapping[str, str] | None = None,
    space: Space | None = None,
) -> Outcome:
    """Launch the agent once and wait for it.

    Parameters
    ----------
    args
        As `argv` makes them.
    timeout : float
        Seconds; what was consumed by then is a measurement all the same.
    trace
        Gets every event but those of `DISCARDED`, as they came.
    ceiling : int, optional
        Bytes the trace may have.
    watch : callable, optional
        Called with each kept event, and with the bare type of each discarded one, from another thread.
    space : Space, optional
        Ends the agent once what it may write to disk is used up.

    Raises
    ------
    interrupt.Stopped
        When a stop was asked for: the launch is then worth nothing.
    AgentError
        When there is no agent to launch.
    """
    sieve, tail = _Sieve(trace, ceiling, watch), _Tail()

    def weigh() -> float:
        return math.inf if space is not None and space.used_up() else sieve.weigh()

    ending: dict[str, Any] = {"code": None, "timed_out": False}
    started = time.monotonic()
    with sieve, tail:
        try:
            ending["code"] = interrupt.run(
                [*command(), *args[1:]] if args[0] == PI else args,
                cwd=cwd,
                env=env,
                timeout=timeout,
                stdin=subprocess.DEVNULL,
                stdout=sieve.entrance,
                stderr=tail.entrance,
                ceiling=sieve.ceiling,
                written=weigh,
            ).returncode
        except subprocess.TimeoutExpired:
            ending["timed_out"] = True
        except interrupt.TooMuchOutput:
            ending["overflowed"] = True
        ending["duration"] = time.monotonic() - started
    if space is not None and space.used_up(at_last=True):
        ending |= {"overflowed": True, "excess": space.excess}
    if sieve.failure is not None:
        raise sieve.failure
    return _outcome(sieve, tail.text, ending, secrets(os.environ if env is None else env))


def _outcome(sieve: "_Sieve", stderr: str, ending: Mapping[str, Any], hidden: Sequence[str]) -> Outcome:
    reading = sieve.fold.reading
    # A time limit aborts the answer under way, which is not the provider giving up.
    gave_up = "" if ending["timed_out"] and reading.aborted else reading.gave_up
    said: dict[str, Any] = {"error": reading.error, "stderr": stderr, "gave_up": gave_up}
    for secret in hidden:
        said = {name: text.replace(secret, REDACTED) for name, text in said.items()}
    return Outcome(
        trace=sieve.trace, response=reading.response, usage=reading.usage, model=reading.model, **said, **ending
    )


def run_until_productive(
    cwd: Path,
    args: Arguments,
    timeout: float,
    attempts: int,
    trace: Path,
    ceiling: int | None = None,
    watch: Watch | None = None,
    env: Mapping[str, str] | None = None,
    failed: Callable[[int, Outcome], object] | None = None,
    space: Space | None = None,
) -> Outcome:
    """Launch the agent until it produces something, at most `attempts` times; the last outcome.

    Only silence is tried again. What was signalled or hit the ceiling would end so again, and what was given up after a
    turn has left its traces in the tree, which only a fresh clone is free of.

    Parameters
    ----------
    args
        A sequence, or what makes one of the number of the attempt (from 1), to give each its own session directory.
    failed : callable, optional
        Called with the number and the outcome of each launch that produced nothing.
    """
    for attempt in range(1, attempts + 1):
        told = args(attempt) if callable(args) else args
        outcome = run(cwd, told, timeout, trace, ceiling, watch, env, space)
        if outcome.produced_something:
            break
        if failed is not None:
            failed(attempt, outcome)
        if outcome.signalled or outcome.overflowed or outcome.usage["turns"]:
            break
    return outcome


class _Drain:
    """A pipe the child writes to and a thread that empties it, for the length of a `with`."""

    def __enter__(self) -> "_Drain":
        self._exit, self.entrance = os.pipe()
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.entrance)
        self._thread.join(interrupt.GRACE)

    def _drain(self) -> None:
        raise NotImplementedError


class _Sieve(_Drain):
    """Keeps what is an event in the trace, and its sums in the fold."""

    def __init__(self, trace: Path, ceiling: int | None, watch: Watch | None) -> None:
        self.trace, self.watch = trace, watch
        self.ceiling = sys.maxsize if ceiling is None else ceiling
        self.fold = Fold()
        self.kept = 0
        self.failure: Exception | None = None

    def weigh(self) -> float:
        """Bytes to keep so far; past any ceiling once keeping has failed, so that the child is ended."""
        return self.kept if self.failure is None else math.inf

    def _drain(self) -> None:
        with os.fdopen(self._exit, "rb", buffering=CHUNK) as pipe:
            try:
                with self.trace.open("wb") as trace:
                    for line in bounded(pipe):
                        if not line.startswith(DISCARDED):
                            self._keep(line, trace)
                        elif self.watch is not None:
                            self.watch(PULSE)
            except Exception as error:
                self.failure = error
                deque(bounded(pipe), maxlen=0)

    def _keep(self, line: bytes, trace: IO[bytes]) -> None:
        self.kept += len(line)
        if self.kept > self.ceiling:
            return
        trace.write(line)
        trace.flush()
        for event in decoded([line]):
            self.fold.add(event)
            if self.watch is not None:
                self.watch(event)


class _Tail(_Drain):
    """Keeps the end of what is written."""

    def __init__(self) -> None:
        self._end = b""

    @property
    def text(self) -> str:
        return self._end.decode("utf-8", "replace")

    def _drain(self) -> None:
        with os.fdopen(self._exit, "rb", buffering=0) as pipe:
            while chunk := pipe.read(CHUNK):
                self._end = (self._end + chunk)[-CHUNK:]

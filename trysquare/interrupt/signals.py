"""Stopping: what the signals of an operator, of the engine and of a dead parent do to this process and its children."""

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from trysquare.interrupt.processes import (
    PR_SET_CHILD_SUBREAPER,
    PR_SET_PDEATHSIG,
    destroy,
    prctl,
    send,
    take_down,
)
from trysquare.interrupt.registry import DEADLINE, GRACE, INTERRUPTED, REGISTRY, Stopped

REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Handler = Callable[[int, FrameType | None], None]

_callbacks: list[Callable[[], object]] = []
_deferring: list[object] = []
_deferred: list[int] = []
_watchdogs: list[threading.Timer] = []


def stopping() -> bool:
    """Whether a stop was asked for, be it one that still waits."""
    return REGISTRY.stopping or bool(_deferred)


def signalled() -> int | None:
    """The signal that asked for the stop; None for a stop asked for in Python, or for none."""
    return REGISTRY.signum


def stop(signum: int | None = None) -> None:
    """Refuse every child from here on and send SIGTERM to those that run. Idempotent.

    `run` kills, in its own thread, what has not ended after `GRACE`.
    """
    if REGISTRY.shut(signum):
        send(REGISTRY.everything(), signal.SIGTERM)


def reset() -> None:
    """Open the door again and disarm what would end this process. For tests: a stopped process does not resume."""
    while _watchdogs:
        _watchdogs.pop().cancel()
    _callbacks.clear()
    _deferred.clear()
    REGISTRY.stopping, REGISTRY.signum = False, None


def dismiss() -> None:
    """To be called last by a job that ends well: spares the machine a search for what it might have left running."""
    REGISTRY.dismiss()


def on_hard_exit(callback: Callable[[], object]) -> None:
    """Have `callback` called when the process leaves without unwinding: for what gives a terminal back."""
    _callbacks.append(callback)


def hard_exit(signum: int | None = None) -> None:
    """Kill every child and leave now, with exit code 130 and no `finally` but the registered callbacks.

    Nothing keeps it from leaving: it takes no lock, and waits for neither the children nor the callbacks for ever. What
    then still runs is ended by the sentinel.
    """
    try:
        REGISTRY.stopping, REGISTRY.signum = True, REGISTRY.signum or signum
        _within(GRACE, lambda: destroy(REGISTRY.everything, GRACE / 2))
        for callback in _callbacks:
            _within(GRACE / 2, callback)
    finally:
        os._exit(INTERRUPTED)


def _within(seconds: float, action: Callable[[], object]) -> None:
    """Do something in a thread that is left alone after so many seconds."""

    def act() -> None:
        with suppress(Exception):
            action()

    acting = threading.Thread(target=act, name="leaving", daemon=True)
    acting.start()
    acting.join(seconds)


@contextmanager
def handled(*signums: int) -> Iterator[None]:
    """Turn signals (SIGINT, SIGTERM, SIGHUP by default) into a stop for the length of the `with`.

    The first raises `Stopped` in the main thread, and after `DEADLINE` the process leaves whatever it is doing; the
    second leaves at once. A signal that is already ignored stays ignored. Off the main thread this does nothing.
    """

    def ask(signum: int, frame: FrameType | None) -> None:
        if REGISTRY.stopping:
            hard_exit(signum)
        _arm(signum)
        stop(signum)
        raise Stopped(signum)

    before = _install(ask, signums or REQUESTS) if threading.current_thread() is threading.main_thread() else {}
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


def early() -> None:
    """Leave at once, with exit code 130, when a stop is asked for before there is anything to unwind."""

    def leave(signum: int, frame: FrameType | None) -> None:
        os.write(2, b"interrupted\n")
        hard_exit(signum)

    if threading.current_thread() is threading.main_thread():
        _install(leave, REQUESTS)


def adopt() -> None:
    """Make this process a job that leaves nothing behind. To be called first, from the main thread.

    SIGTERM (also when the parent dies), SIGINT and SIGHUP, unless ignored already, end every descendant (SIGTERM,
    SIGKILL after `GRACE`) and raise SystemExit with code 130; after `DEADLINE` the process leaves without unwinding.

    Raises
    ------
    SystemExit
        When the parent is gone already.
    """
    leaving = False

    def leave(signum: int, frame: FrameType | None) -> None:
        nonlocal leaving
        # The death signal comes once for each thread of the parent that ends: clean-up must not be interrupted by it.
        if leaving:
            return
        leaving = True
        os.write(2, b"interrupted\n")
        _arm(signum)
        REGISTRY.shut(signum)
        take_down(REGISTRY.everything, GRACE)
        # A handler does not last to the end of the interpreter. Raising answers what is pending before it is ignored.
        signal.raise_signal(signum)
        for each in REQUESTS:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(INTERRUPTED)

    parent = os.getppid()
    _install(leave, REQUESTS)
    signal.signal(signal.SIGTERM, leave)
    # With SIGCHLD ignored the exit status of a child would be lost, and read as success.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    REGISTRY.adopted = True
    if os.getppid() != parent or _orphaned():
        raise SystemExit(INTERRUPTED)


def forward() -> None:
    """Make the engine's main process pass a stop on to everything below it.

    SIGINT, SIGTERM and SIGHUP, unless ignored already, send SIGTERM to every descendant and raise `Stopped`, which is a
    KeyboardInterrupt. Repeated within `DEADLINE` they send again but do not interrupt the unwinding.
    """
    asked = -DEADLINE

    def pass_on(signum: int, frame: FrameType | None) -> None:
        nonlocal asked
        _deferred.append(signum)
        if _deferring:
            return
        _deferred.clear()
        REGISTRY.shut(signum)
        send(REGISTRY.below(), signal.SIGTERM)
        now = time.monotonic()
        if now - asked >= DEADLINE:
            asked = now
            raise Stopped(signum)

    _install(pass_on, REQUESTS)


def insist() -> None:
    """Have the process end with `INTERRUPTED` once a stop was asked for, whatever is made of the exception meanwhile.

    It may come in the middle of an input function, and the engine takes that for a defect of the workflow.
    """

    def end() -> None:
        if REGISTRY.stopping:
            import logging

            logging.shutdown()  # gives the terminal back
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(INTERRUPTED)

    atexit.register(end)


@contextmanager
def deferred() -> Iterator[None]:
    """Hold what `forward` answers a signal with until no thread is in such a block, which must be short."""
    block = object()
    _deferring.append(block)
    try:
        yield
    finally:
        _deferring.remove(block)
        for signum in () if _deferring else _deferred[:1]:
            signal.raise_signal(signum)


def _install(handler: Handler, signums: tuple[int, ...]) -> "dict[int, signal._HANDLER]":
    taken = [signum for signum in signums if signal.getsignal(signum) is not signal.SIG_IGN]
    return {signum: signal.signal(signum, handler) for signum in taken}


def _arm(signum: int) -> None:
    def kill() -> None:
        destroy(REGISTRY.everything, GRACE / 2)

    for seconds, action in ((GRACE, kill), (DEADLINE - GRACE / 2, lambda: hard_exit(signum))):
        watchdog = threading.Timer(seconds, action)
        watchdog.daemon = True
        watchdog.start()
        _watchdogs.append(watchdog)


def _orphaned() -> bool:
    # A process that leads no session shares the one of the process that forked it.
    session = os.getsid(0)
    if session == os.getpid():
        return False
    try:
        return os.getsid(os.getppid()) != session
    except ProcessLookupError:
        return True

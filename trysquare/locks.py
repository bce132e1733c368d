"""The lock of a launch: taken by one at a time, and looked at by anybody without being in its way."""

import fcntl
import os
import time
from pathlib import Path

from trysquare.layout import Layout

LOOKS = 100
"""How often a lock is tried again that only somebody who looks at it can have."""


def take(path: Path) -> int | None:
    """Take a lock for as long as this process lives; returns its descriptor, or None when another process has it.

    Raises
    ------
    OSError
        When the file system has no locks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        for _ in range(LOOKS):
            if _flock(handle, fcntl.LOCK_EX):
                return handle
            if not _flock(handle, fcntl.LOCK_SH):
                break
            fcntl.flock(handle, fcntl.LOCK_UN)
            time.sleep(0.01)
    except OSError:
        os.close(handle)
        raise
    os.close(handle)
    return None


def taken(path: Path) -> bool:
    """Whether somebody has taken a lock, on whatever machine. Writes nothing."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return not _flock(handle, fcntl.LOCK_SH)
    finally:
        os.close(handle)


def at_work(layout: Layout) -> bool:
    """Whether a launch is at work on a matrix; not where that cannot be told."""
    try:
        return taken(layout.lock("launch"))
    except OSError:
        return False


def _flock(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

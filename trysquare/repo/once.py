"""Directories that are made once, by whichever process comes first."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from trysquare.errors import RepoError

_TRIES = 3


def build_once(target: Path, ready: Callable[[Path], bool], build: Callable[[Path], None]) -> Path:
    """Have `target` made by `build` unless it is `ready`; a half-made one is made again.

    It is built under another name and renamed, so nobody sees half of it, and processes that build at the same time,
    also on other machines, end up with one of the results. A lock spares them the work where locks exist.
    """
    if ready(target):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with _alone(target):
        if ready(target):
            return target
        aside = _aside(target)
        try:
            build(aside)
            _install(aside, target, ready)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return target


def _install(aside: Path, target: Path, ready: Callable[[Path], bool]) -> None:
    for _ in range(_TRIES):
        with suppress(OSError):
            aside.rename(target)
            return
        if ready(target):
            return
        with suppress(FileNotFoundError):
            shutil.rmtree(target.rename(_aside(target)))
    raise RepoError(f"{target} cannot be put in place: remove it, and see who else writes there.")


def _aside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}-{os.urandom(4).hex()}")


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    with target.with_name(f".{target.name}.lock").open("w") as handle:
        # On a file system without locks the rename alone decides.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield

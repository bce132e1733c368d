"""Work done on a copy of the measured tree, never in it."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from trysquare import interrupt
from trysquare.assay.metrics import CannotJudge
from trysquare.tail import Tail

KEPT = 1024 * 1024
"""Bytes kept of the end of what a suite prints."""


@contextmanager
def copy_of(tree: Path) -> Iterator[Path]:
    """A private copy of a tree beside it, of the same name, removed afterwards.

    Beside it, because whoever made the tree removes that directory even when this process is killed; elsewhere when
    that directory cannot be written.

    Raises
    ------
    CannotJudge
        When there is no such tree.
    """
    if not tree.is_dir():
        raise CannotJudge(f"the tree of this run is not there: {tree}")
    beside = tree.parent if os.access(tree.parent, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="assay-", dir=beside, ignore_cleanup_errors=True) as scratch:
        copy = Path(scratch).resolve() / tree.name
        shutil.copytree(tree, copy, symlinks=True, copy_function=_copy)
        yield copy


def _copy(source: str, target: str) -> None:
    # git replaces its objects and never writes into one, so they can be shared.
    if "/.git/objects/" in source:
        with suppress(OSError):
            os.link(source, target)
            return
    shutil.copy2(source, target, follow_symlinks=False)


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit status, or the `trouble` that left it without one; `output` is both streams."""

    code: int | None
    output: str
    trouble: str = ""

    @property
    def manner(self) -> str:
        """How it ended, for a sentence."""
        if self.code is None:
            return self.trouble
        return f"exited {self.code}" if self.code >= 0 else f"was ended by signal {-self.code}"


def call(argv: Sequence[str], cwd: Path, timeout: float) -> Ended:
    """Run a command to its end, or to the end of its time, with everything it started.

    The output names files relative to `cwd`, which is another directory each time.
    """
    code, trouble = None, ""
    with Tail(KEPT) as tail:
        try:
            ended = interrupt.run(
                argv, cwd=cwd, timeout=timeout, stdin=subprocess.DEVNULL, stdout=tail.fd, stderr=subprocess.STDOUT
            )
            code = ended.returncode
        except subprocess.TimeoutExpired:
            trouble = f"did not end within {timeout:g} s"
        except OSError as error:
            trouble = f"cannot be started ({error.strerror})"
    return Ended(code, tail.text.replace(f"{cwd}/", ""), trouble)

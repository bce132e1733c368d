"""What an agent may write to disk."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

PATIENCE = 20
"""How many times longer than a look takes nobody looks again, so that looking costs a twentieth of the time at most."""


class Space:
    """The bytes a directory has grown by since this was made; `limit` is how many it may.

    The directory is looked at only while the disk has lost a good part of the limit, whoever took it.
    """

    def __init__(self, directory: Path, limit: int) -> None:
        self.directory, self.limit = directory, limit
        self._free = self._left()
        self._before = sum(self._sizes())
        self._next = 0.0

    @property
    def excess(self) -> str:
        """What it says of a run that wrote too much."""
        return f"wrote more than {self.limit / 10**6:.0f} MB to disk and was stopped"

    def used_up(self, *, at_last: bool = False) -> bool:
        """Whether the directory has grown past the limit; `at_last` looks whenever the disk says it may be so."""
        if self._free - self._left() < self.limit // 4 or (time.monotonic() < self._next and not at_last):
            return False
        began = time.monotonic()
        grown = sum(self._sizes()) - self._before
        ended = time.monotonic()
        self._next = ended + PATIENCE * (ended - began)
        return grown > self.limit

    def _left(self) -> int:
        status = os.statvfs(self.directory)
        return status.f_bfree * status.f_frsize

    def _sizes(self) -> Iterator[int]:
        for folder, _, names in os.walk(self.directory):
            for name in names:
                try:
                    yield 512 * (Path(folder) / name).lstat().st_blocks
                except OSError:  # gone meanwhile, or in a directory that the agent closed
                    continue

"""What a tree that somebody else wrote holds, seen through lstat only."""

import os
import stat
from pathlib import Path


def as_text(name: bytes) -> str:
    """A file name for a record: UTF-8, other bytes escaped."""
    return name.decode("utf-8", "surrogateescape")


def as_bytes(name: str) -> bytes:
    """The inverse of `as_text`."""
    return name.encode("utf-8", "surrogateescape")


class Closed(Exception):
    """A directory of the tree cannot be read."""


class Surface:
    """Kinds of names in a tree. What lies beyond a symbolic link is not in the tree."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._real = {b"": True}

    def path(self, name: bytes) -> Path:
        """The path of a name of the tree."""
        return self.root / os.fsdecode(name)

    def mode(self, name: bytes) -> int:
        """The mode of a name, 0 when there is nothing.

        Raises
        ------
        Closed
            When a directory on the way cannot be searched.
        """
        if not self._is_real(name.rpartition(b"/")[0]):
            return 0
        try:
            return self.path(name).lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return 0
        except PermissionError:
            raise Closed from None

    def _is_real(self, folder: bytes) -> bool:
        if folder not in self._real:
            self._real[folder] = stat.S_ISDIR(self.mode(folder))
        return self._real[folder]

    def is_gone(self, name: bytes) -> bool:
        """Whether nothing is there any more, or a directory, whose files have names of their own."""
        mode = self.mode(name)
        return not mode or stat.S_ISDIR(mode)

    def holds(self, folder: bytes) -> bool:
        """Whether a name is a directory with something in it."""
        return stat.S_ISDIR(self.mode(folder)) and bool(self.entries(folder))

    def entries(self, folder: bytes) -> list[tuple[bytes, bool]]:
        """The names in a directory below the top, each with whether it is a directory."""
        try:
            with os.scandir(self.path(folder)) as found:
                return [
                    (folder + b"/" + os.fsencode(entry.name), entry.is_dir(follow_symlinks=False)) for entry in found
                ]
        except PermissionError:
            raise Closed from None

    def takes(self, name: bytes) -> bool:
        """Whether git can record a name: a file or a link, not called like what is git's own."""
        mode = self.mode(name)
        words = [word.lower() for word in name.split(b"/")]
        if b".git" in words or (stat.S_ISLNK(mode) and words[-1] == b".gitmodules"):
            return False
        if stat.S_ISREG(mode):
            _unlock(self.path(name))
        return stat.S_ISREG(mode) or stat.S_ISLNK(mode)

    def open_up(self) -> None:
        """Make everything readable to its owner, so that a closed directory is not taken for a deleted one."""
        _unlock(self.root)
        for folder, folders, files in os.walk(self.root):
            for name in (*folders, *files):
                _unlock(Path(folder, name))


def _unlock(path: Path) -> None:
    mode = path.lstat().st_mode
    wanted = stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR
    if not stat.S_ISLNK(mode) and mode & wanted != wanted:
        path.chmod(stat.S_IMODE(mode) | wanted)

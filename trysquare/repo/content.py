"""Files the harness puts into a tree."""

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from trysquare.errors import RepoError
from trysquare.files import digest
from trysquare.matrix import Blob, Tree


@dataclass(frozen=True)
class Content:
    """The bytes of one file, and the frozen file they come from."""

    data: bytes
    blob: Blob

    @classmethod
    def of(cls, data: bytes, executable: bool = False) -> "Content":
        """Content that is its own frozen file."""
        return cls(data, Blob(digest(data), executable))

    @classmethod
    def read(cls, path: Path) -> "Content":
        """Content of a file on disk."""
        return cls.of(path.read_bytes(), os.access(path, os.X_OK))


Contents = Mapping[str, Content]
"""Paths relative to a tree, and what goes there."""


def thaw(bricks: Path, blob: Blob) -> Content:
    """The content of one frozen file.

    Raises
    ------
    RepoError
        When it is missing, or no longer what it was.
    """
    try:
        data = (bricks / blob.digest).read_bytes()
    except FileNotFoundError:
        raise RepoError(
            f"{bricks / blob.digest} is missing: restore it, or launch `run` with the scenario, which writes it again."
        ) from None
    if digest(data) != blob.digest:
        raise RepoError(f"{bricks / blob.digest} was changed after it was frozen: restore it.")
    return Content(data, blob)


def thaw_tree(bricks: Path, tree: Tree, under: str = "") -> dict[str, Content]:
    """The contents of a frozen tree, with the paths they get below `under`."""
    return {f"{under}{path}": thaw(bricks, blob) for path, blob in tree.items()}


def materialise(bricks: Path, tree: Tree, target: Path) -> Path:
    """Write a frozen tree into a directory of its own; returns the directory.

    Raises
    ------
    RepoError
        When a frozen file is missing or no longer what it was.
    """
    target.mkdir(parents=True)
    for path, content in thaw_tree(bricks, tree).items():
        put(target, path, content)
    return target


def below(paths: Iterable[Path], keep_name: bool) -> dict[str, Content]:
    """The contents of files and directories; `keep_name` puts those of a directory below its own name."""
    found = {}
    for path in map(Path, paths):
        if path.is_dir():
            top = path.parent if keep_name else path
            files = [file for file in sorted(path.rglob("*")) if file.is_file()]
            found.update({file.relative_to(top).as_posix(): Content.read(file) for file in files})
        else:
            found[path.name] = Content.read(path)
    return found


def refuse_outside(path: str) -> None:
    """Refuse a destination that is not a plain path below the tree.

    Raises
    ------
    RepoError
        When it is absolute, goes up, has an empty part, or is git's own.
    """
    words = path.split("/")
    if PurePosixPath(path).is_absolute() or "\0" in path or {"", ".", ".."} & set(words):
        raise RepoError(f"'{path}' does not stay inside the measured tree: write a relative path without '..'.")
    if any(word.lower() == ".git" for word in words):
        raise RepoError(f"'{path}' belongs to git: give the file another destination.")


def put(tree: Path, path: str, content: Content) -> None:
    """Write one file below a tree, in place of a file or link of that name; never through a link.

    Raises
    ------
    RepoError
        When a link or a file stands where a directory is needed, or a directory where the file goes.
    """
    refuse_outside(path)
    folder = tree
    for word in path.split("/")[:-1]:
        folder = folder / word
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            kind = "a symbolic link" if folder.is_symlink() else "a file"
            raise RepoError(f"'{path}' cannot go into the measured tree: {folder.relative_to(tree)} is {kind} there.")
        folder.mkdir(exist_ok=True)
    target = tree / path
    if target.is_symlink() or target.is_file():
        target.unlink()
    elif target.exists():
        raise RepoError(f"'{path}' cannot go into the measured tree: it is a directory there.")
    target.write_bytes(content.data)
    if content.blob.executable:
        target.chmod(target.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def refuse_existing(tree: Path, path: str) -> None:
    """Refuse a destination that is taken: replacing it would measure another repository than the one named.

    Raises
    ------
    RepoError
        When something of that name is in the tree.
    """
    refuse_outside(path)
    if os.path.lexists(tree / path):
        raise RepoError(f"'{path}' is in the measured repository already: give the file another destination.")

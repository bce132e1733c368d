"""Reading the files of bricks and validators: bounded, regular files only."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from trysquare.refusals import show
from trysquare.scenario import ScenarioError

MOST_FILES = 5_000
"""Files one path of a brick may hold."""

LIMIT = 50 * 2**20
"""Bytes that one frozen file, or all files of one path of a brick, may have."""


def above(path: str) -> list[str]:
    """The directories of a relative POSIX path, the outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def read_bytes(path: Path, where: str) -> tuple[bytes, bool]:
    """The bytes of a regular file, and whether it is executable.

    Raises
    ------
    ScenarioError
        When it cannot be read, is no regular file, or is too large to be frozen.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ScenarioError(f"{where}: {path} is no regular file; name a file.")
        if status.st_size > LIMIT:
            raise ScenarioError(
                f"{where}: {path} has more than {LIMIT // 2**20} MB; keep large material out of bricks."
            )
        return path.read_bytes(), os.access(path, os.X_OK)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ScenarioError(f"{where}: {path} cannot be read ({reason.lower()}); correct the path.") from None


def files_under(path: Path, where: str, *, keep_name: bool) -> Iterator[tuple[str, Path]]:
    """The files of a path with the relative names they get, sorted.

    A file keeps its name. Of a directory the contents are taken; with `keep_name` a directory that is itself a skill
    (it holds SKILL.md) keeps its name as well.

    Raises
    ------
    ScenarioError
        When there is nothing, too much, or a link to a directory, which would be left out silently.
    """
    if not path.is_dir():
        yield path.name, path
        return
    prefix = f"{path.absolute().name}/" if keep_name and (path / "SKILL.md").is_file() else ""
    count = size = 0
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in folders:
            if (Path(folder) / name).is_symlink():
                raise ScenarioError(
                    f"{where}: {Path(folder) / name} is a link to a directory; copy the directory instead."
                )
        for name in sorted(names):
            count += 1
            file = Path(folder) / name
            size += file.lstat().st_size
            if count > MOST_FILES or size > LIMIT:
                raise ScenarioError(
                    f"{where}: {show(str(path))} holds more than {MOST_FILES} files or {LIMIT // 2**20} MB; "
                    "name a smaller one."
                )
            relative = prefix + file.relative_to(path).as_posix()
            if not _is_text(relative):
                raise ScenarioError(f"{where}: {show(relative)} in {path} has a name that is not UTF-8; rename it.")
            yield relative, file
    if not count:
        raise ScenarioError(f"{where}: {path} is an empty directory; name one that holds files.")


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True

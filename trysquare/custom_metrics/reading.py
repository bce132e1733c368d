"""Finding the metrics file below one of its roots, and reading it strictly."""

import json
import os
import posixpath
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

DEFAULT_PATH = "custom_metrics.json"
FILE_LIMIT = 10 * 2**20
"""Bytes a metrics file may have."""


class Broken(Exception):
    """A metrics file that gives no values; its text is the evidence."""


@dataclass(frozen=True)
class Root:
    """A directory that may hold the file, and what evidence calls it."""

    path: Path
    name: str


def normal(path: str) -> str:
    """A relative path with its `.` and `..` resolved."""
    return posixpath.normpath(path.replace("\\", "/"))


def inside(path: str) -> bool:
    """Whether a path names something below the directory it is relative to; absolute ones of any system do not."""
    if not path or "\0" in path or re.match(r"[/\\]|[A-Za-z]:", path):
        return False
    parts = normal(path).split("/")
    return parts[0] != ".." and parts != ["."]


def find(path: str, roots: Sequence[Root]) -> tuple[Path, Root]:
    """The first root that has the file, which is then the only one that counts.

    Raises
    ------
    Broken
        When the path leaves its root, by its words or by a link, or no root has the file.
    """
    if not inside(path):
        raise Broken(f"{path or 'an empty path'} is no relative path that stays below the artifact dir or workspace")
    for root in roots:
        file = root.path / normal(path)
        if _exists(file):
            if not file.resolve().is_relative_to(root.path.resolve()):
                raise Broken(f"{path} leads out of the {root.name}")
            return file, root
    raise Broken(f"expected metrics file at {path} (not found)")


def _exists(file: Path) -> bool:
    try:
        return file.exists()
    except (OSError, ValueError):
        return False


def values(file: Path, path: str) -> dict[str, Any]:
    """The metrics that a file holds; `path` is what evidence calls it.

    Raises
    ------
    Broken
        When it cannot be read, is no strict JSON, or no object.
    """
    try:
        found = json.loads(_text(file), parse_constant=_no_constant, object_pairs_hook=_unique)
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Broken(f"failed to parse {path} as JSON: {reason}") from None
    if not isinstance(found, dict):
        raise Broken(f"{path} must contain a JSON object")
    wrapped = found.get("values")
    return wrapped if isinstance(wrapped, dict) else found


def _text(file: Path) -> str:
    with open(file, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise ValueError("it is no regular file")
        data = opened.read(FILE_LIMIT + 1)
    if len(data) > FILE_LIMIT:
        raise ValueError(f"it has more than {FILE_LIMIT // 2**20} MB")
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {json.dumps(key)} is there twice")
        found[key] = value
    return found

"""Whether a directory that was named can be written into, asked before anything is spent."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def blocked(directory: Path) -> str:
    """Why there can be no such directory, as something else lies in its way; empty when there can be one."""
    there = _standing(directory)
    if there.is_dir():
        return ""
    return f"{there} is {'no directory' if there.exists() else 'a link to nothing'}"


def unusable(directory: Path, *, tried: bool) -> str:
    """Why nothing can be put into a directory that may not be there yet; empty when something can.

    Some file systems tell only whoever tries: with `tried` the directory is made, and a file in it, and both are
    removed again.
    """
    if problem := blocked(directory):
        return problem
    there = _standing(directory)
    if not os.access(there, os.W_OK | os.X_OK):
        return f"{there} must not be written into"
    if not tried:
        return ""
    made = [level for level in (directory, *directory.parents) if not os.path.lexists(level)]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        return f"nothing can be made in {there} ({str(error.strerror).lower()})"
    finally:
        for level in made:
            with suppress(OSError):
                level.rmdir()
    return ""


def _standing(directory: Path) -> Path:
    """The directory itself, or what is there of the way to it."""
    return next(level for level in (directory, *directory.absolute().parents) if os.path.lexists(level))

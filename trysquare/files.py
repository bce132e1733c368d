"""Reading and writing the files of a matrix: canonical, atomic, and only when something changes."""

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from trysquare.errors import ArchiveError

DIGEST = r"[0-9a-f]{24}"
"""What a digest looks like, as a regular expression."""


def digest(data: Any) -> str:
    """Digest of bytes, or of the canonical JSON of any other value, as 24 hexadecimal digits."""
    if not isinstance(data, bytes):
        data = _text(data, sort_keys=True).encode()
    return hashlib.blake2s(data, digest_size=12).hexdigest()


def dumps(data: Any) -> str:
    """The text of a JSON file: two spaces, UTF-8 as it is, a final newline, no NaN."""
    return _text(data, indent=2) + "\n"


def _text(data: Any, **form: Any) -> str:
    """JSON with its letters as they are; half a surrogate pair, which UTF-8 cannot hold, stays an escape.

    Names of files that are not UTF-8 arrive with such halves and come back from the file unchanged.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, **form)
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


def write_bytes(path: str | Path, data: bytes) -> bool:
    """Write a file by renaming a neighbour over it, and only when its content differs.

    A crash at any instant leaves either the old or the new file. Returns whether anything was written.
    """
    path = Path(path)
    try:
        if path.read_bytes() == data:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    neighbour = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with neighbour.open("wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        neighbour.replace(path)
    except BaseException:
        neighbour.unlink(missing_ok=True)
        raise
    return True


def write_text(path: str | Path, text: str) -> bool:
    """`write_bytes` for text, in UTF-8; what UTF-8 cannot hold is written as an escape."""
    return write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_json(path: str | Path, data: Any) -> bool:
    """`write_bytes` for a value, as `dumps` writes it. Rewriting the same value is byte-identical."""
    return write_text(path, dumps(data))


def append_line(path: str | Path, data: Any) -> None:
    """Append one JSON line in a single write, so that concurrent writers never interleave."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    line = _text(data) + "\n"
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, line.encode("utf-8", "backslashreplace"))
    finally:
        os.close(handle)


def read_json(path: str | Path) -> Any:
    """The value of a JSON file.

    Raises
    ------
    FileNotFoundError
        When there is no such file; callers give that their own meaning.
    ArchiveError
        When the file is not JSON.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ArchiveError(
            f"{path} is not readable JSON ({error}): restore it, or remove it to have it made again."
        ) from None


def read_lines(path: str | Path) -> list[Any]:
    """The values of a file of JSON lines, empty when there is no such file; a torn last line is skipped."""
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").split("\n")
    except FileNotFoundError:
        return []
    values = []
    for line in lines:
        try:
            values.append(json.loads(line))
        except ValueError:
            continue
    return values

"""Reading and writing the files of a matrix: canonical, atomic, and only when something changes."""

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
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


def digests(paths: Iterable[Path]) -> dict[str, str]:
    """The digest of each file by its name.

    Raises
    ------
    OSError
        When one cannot be read.
    """
    return {path.name: digest(path.read_bytes()) for path in paths}


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
    if path.exists() and not path.is_file():  # a pipe or a device, which reading would wait for
        with path.open("wb") as handle:
            handle.write(data)
        return True
    with suppress(FileNotFoundError):
        if path.read_bytes() == data:
            return False
    with replacing(path) as neighbour, neighbour.open("wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())
    return True


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A neighbour of a file, written in the block and renamed over the file at its end.

    What the system refuses is said of the file itself, whose neighbour nobody asked for.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    neighbour = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        yield neighbour
        neighbour.replace(path)
    except BaseException as error:
        with suppress(OSError):
            neighbour.unlink()
        if isinstance(error, OSError) and error.filename == str(neighbour):
            error.filename = str(path)
        raise


def write_text(path: str | Path, text: str) -> bool:
    """`write_bytes` for text, in UTF-8; what UTF-8 cannot hold is written as an escape."""
    return write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_pieces(path: str | Path, pieces: Iterable[str]) -> None:
    """`write_text` for a text that is too long to be held at once; a file that says the same keeps its date."""
    import filecmp

    path = Path(path)
    with replacing(path) as neighbour:
        with neighbour.open("wb") as handle:
            for piece in pieces:
                handle.write(piece.encode("utf-8", "backslashreplace"))
            handle.flush()
            os.fsync(handle.fileno())
        if path.exists() and filecmp.cmp(path, neighbour, shallow=False):
            os.utime(neighbour, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))


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


def read_json(path: str | Path, remedy: str = "restore it from a copy") -> Any:
    """The value of a JSON file; `remedy` is what to do where it is none.

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
        raise ArchiveError(f"{path} is not readable JSON ({error}): {remedy}.") from None


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

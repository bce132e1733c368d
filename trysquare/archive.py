"""One run's directory: staged beside the tree, committed by one rename, read back by scoring and collecting."""

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from trysquare.errors import ArchiveError
from trysquare.files import digest, read_json, write_json
from trysquare.layout import Layout, RunLayout

COLLECTED_LIMIT = 50 * 2**20
"""Bytes of collected files one run may archive."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file for the length of the block; the kernel frees it with the process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def record_digest(run: RunLayout) -> str:
    """The digest of run.json, which is what measured.json promises."""
    return digest(run.record.read_bytes())


def pointer_differs(run: RunLayout) -> bool:
    """Whether measured.json promises another run.json than the one that is there."""
    try:
        return bool(read_json(run.pointer)["run"] != record_digest(run))
    except FileNotFoundError:
        return False
    except (KeyError, TypeError):
        return True


def emit_pointer(run: RunLayout) -> None:
    """Write measured.json for a record that is already committed.

    Raises
    ------
    ArchiveError
        When a pointer is there and promises another record.
    """
    if pointer_differs(run):
        raise ArchiveError(
            f"{run.record} is not the record its measured.json was written for: restore it from a copy, "
            f"or delete {run.root} to have exactly this run measured again."
        )
    write_json(run.pointer, {"run": record_digest(run)})


def commit(stage: Path, run: RunLayout) -> None:
    """Move a staged run, its pointer included, into place by one rename.

    Raises
    ------
    ArchiveError
        When the place is taken by files that are not a run.
    """
    emit_pointer(RunLayout(stage))
    _flush(stage)
    run.root.parent.mkdir(parents=True, exist_ok=True)
    try:
        stage.replace(run.root)
    except OSError as error:
        raise ArchiveError(
            f"{run.root} holds files but no run.json ({error.strerror}): move them away and launch again; "
            f"the run just measured is kept in {stage}."
        ) from None


def _flush(stage: Path) -> None:
    for folder, _, names in os.walk(stage):
        for name in names:
            handle = os.open(Path(folder) / name, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


@dataclass(frozen=True)
class Collected:
    """Files of the finished tree that were archived, and those that were left out because of their size."""

    kept: tuple[str, ...]
    dropped: tuple[str, ...]


def collect_files(tree: Path, patterns: Sequence[str], target: Path) -> Collected:
    """Copy the regular files of a tree that match one of the patterns, up to COLLECTED_LIMIT bytes in all."""
    kept, dropped, size = [], [], 0
    for path in _regular_files(tree) if patterns else ():
        name = path.relative_to(tree).as_posix()
        if not any(fnmatchcase(name, pattern) for pattern in patterns):
            continue
        if size + path.stat().st_size > COLLECTED_LIMIT:
            dropped.append(name)
            continue
        size += path.stat().st_size
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name)
        kept.append(name)
    return Collected(tuple(kept), tuple(dropped))


def _regular_files(tree: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                yield path


def spent(layout: Layout, runs: Mapping[str, Any]) -> float:
    """What the recorded runs of a matrix cost, in the provider's currency; unpriced runs count nothing."""
    total = 0.0
    for planned in runs.values():
        try:
            total += read_json(layout.run(planned.directory).record)["usage"].get("cost") or 0.0
        except FileNotFoundError:
            continue
    return total

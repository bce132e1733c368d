"""One run's directory: staged beside the tree, committed by one rename, read back by scoring and collecting."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
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


DAMAGED = "damaged: "
"""How it begins what is said of a run that cannot be read as it was committed."""


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


def remedy(run: RunLayout) -> str:
    """What to do about a run whose record is gone or damaged; removing run.json alone is no remedy."""
    return f"restore it from a copy, or delete {run.root} to have exactly this run measured, and paid for, again"


def read_record(run: RunLayout) -> Any:
    """The record of a run.

    Raises
    ------
    FileNotFoundError
        When there is none; callers give that their own meaning.
    ArchiveError
        When it is not JSON.
    """
    return read_json(run.record, remedy(run))


def refuse_lost(run: RunLayout) -> None:
    """Refuse a run that was measured and has no record any more.

    Raises
    ------
    ArchiveError
        Naming what is missing, and that measuring it again is paid for again.
    """
    if run.pointer.exists() and not run.record.exists():
        raise ArchiveError(
            f"{run.record} is missing, although measured.json says that this run was measured: {remedy(run)}."
        )


def pointer_differs(run: RunLayout) -> bool:
    """Whether measured.json promises another run.json than the one that is there, if any."""
    try:
        promised = read_json(run.pointer)["run"]
    except FileNotFoundError:
        return False
    except (ArchiveError, KeyError, TypeError):
        return True
    return not run.record.exists() or bool(promised != record_digest(run))


def evidence(run: RunLayout) -> dict[str, str]:
    """The digest of every file of a staged run but its record, by its name in the run's directory."""
    files = [run.configuration, run.prompt, run.response, run.patch]
    for folder in (run.session, run.collected):
        files += sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(run.root).as_posix(): digest(path.read_bytes()) for path in files}


def damage(run: RunLayout) -> list[str]:
    """What of a recorded run is not what was committed, one clause each; empty for a sound one."""
    if not run.record.exists():
        return ["run.json is missing"]
    if pointer_differs(run):
        return ["run.json is not the record its measured.json was written for"]
    try:
        promised = dict(read_json(run.record).get("evidence") or {})
    except (ArchiveError, AttributeError, TypeError, ValueError):
        return ["run.json is not readable"]
    problems = []
    for name, expected in promised.items():
        try:
            if digest((run.root / name).read_bytes()) != expected:
                problems.append(f"{name} was changed")
        except OSError as error:
            problems.append(f"{name} cannot be read ({error.strerror})")
    if not promised:
        files = (run.configuration, run.prompt, run.response, run.patch)
        problems += [f"{file.name} is missing" for file in files if not file.exists()]
        problems += [] if any(run.session.glob("*.jsonl")) else ["it has no session"]
    return problems


def whole(stage: RunLayout) -> bool:
    """Whether a stage holds all of a run: its record, which is written last, and every file that promises."""
    return stage.record.exists() and not damage(stage) and bool(read_json(stage.record).get("evidence"))


def refuse_damaged(run: RunLayout) -> None:
    """Refuse to read from a run that is not what was committed.

    Raises
    ------
    ArchiveError
        Naming the run and everything that is wrong with it.
    """
    problems = damage(run)
    if problems:
        raise ArchiveError(f"run {run.id} is damaged: {'; '.join(problems)}: restore it from a copy.")


def emit_pointer(run: RunLayout) -> None:
    """Write measured.json for a record that is already committed.

    Raises
    ------
    ArchiveError
        When a pointer is there and promises another record.
    """
    refuse_lost(run)
    if pointer_differs(run):
        raise ArchiveError(f"{run.record} is not the record its measured.json was written for: {remedy(run)}.")
    write_json(run.pointer, {"run": record_digest(run)})


def refuse_occupied(run: RunLayout) -> None:
    """Refuse a place where no run can be put, before one is paid for.

    Raises
    ------
    ArchiveError
        When the directory of a run that is not recorded holds anything.
    """
    if not run.record.exists() and run.root.is_dir() and any(run.root.iterdir()):
        raise ArchiveError(
            f"{run.root} holds files but no run.json: restore run.json from a copy, or delete the directory to have "
            "exactly this run measured, and paid for, again."
        )


def recover(layout: Layout, run: RunLayout, fits: Callable[[RunLayout], bool]) -> bool:
    """Commit a run that was staged whole by a job that was killed before its rename; half ones are removed.

    One that does not fit the plan of today is left alone. To be called under the lock of the run.
    """
    for stage in sorted(layout.incoming.glob(f"{run.id}-*")):
        staged = RunLayout(stage)
        if not whole(staged):
            shutil.rmtree(stage, ignore_errors=True)
        elif not run.record.exists() and fits(staged):
            commit(stage, run)
    return run.record.exists()


def commit(stage: Path, run: RunLayout) -> None:
    """Move a staged run, its pointer included, into place by one rename.

    Raises
    ------
    ArchiveError
        When the place is taken by files that are not a run.
    """
    _flush(stage)
    emit_pointer(RunLayout(stage))
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
    """Copy the regular files of a tree that match one of the patterns, up to COLLECTED_LIMIT bytes in all.

    Those that a pattern names in full come first.
    """
    kept, dropped, size = [], [], 0
    found = [(path.relative_to(tree).as_posix(), path) for path in (_regular_files(tree) if patterns else ())]
    wanted = [(name, path) for name, path in found if any(name == p or fnmatchcase(name, p) for p in patterns)]
    for name, path in sorted(wanted, key=lambda each: each[0] not in patterns):
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

"""The work directory: private places of jobs, which lock them while they live, and what is left when they do not."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from trysquare import archive, locks
from trysquare.layout import Layout, RunLayout

IN_USE = ".in-use"
"""The file of a private place that its job holds a lock on; the kernel frees it with the job. It names the host."""


@contextmanager
def private(workdir: Path, prefix: str) -> Iterator[Path]:
    """A directory below `trees/` of the work directory, for the length of the block."""
    trees = workdir / "trees"
    trees.mkdir(parents=True, exist_ok=True)
    with _gate(trees, fcntl.LOCK_SH):
        place = Path(tempfile.mkdtemp(dir=trees, prefix=prefix))
        handle = os.open(place / IN_USE, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        os.write(handle, os.uname().nodename.encode())
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os.close(handle)


@contextmanager
def _gate(trees: Path, kind: int) -> Iterator[None]:
    """Held while a private place is made, and alone while it is decided which are left over."""
    handle = os.open(trees / ".gate", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(handle, kind)
        yield
    finally:
        os.close(handle)


def sweep(workdir: Path) -> None:
    """Remove the trees that killed jobs of this host left: each holds a private home, with the keys of its agent."""
    for place, kept in _trees(workdir):
        if not kept:
            shutil.rmtree(place, ignore_errors=True)


def _trees(workdir: Path) -> list[tuple[Path, str]]:
    """Every private place, and why it must be kept. A lock is only sure to be seen on the host that holds it."""
    trees, found = workdir / "trees", []
    if not trees.is_dir():
        return []
    with _gate(trees, fcntl.LOCK_EX):
        for place in _directories(trees):
            try:
                host = (place / IN_USE).read_text()
            except OSError:
                host = ""
            elsewhere = f"of {host}: only that machine knows whether it is in use"
            foreign = host not in ("", os.uname().nodename)
            found.append((place, "in use" if _locked(place / IN_USE) else elsewhere if foreign else ""))
    return found


@dataclass(frozen=True)
class Leftover:
    """Something that can be freed, in bytes, or the reason why it is kept."""

    path: Path
    what: str
    size: int
    kept: str = ""


def leftovers(workdir: Path, matrices: Iterable[Layout] = ()) -> list[Leftover]:
    """What a work directory and the staging places of matrices hold that could be freed. Changes nothing."""
    trees = _trees(workdir)
    busy = any(kept for _, kept in trees)
    found = [Leftover(place, "tree", size(place), kept) for place, kept in trees]
    found += [Leftover(place, "replay", size(place)) for place in _directories(workdir / "replays")]
    for place in _directories(workdir / "stores"):
        # A store under construction is `.<name>.<process>` beside the lock `.<name>.lock`.
        name = place.name.rpartition(".")[0] if place.name.startswith(".") else f".{place.name}"
        used = busy or _locked(place.with_name(f"{name}.lock"))
        found.append(Leftover(place, "store", size(place), "in use" if used else ""))
    for layout in matrices:
        found += _staged(layout)
    return found


def _staged(layout: Layout) -> list[Leftover]:
    used = locks.taken(layout.lock("launch"))
    found = []
    for place in _directories(layout.incoming):
        paid = archive.whole(RunLayout(place)) or (place / "verdict.json").exists()
        why = "in use" if used else "paid for: the next launch commits it" if paid else ""
        found.append(Leftover(place, "staged run", size(place), why))
    return found


def free(found: Iterable[Leftover]) -> int:
    """Remove what is not kept; returns how many bytes that were."""
    freed = 0
    for each in found:
        if not each.kept:
            shutil.rmtree(each.path, ignore_errors=True)
            freed += 0 if each.path.exists() else each.size
    return freed


def size(place: Path) -> int:
    """Bytes on the disk below a directory that removing it would free: a file with links elsewhere frees nothing."""
    total, links = 0, dict[tuple[int, int], list[int]]()
    for folder, folders, names in os.walk(place):
        for name in (*folders, *names):
            status = (Path(folder) / name).lstat()
            if status.st_nlink > 1 and name in names:
                links.setdefault((status.st_dev, status.st_ino), [status.st_nlink, status.st_blocks]).append(1)
            else:
                total += 512 * status.st_blocks
    return total + sum(512 * blocks for count, blocks, *seen in links.values() if len(seen) == count)


def _locked(path: Path) -> bool:
    """Whether somebody holds a lock on a file; not where there is no such file."""
    try:
        handle = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _directories(parent: Path) -> list[Path]:
    return sorted(entry for entry in parent.iterdir() if entry.is_dir()) if parent.is_dir() else []

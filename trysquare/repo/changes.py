"""What an agent did: the difference between the final tree and the base commit."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from trysquare.errors import RepoError
from trysquare.repo.command import TooLarge, attempt, git, said
from trysquare.repo.etalon import locate
from trysquare.repo.hiding import hidden
from trysquare.repo.hold import NEUTRAL, Hold, make_git_dir
from trysquare.repo.prepared import Prepared
from trysquare.repo.staging import Known, stage
from trysquare.repo.stores import gitlinks
from trysquare.repo.surface import as_text

_DIFF = (
    "diff-tree", "-r", "-z", "--raw", "--patch", "--binary", "--full-index", "--no-renames", "--no-ext-diff",
    "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none",
    "--submodule=short",
)  # fmt: skip


PATCH_LIMIT = 256 * 10**6
"""Bytes a patch may have: what is larger is no work on source code, and would have to be kept for every run."""


@dataclass(frozen=True)
class Change:
    """What one run left, against its base commit.

    `touched` are the paths that changed, appeared or disappeared (a rename is both), sorted; `patch` makes them again;
    `tree` is the id of the final state. `ignored` are names the agent made that its ignore rules hide or git cannot
    record, directories ending in a slash; `hidden` are those of them that only rules the agent made hide. Bytes of
    names that are no UTF-8 are escaped.
    """

    patch: bytes
    touched: tuple[str, ...]
    ignored: tuple[str, ...]
    tree: str
    hidden: tuple[str, ...] = ()


def capture(prepared: Prepared) -> Change:
    """Read off a tree what was done to it since it was prepared, committed or not.

    Works through the git directory of the harness, so nothing the agent did to its own can hide or add anything. May be
    called again.

    Raises
    ------
    RepoError
        When the tree cannot be read, or what was done to it is larger than PATCH_LIMIT.
    """
    tree, shadow = prepared.path, prepared.shadow
    if not (shadow / "index").is_file():
        raise RepoError(f"{shadow} was removed during the run, so what it did cannot be read: measure it again.")
    if tree.is_symlink() or not tree.is_dir():
        tree.unlink(missing_ok=True)
        tree.mkdir()
    index = shadow / "index.capture"
    shutil.copy2(shadow / "index", index)
    found = _change(Hold(shadow, tree, index), prepared.base_tree, prepared.known)
    base = Hold(shadow, tree, shadow / "index")
    return replace(found, hidden=hidden(base, prepared.base_tree, found.ignored))


def _change(hold: Hold, base_tree: str, known: Known) -> Change:
    found = stage(hold, known)
    tree = hold.write_tree() if found.changed else base_tree
    if tree == base_tree:
        return Change(b"", (), found.ignored, tree)
    try:
        touched, patch = _read(hold.run(*_DIFF, base_tree, tree, ceiling=PATCH_LIMIT))
    except TooLarge:
        limit = PATCH_LIMIT / 10**6
        raise TooLarge(f"its changes make a patch of more than {limit:g} MB, which is not kept.") from None
    return Change(patch, touched, found.ignored, tree)


def _read(data: bytes) -> tuple[tuple[str, ...], bytes]:
    """The names of NUL-separated raw records, and the patch that follows them."""
    touched = set()
    position = 0
    while data[position : position + 1] == b":":
        start = data.index(b"\0", position) + 1
        end = data.index(b"\0", start)
        touched.add(as_text(data[start:end]))
        position = end + 1
    return tuple(sorted(touched)), data[position + 1 :]


@contextmanager
def _fresh(d: Path, base: str | None) -> Iterator[tuple[Hold, str]]:
    """A git directory for one look at a working tree, and the tree it is compared with."""
    import tempfile

    d = Path(d).absolute()
    own = locate(d)
    ran = attempt(f"--git-dir={own}", "rev-parse", "--verify", f"{base or 'HEAD'}^{{tree}}")
    if ran.returncode:
        raise RepoError(f"{base or 'HEAD'} is no commit in {d}: {said(ran.stderr)}")
    tree = ran.stdout.decode().strip()
    with tempfile.TemporaryDirectory(prefix="trysquare-") as scratch:
        hold = Hold(Path(scratch), d)
        make_git_dir(
            hold.git_dir, git(f"--git-dir={own}", "rev-parse", f"{base or 'HEAD'}^{{commit}}").decode().strip()
        )
        objects = git(f"--git-dir={own}", "rev-parse", "--path-format=absolute", "--git-path", "objects")
        (hold.git_dir / "objects/info/alternates").write_bytes(objects)
        (hold.git_dir / "info/attributes").write_bytes(NEUTRAL)
        if (own / "info/exclude").is_file():
            shutil.copy(own / "info/exclude", hold.git_dir / "info/exclude")
        hold.run("read-tree", tree)
        yield hold, tree


def changed_files(d: Path, base: str | None = None) -> list[str]:
    """The paths of a working tree that differ from a commit, new and deleted files included, sorted.

    Parameters
    ----------
    base : str, optional
        The commit the work started from; HEAD when nobody can have moved it, as in a reconstituted tree.
    """
    with _fresh(d, base) as (hold, tree):
        return list(_change(hold, tree, Known(gitlinks(hold, tree))).touched)


def diff(d: Path, base: str | None = None) -> bytes:
    """The patch that makes what a working tree holds from a commit, binary files included; see `changed_files`."""
    with _fresh(d, base) as (hold, tree):
        return _change(hold, tree, Known(gitlinks(hold, tree))).patch

"""Making the final tree of a run again from its archive."""

import re
import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from trysquare.errors import RepoError
from trysquare.repo.command import said
from trysquare.repo.etalon import locate
from trysquare.repo.ground import Places, expose, lay
from trysquare.repo.hold import Hold
from trysquare.repo.prepared import Base, Prepared, SetupFailed
from trysquare.repo.stores import Shallow

# What is staged along with attributes of the agent's is staged as it is, so it is written as it is.
_ATTRIBUTES = rb'(?m)^diff --git "?a/(.*/)?\.gitattributes'


def rebuild(
    source: Path,
    workdir: Path,
    bricks: Path,
    base: Base,
    patch: Path,
    tree: str | None,
    base_tree: str | None,
    work: Path,
    what: str,
) -> Path:
    """The tree a run ended with, in `<work>/tree`: HEAD at the base commit, the agent's changes in the files only.

    Parameters
    ----------
    base, base_tree, tree
        What the run started from, and the ids of the tree it started from and of the one it ended with; None where an
        archive does not record one, which then is not checked.
    patch : Path
        Its archived patch; may be empty.
    what : str
        Whose patch it is, for errors.

    Raises
    ------
    RepoError
        Naming `what`: when base or final tree come out different, or the patch does not apply.
    """
    places = Places(Path(source), Path(workdir), Path(bricks), Path(work))
    try:
        prepared = _lay(places, base)
    except SetupFailed as error:
        raise RepoError(f"{what} cannot be rebuilt: {error}; in the run it had succeeded.") from error
    except RepoError as error:
        raise RepoError(f"{what} cannot be rebuilt: {error}") from error
    if base_tree not in (None, prepared.base_tree):
        why = (
            "its setup does not make the same files every time" if base.setup else "the archive or a brick was changed"
        )
        raise RepoError(f"{what} started from tree {base_tree} and rebuilding gives {prepared.base_tree}: {why}.")
    expose(prepared, alone=not base.history and base.setup is not None)
    started = prepared.base_tree
    made = _apply(prepared.hold, started, patch, what) if _size(patch, what) else started
    if tree not in (None, made):
        raise RepoError(f"{what} ended with tree {tree} and its patch gives {made}: restore the archived patch.")
    return prepared.path


def _lay(places: Places, base: Base) -> Prepared:
    try:
        return lay(places, base)
    except Shallow:
        # Where the source came without its history, the tree can still be the one that was measured.
        return lay(places, replace(base, history=False))


def _size(patch: Path, what: str) -> int:
    try:
        return Path(patch).stat().st_size
    except FileNotFoundError:
        raise RepoError(f"{what} has no patch at {patch}: restore it, the run cannot be rebuilt without.") from None


def _apply(hold: Hold, base_tree: str, patch: Path, what: str) -> str:
    """Apply a patch to the files of a clean tree, leaving its index as it was; returns the tree that results."""
    final = _copied(hold, "index.final")
    ran = final.listen("apply", "--cached", "--binary", "--whitespace=nowarn", Path(patch).absolute())
    if ran.returncode:
        raise RepoError(f"the patch of {what} does not apply: {said(ran.stderr)}")
    tree = final.write_tree()
    files = _copied(hold, "index.files")
    with hold.exact() if re.search(_ATTRIBUTES, Path(patch).read_bytes()) else nullcontext():
        files.run("read-tree", "-u", "--reset", base_tree, tree)
    return tree


def _copied(hold: Hold, name: str) -> Hold:
    index = hold.git_dir / name
    shutil.copy2(hold.git_dir / "index", index)
    return replace(hold, index=index)


def apply_diff(d: Path, patch: Path | bytes | str, what: str = "") -> None:
    """Apply an archived patch to a fresh clone; `what` says whose it is.

    Raises
    ------
    RepoError
        When it does not apply, in which case nothing is changed.
    """
    import tempfile

    with tempfile.TemporaryDirectory(prefix="trysquare-") as scratch:
        if not isinstance(patch, Path):
            data = patch if isinstance(patch, bytes) else patch.encode("utf-8", "surrogateescape")
            patch = Path(scratch) / "patch"
            patch.write_bytes(data)
        what = what or str(d)
        if _size(patch, what):
            hold = Hold(locate(d), Path(d).absolute())
            _apply(hold, hold.write_tree(), patch, what)

"""Making the final tree of a run again from its archive."""

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from trysquare.errors import RepoError
from trysquare.repo.command import said
from trysquare.repo.etalon import locate
from trysquare.repo.ground import Places, expose, lay
from trysquare.repo.hold import Hold
from trysquare.repo.prepared import Base, SetupFailed
from trysquare.repo.stores import is_shallow


def rebuild(
    source: Path,
    workdir: Path,
    bricks: Path,
    base: Base,
    patch: Path,
    tree: str,
    base_tree: str,
    work: Path,
    what: str,
) -> Path:
    """The tree a run ended with, in `<work>/tree`: HEAD at the base commit, the agent's changes in the files only.

    Parameters
    ----------
    base, base_tree, tree
        What the run started from, and the ids of the tree it started from and of the one it ended with.
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
    if base.history and is_shallow(places.source):
        base = replace(base, history=False)
    try:
        prepared = lay(places, base)
    except SetupFailed as error:
        raise RepoError(f"{what} cannot be rebuilt: {error}; in the run it had succeeded.") from error
    except RepoError as error:
        raise RepoError(f"{what} cannot be rebuilt: {error}") from error
    if prepared.base_tree != base_tree:
        why = (
            "its setup does not make the same files every time" if base.setup else "the archive or a brick was changed"
        )
        raise RepoError(f"{what} started from tree {base_tree} and rebuilding gives {prepared.base_tree}: {why}.")
    expose(prepared, alone=not base.history and base.setup is not None)
    made = _apply(prepared.hold, patch, what) if _size(patch, what) else base_tree
    if made != tree:
        raise RepoError(f"{what} ended with tree {tree} and its patch gives {made}: restore the archived patch.")
    return prepared.path


def _size(patch: Path, what: str) -> int:
    try:
        return Path(patch).stat().st_size
    except FileNotFoundError:
        raise RepoError(f"{what} has no patch at {patch}: restore it, the run cannot be rebuilt without.") from None


def _apply(hold: Hold, patch: Path, what: str) -> str:
    """Apply a patch to index and files of a clean tree, leaving the index as it was; returns the resulting tree."""
    index = hold.git_dir / "index.final"
    shutil.copy2(hold.git_dir / "index", index)
    final = Hold(hold.git_dir, hold.tree, index)
    ran = final.listen("apply", "--cached", "--binary", "--whitespace=nowarn", Path(patch).absolute())
    if ran.returncode:
        raise RepoError(f"the patch of {what} does not apply: {said(ran.stderr)}")
    tree = final.write_tree()
    final.run("read-tree", "-u", "--reset", tree)
    return tree


def apply_diff(d: Path, patch: Path | bytes | str, what: str = "") -> None:
    """Apply an archived patch to a fresh clone; `what` says whose it is.

    Raises
    ------
    RepoError
        When it does not apply, in which case nothing is changed.
    """
    with tempfile.TemporaryDirectory(prefix="trysquare-") as scratch:
        if not isinstance(patch, Path):
            data = patch if isinstance(patch, bytes) else patch.encode("utf-8", "surrogateescape")
            patch = Path(scratch) / "patch"
            patch.write_bytes(data)
        what = what or str(d)
        if _size(patch, what):
            _apply(Hold(locate(d), Path(d).absolute()), patch, what)

"""Stores: for each etalon a bare repository that holds the etalon and its ancestors, and nothing else."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from trysquare.errors import RepoError
from trysquare.repo.command import git
from trysquare.repo.etalon import locate
from trysquare.repo.hold import CONFIG, Hold, make_git_dir
from trysquare.repo.once import build_once
from trysquare.repo.surface import as_text

ORPHAN = "The tree to work on"
"""The message of the one commit of a clone without history."""

_MARKER = "store.json"


class Shallow(RepoError):
    """A source that lacks the history of its commits."""


@dataclass(frozen=True)
class Store:
    """What is in a store: the commit clones start at, its tree, its submodules (path to commit), and pack sizes."""

    head: str
    tree: str
    gitlinks: Mapping[str, str]
    packs: Mapping[str, int]

    @classmethod
    def read(cls, path: Path) -> "Store | None":
        """The store in a directory; None when it is missing, half written, or was written over."""
        try:
            found = cls(**json.loads((path / _MARKER).read_text()))
            whole = found.packs and found.packs == _packs(path)
        except (OSError, ValueError, TypeError):
            return None
        return found if whole else None


def _is_shallow(source: Path) -> bool:
    """Whether a local repository was cloned without its whole history."""
    return git(f"--git-dir={locate(source)}", "rev-parse", "--is-shallow-repository").strip() == b"true"


def store(checkout: Path, commit: str, workdir: Path, history: bool = True) -> Path:
    """The store of one commit of a local repository, made on first use.

    It is named after the commit, never after a tag, so a tag that moved cannot meet the store of what it named before.
    Safe under concurrent processes; a store that is half written or was written over is made again.

    Parameters
    ----------
    checkout : Path
        A directory, a worktree or a bare repository.
    commit : str
        A full commit, at the tip of a reference or not.
    history : bool
        Whether the ancestors belong to it. Without them it holds one commit of the same tree, without parents.

    Raises
    ------
    RepoError
        When the repository does not hold the commit, or not its history.
    """
    source = Path(checkout).absolute()
    target = Path(workdir).absolute() / "stores" / (commit if history else f"{commit}-orphan")

    def build(aside: Path) -> None:
        if history and _is_shallow(source):
            raise Shallow(
                f"{source} is a shallow clone, so runs would lack history: run `git fetch --unshallow` in it, "
                "or write history = false."
            )
        _build(source, commit, aside, history)

    return build_once(target, lambda path: Store.read(path) is not None, build)


def _build(source: Path, commit: str, path: Path, history: bool) -> None:
    make_git_dir(path, commit, CONFIG.replace("bare = false", "bare = true"))
    there = git(f"--git-dir={locate(source)}", "rev-parse", "--path-format=absolute", "--git-path", "objects")
    alternates = path / "objects/info/alternates"
    alternates.write_bytes(there)
    hold = Hold(path, path)
    tree = hold.run("rev-parse", "--verify", f"{commit}^{{tree}}").decode().strip()
    head = commit if history else hold.commit(tree, (), ORPHAN)
    pack(hold, head, path)
    links = gitlinks(hold, tree)
    alternates.unlink()
    for loose in (path / "objects").glob("[0-9a-f][0-9a-f]"):
        shutil.rmtree(loose)
    (path / _MARKER).write_text(json.dumps(asdict(Store(head, tree, links, _packs(path)))))


def pack(hold: Hold, head: str, target: Path) -> None:
    """Pack what a commit reaches, and nothing else, into another git directory."""
    hold.run(
        "pack-objects", "--revs", "--quiet", "--delta-base-offset", target / "objects/pack/pack", input=head.encode()
    )


def _packs(path: Path) -> dict[str, int]:
    return {item.name: item.stat().st_size for item in (path / "objects/pack").iterdir()}


def gitlinks(hold: Hold, tree: str) -> dict[str, str]:
    """The submodules of a tree: path to commit."""
    links = {}
    for entry in hold.run("ls-tree", "-r", "-z", tree).split(b"\0"):
        if entry.startswith(b"160000 "):
            kind, _, name = entry.partition(b"\t")
            links[as_text(name)] = kind.split()[2].decode()
    return links

"""A git directory of the harness's own over a tree that is somebody else's."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from trysquare.repo.command import attempt, git, local

COPIED = 32 * 2**20
"""Bytes up to which a pack is copied into the clone an agent works in; a larger one is linked."""

CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
"""

NEUTRAL = b"* !diff\n"
"""Attributes by which a patch takes a file for binary or text by its content, whatever the tree says of it."""

_EXACT = NEUTRAL + b"* -text !eol !ident !filter !working-tree-encoding\n"


def make_git_dir(path: Path, head: str, config: str = CONFIG) -> None:
    """Make what git needs to take a directory for a repository whose HEAD is detached; what is there is kept."""
    for part in ("objects/pack", "objects/info", "refs/heads", "refs/tags", "info"):
        (path / part).mkdir(parents=True, exist_ok=True)
    if not (path / "config").exists():
        (path / "config").write_text(config)
    set_head(path, head)


def set_head(git_dir: Path, commit: str) -> None:
    """Detach HEAD at a commit."""
    (git_dir / "HEAD").unlink(missing_ok=True)
    (git_dir / "HEAD").write_text(commit + "\n")


def settle(index: Path) -> None:
    """Let the clock of the file system pass what an index has written down, and date the index after it.

    git trusts what it knows of a file that is older than its index. From here on every change has a later time, so
    none can be missed, and nothing unchanged has to be read again.
    """
    written = index.stat().st_mtime_ns
    for _ in range(20):
        os.utime(index)
        if index.stat().st_mtime_ns > written:
            return
        time.sleep(0.001)


def share_packs(origin: Path, target: Path, copied: int = 0) -> None:
    """Put the packs of one git directory into another: hard links, copies up to `copied` bytes or where links fail."""
    for pack in (origin / "objects/pack").glob("pack-*.*"):
        there = target / "objects/pack" / pack.name
        if there.exists():
            continue
        if pack.stat().st_size > copied:
            try:
                os.link(pack, there)
                continue
            except OSError:
                pass
        shutil.copy(pack, there)


def share_loose(origin: Path, target: Path) -> None:
    """Copy the loose objects of one git directory into another."""
    for folder in (origin / "objects").glob("[0-9a-f][0-9a-f]"):
        there = target / "objects" / folder.name
        there.mkdir(exist_ok=True)
        for item in folder.iterdir():
            if not (there / item.name).exists():
                shutil.copy(item, there / item.name)


@dataclass(frozen=True)
class Hold:
    """Git commands on `tree` through `git_dir`, which need not be the one inside the tree.

    `index` replaces the index of `git_dir`. Names are bytes, relative to the tree.
    """

    git_dir: Path
    tree: Path
    index: Path | None = None

    def _args(self, args: Sequence[str | os.PathLike[str]]) -> list[str | os.PathLike[str]]:
        return [f"--git-dir={self.git_dir}", f"--work-tree={self.tree}", *args]

    def _env(self) -> dict[str, str]:
        return local() if self.index is None else {**local(), "GIT_INDEX_FILE": str(self.index)}

    def run(self, *args: str | os.PathLike[str], input: bytes | None = None, ceiling: int | None = None) -> bytes:
        """What a git command prints, at most `ceiling` bytes.

        Raises
        ------
        RepoError
            When it fails.
        """
        return git(*self._args(args), cwd=self.tree, env=self._env(), input=input, ceiling=ceiling)

    def listen(self, *args: str | os.PathLike[str], input: bytes | None = None) -> "subprocess.CompletedProcess[bytes]":
        """How a git command ended, for callers to whom failing means something."""
        return attempt(*self._args(args), cwd=self.tree, env=self._env(), input=input)

    def add(self, names: Iterable[bytes], *, exactly: bool = False) -> None:
        """Put files and links into the index, in place of whatever stands in their way there.

        They are converted as their attributes say, unless `exactly`, or when they are not what these claim.
        """
        data = _listing(names)
        if not data:
            return
        command = ("update-index", "--add", "--replace", "-z", "--stdin")
        if exactly or self.listen(*command, input=data).returncode:
            with self.exact():
                self.run(*command, input=data)

    @contextmanager
    def exact(self) -> Iterator[None]:
        """Let git take and write content byte for byte, whatever attributes the tree has."""
        attributes = self.git_dir / "info/attributes"
        attributes.parent.mkdir(exist_ok=True)
        before = attributes.read_bytes() if attributes.exists() else b""
        attributes.write_bytes(_EXACT)
        try:
            yield
        finally:
            attributes.write_bytes(before)

    def remove(self, names: Iterable[bytes]) -> None:
        """Take names out of the index."""
        data = _listing(names)
        if data:
            self.run("update-index", "--force-remove", "-z", "--stdin", input=data)

    def write_tree(self) -> str:
        """Write the index as a tree; returns its id."""
        return self.run("write-tree").decode().strip()

    def commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        """Commit a tree, with the identity and date all commits of the harness have, and detach HEAD at the commit."""
        parent = [word for each in parents for word in ("-p", each)]
        commit = self.run("commit-tree", tree, *parent, "-m", message).decode().strip()
        set_head(self.git_dir, commit)
        return commit


def _listing(names: Iterable[bytes]) -> bytes:
    return b"".join(name + b"\0" for name in names)

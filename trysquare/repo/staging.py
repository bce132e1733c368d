"""Bringing an index to what a tree holds, whatever was done to the tree.

Nothing here trusts what an agent can write: its git directory is not read (of a submodule's, only commit ids are),
its nested repositories become plain files, and what its ignore rules hide is listed.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from trysquare.errors import RepoError
from trysquare.repo.command import attempt, said
from trysquare.repo.hold import Hold
from trysquare.repo.surface import Closed, Surface, as_bytes, as_text

_DENIED = rb"(?m)^warning: .*: Permission denied$"


@dataclass(frozen=True)
class Known:
    """What was in a tree before: submodules (path to commit), names put there unseen, names ignored already."""

    gitlinks: Mapping[str, str]
    hidden: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Found:
    """Whether the index changed, and the new names that are ignored or that git cannot record; directories end in /."""

    changed: bool
    ignored: tuple[str, ...]


def stage(hold: Hold, known: Known) -> Found:
    """Bring the index of `hold` to what its tree holds, ignored and hidden files aside.

    Raises
    ------
    RepoError
        When the tree cannot be read.
    """
    surface = Surface(hold.tree)
    try:
        try:
            return _Stage(hold, known, surface).run()
        except Closed:
            surface.open_up()
            return _Stage(hold, known, surface).run()
    except (OSError, Closed) as error:
        raise RepoError(f"{hold.tree} cannot be read: {error or 'a directory in it is closed'}.") from error


def every_ignored(hold: Hold) -> frozenset[str]:
    """Every ignored file of a tree, one by one."""
    return frozenset(map(as_text, _ignored(hold)))


def _ignored(hold: Hold, *folders: str) -> list[bytes]:
    command = ("ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", *folders)
    return [name for name in hold.run("--literal-pathspecs", *command).split(b"\0") if name]


class _Stage:
    def __init__(self, hold: Hold, known: Known, surface: Surface) -> None:
        self.hold, self.surface = hold, surface
        self.modules = {as_bytes(path): commit for path, commit in known.gitlinks.items()}
        self.hidden = {as_bytes(name) for name in known.hidden}
        self.old = self.hidden | {as_bytes(name) for name in known.ignored}
        self.lost: set[bytes] = set()

    def run(self) -> Found:
        filled = [path for path in self.modules if self.surface.holds(path)]
        self.hold.remove(filled)
        names = self._status()
        present = [name for name in names if self.surface.takes(name)]
        absent = sorted(set(names).difference(present))
        self.lost.update(name for name in absent if not self.surface.is_gone(name))
        self.hold.remove(absent)
        # Attributes the agent wrote would convert what it left, and a reconstitution could not tell how.
        self.hold.add(present, exactly=any(map(_is_attributes, {*names, *self.lost} - self.old)))
        for path in filled:
            self._keep(path)
        new = sorted(as_text(name) for name in self.lost - self.old)
        return Found(bool(filled or present or absent), tuple(new))

    def _status(self) -> list[bytes]:
        """The names that differ from the index, those in nested repositories included."""
        ran = self.hold.listen(
            "status", "--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames",
            "--ignore-submodules=dirty",
        )  # fmt: skip
        if re.search(_DENIED, ran.stderr):
            raise Closed
        if ran.returncode:
            raise RepoError(f"git status failed in {self.hold.tree}: {said(ran.stderr)}")
        names: list[bytes] = []
        ignored: list[bytes] = []
        for entry in ran.stdout.split(b"\0"):
            code, name = entry[:2], entry[3:]
            if code == b"!!":
                ignored.append(name)
            elif code == b"??" and name.endswith(b"/"):
                names += self._nested(name)
            elif code[1:2].strip() and name not in self.hidden:
                names.append(name)
        self._ignored(ignored)
        return names

    def _nested(self, top: bytes) -> list[bytes]:
        """The files of a nested repository, which git would reduce to the id of a commit nobody else has."""
        self.lost.add(top + b".git")
        files: list[bytes] = []
        level = [top[:-1]]
        while level:
            found = dict(entry for folder in level for entry in self.surface.entries(folder))
            kept = {name: is_folder for name, is_folder in found.items() if not name.endswith(b"/.git")}
            hides = self._hides(list(kept))
            self.lost.update(name + b"/" * kept[name] for name in hides)
            files += [name for name, is_folder in kept.items() if not is_folder and name not in hides]
            level = [name for name, is_folder in kept.items() if is_folder and name not in hides]
        return files

    def _hides(self, names: list[bytes]) -> set[bytes]:
        if not names:
            return set()
        # A leading colon would be magic, and this command knows no literal names.
        ran = self.hold.listen("check-ignore", "-z", "--stdin", input=b"".join(b"./" + name + b"\0" for name in names))
        if ran.returncode > 1:
            raise RepoError(f"git check-ignore failed in {self.hold.tree}: {said(ran.stderr)}")
        return {name[2:] for name in ran.stdout.split(b"\0") if name}

    def _ignored(self, collapsed: list[bytes]) -> None:
        """Note what is ignored now and was not before; a directory that held ignored files is looked into."""
        folders = {parent for name in self.old for parent in _parents(name)}
        mixed = [name for name in collapsed if name in folders]
        self.lost.update(set(collapsed).difference(mixed))
        if mixed:
            for name in _ignored(self.hold, *map(os.fsdecode, mixed)):
                if name not in self.old:
                    self.lost.add(next((parent for parent in _parents(name) if parent not in folders), name))

    def _keep(self, path: bytes) -> None:
        """Keep a submodule as one when its files are exactly a commit that others have too."""
        own = f"--git-dir={self.surface.path(path)}/.git"
        heads = attempt(own, "rev-parse", "HEAD^{commit}", "HEAD^{tree}")
        there = self.hold.listen("write-tree", f"--prefix={os.fsdecode(path)}/")
        if heads.returncode or there.returncode:
            return
        commit, tree = heads.stdout.decode().split()
        if tree != there.stdout.decode().strip():
            return
        if commit != self.modules[path]:
            unknown = attempt(own, "rev-list", "-n1", commit, "--not", "--remotes")
            if unknown.returncode or unknown.stdout:
                return
        self.hold.run("update-index", "--add", "--replace", "--cacheinfo", f"160000,{commit},{os.fsdecode(path)}")
        self.lost.discard(path + b"/.git")


def _is_attributes(name: bytes) -> bool:
    return name.rpartition(b"/")[2] == b".gitattributes"


def _parents(name: bytes) -> list[bytes]:
    """The directories a name lies in, outermost first, each ending in a slash."""
    words = name.split(b"/")[:-1]
    return [b"/".join(words[: n + 1]) + b"/" for n in range(len(words))]

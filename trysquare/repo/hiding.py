"""Which of the files an agent left are hidden by ignore rules that it made itself."""

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from trysquare.errors import RepoError
from trysquare.repo.command import said
from trysquare.repo.hold import Hold
from trysquare.repo.surface import Surface, as_bytes


def hidden(hold: Hold, base_tree: str, ignored: Iterable[str]) -> tuple[str, ...]:
    """The ignored names that the rules of the base commit do not hide; `hold` has the index of that commit.

    Raises
    ------
    RepoError
        When git cannot say it.
    """
    surface = Surface(hold.tree)
    names = [name for name in ignored if name.endswith("/") or surface.takes(as_bytes(name))]
    if not names:
        return ()
    with tempfile.TemporaryDirectory(dir=hold.git_dir, prefix="rules-") as rules:
        _lay_out(replace(hold, tree=Path(rules)), base_tree, names)
        kept = _ignored(replace(hold, tree=Path(rules)), names)
    return tuple(name for name in names if as_bytes(name) not in kept)


def _lay_out(hold: Hold, base_tree: str, names: Iterable[str]) -> None:
    """Give a tree the ignore files of the base commit, and the directories that tell a rule for directories apart."""
    listed = hold.run("ls-tree", "-r", "-z", "--name-only", base_tree).split(b"\0")
    rules = [name for name in listed if name.rpartition(b"/")[2] == b".gitignore"]
    if rules:
        hold.run("checkout-index", "-z", "--stdin", input=b"".join(name + b"\0" for name in rules))
    for name in names:
        folder = as_bytes(name).rpartition(b"/")[0]
        with suppress(FileExistsError, NotADirectoryError):  # an agent may have put a directory where a rule file was
            (hold.tree / os.fsdecode(folder)).mkdir(parents=True, exist_ok=True)


def _ignored(hold: Hold, names: Iterable[str]) -> set[bytes]:
    # A leading colon would be magic, and this command knows no literal names.
    asked = b"".join(b"./" + as_bytes(name) + b"\0" for name in names)
    ran = hold.listen("check-ignore", "--no-index", "-z", "--stdin", input=asked)
    if ran.returncode > 1:
        raise RepoError(f"git check-ignore failed in {hold.tree}: {said(ran.stderr)}")
    return {name[2:] for name in ran.stdout.split(b"\0") if name}

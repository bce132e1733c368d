"""From an etalon to the base commit: the same steps for a run and for its reconstitution."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trysquare import interrupt
from trysquare.errors import RepoError
from trysquare.repo.agents import with_model
from trysquare.repo.command import outside
from trysquare.repo.content import Content, Contents, put, refuse_existing, thaw, thaw_tree
from trysquare.repo.hold import CONFIG, COPIED, NEUTRAL, make_git_dir, settle, share_loose, share_packs
from trysquare.repo.prepared import Base, Prepared, SetupFailed
from trysquare.repo.staging import Known, every_ignored, stage
from trysquare.repo.stores import ORPHAN, Store, gitlinks, pack, store

AGENTS = ".pi/agents/"
"""Where the agent looks for agent definitions."""

SETUP_TIMEOUT = 3600.0
"""Seconds a setup executable may take."""

SETUP = "Set up the tree"
GIVEN = "Files of the task"
REPLACED = "Context of the task"

# With an identity of its own a clone lets its agent commit on every machine, and never as the operator.
_OWN_CONFIG = CONFIG + "\tlogallrefupdates = true\n[user]\n\tname = agent\n\temail = agent@localhost\n"


@dataclass(frozen=True)
class Places:
    """Where a tree is made from and where: a local repository, the work directory, frozen files, a private place."""

    source: Path
    workdir: Path
    bricks: Path
    work: Path


def lay(places: Places, base: Base) -> Prepared:
    """Make the tree of a base commit in `places.work`, with the harness's git directory beside it.

    The tree's own git directory is made last, by `expose`; before that only for a setup executable.

    Raises
    ------
    SetupFailed
        When the setup executable does not succeed.
    RepoError
        When the base cannot be made.
    """
    origin = store(places.source, base.commit, places.workdir, base.history or base.setup is not None)
    kept = Store.read(origin)
    if kept is None:
        raise RepoError(f"{origin} was written over while it was in use: launch again.")
    tree, shadow = places.work.absolute() / "tree", places.work.absolute() / "shadow"
    tree.mkdir(parents=True)
    make_git_dir(shadow, kept.head)
    (shadow / "info/attributes").write_bytes(NEUTRAL)
    share_packs(origin, shadow)
    prepared = Prepared(tree, base.commit, base=base, base_commit=kept.head, base_tree=kept.tree, shadow=shadow)
    prepared.known = Known(kept.gitlinks)
    prepared.hold.run("read-tree", "-u", "--reset", "HEAD")
    if base.setup is not None:
        expose(prepared)
        _set_up(prepared, thaw(places.bricks, base.setup), places.work)
    given = thaw_tree(places.bricks, base.files)
    for path in given:
        refuse_existing(tree, path)
    commit(prepared, given, GIVEN)
    prepared.given += sorted(given)
    commit(prepared, _replacing(thaw_tree(places.bricks, base.replaced), base.model), REPLACED)
    return prepared


def commit(prepared: Prepared, contents: Contents, message: str) -> None:
    """Put files into the tree and commit them on top of its base."""
    if not contents:
        return
    for path, content in contents.items():
        put(prepared.path, path, content)
    hold = prepared.hold
    hold.add(os.fsencode(path) for path in contents)
    _advance(prepared, hold.write_tree(), [prepared.base_commit], message)


def _advance(prepared: Prepared, tree: str, parents: list[str], message: str) -> None:
    prepared.base_commit = prepared.hold.commit(tree, parents, message)
    prepared.base_tree = tree


def _replacing(contents: Mapping[str, Content], model: str | None) -> dict[str, Content]:
    return {
        path: Content(with_model(content.data, model), content.blob) if is_agent(path) else content
        for path, content in contents.items()
    }


def is_agent(path: str) -> bool:
    """Whether a path of the tree is an agent definition."""
    return path.startswith(AGENTS) and path.endswith(".md")


def _set_up(prepared: Prepared, executable: Content, work: Path) -> None:
    _run_setup(executable, prepared.path, work)
    hold, base = prepared.hold, prepared.base
    found = stage(hold, prepared.known)
    tree = hold.write_tree()
    links = gitlinks(hold, tree) if prepared.known.gitlinks else {}
    prepared.known = Known(links, ignored=every_ignored(hold) | set(found.ignored))
    if not base.history:
        _advance(prepared, tree, [], ORPHAN)
        _forget(prepared.path / ".git")
    elif tree != prepared.base_tree:
        _advance(prepared, tree, [prepared.base_commit], SETUP)


def _run_setup(executable: Content, tree: Path, work: Path) -> None:
    program, log = work.absolute() / "setup", work.absolute() / "setup.log"
    program.write_bytes(executable.data)
    program.chmod(0o755)
    with log.open("wb") as handle:
        try:
            ran = interrupt.run(
                [program],
                cwd=tree,
                env=outside(),
                stdin=subprocess.DEVNULL,
                stdout=handle,
                stderr=subprocess.STDOUT,
                timeout=SETUP_TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            raise SetupFailed(f"setup took longer than {SETUP_TIMEOUT:.0f} s", None, _end(log)) from None
        except OSError as error:
            raise RepoError(f"setup cannot be started ({error.strerror}): begin it with a #! line.") from None
    if ran.returncode:
        raise SetupFailed(f"setup exited {ran.returncode}", ran.returncode, _end(log))


def _end(log: Path) -> str:
    with log.open("rb") as handle:
        handle.seek(max(0, log.stat().st_size - 4096))
        return handle.read().decode("utf-8", "replace")


def _forget(own: Path) -> None:
    """Take everything out of a git directory but what a setup executable may have configured there."""
    for item in own.iterdir() if own.is_dir() else ():
        if item.name in ("config", "hooks", "info"):
            continue
        if item.is_dir() and not item.is_symlink():
            shutil.rmtree(item)
        else:
            item.unlink()


def expose(prepared: Prepared, *, alone: bool = False) -> None:
    """Give the tree a git directory of its own, HEAD detached at the base commit, without any object beyond it.

    `alone` leaves out what the base commit does not reach, for when the git directory of the harness knows more.
    """
    own, shadow = prepared.path / ".git", prepared.shadow
    if own.is_symlink() or own.is_file():
        own.unlink()
    make_git_dir(own, prepared.base_commit, _OWN_CONFIG)
    if alone:
        pack(prepared.hold, prepared.base_commit, own)
    else:
        share_packs(shadow, own, COPIED)
        share_loose(shadow, own)
    settle(shadow / "index")
    shutil.copy2(shadow / "index", own / "index")

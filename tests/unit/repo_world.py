"""A source repository, a place for stores and runs, and the oracle for what a tree holds."""

import os
import stat
import subprocess
from itertools import count
from pathlib import Path

from trysquare import repo
from trysquare.files import digest
from trysquare.matrix import Blob, CellPlan

PERSON = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "somebody",
    "GIT_AUTHOR_EMAIL": "somebody@example.org",
    "GIT_COMMITTER_NAME": "somebody",
    "GIT_COMMITTER_EMAIL": "somebody@example.org",
}


def run_git(cwd, *args, **env):
    """git as a person or an agent runs it."""
    environment = {**os.environ, **PERSON, **env}
    return (
        subprocess.run(["git", *args], cwd=cwd, env=environment, check=True, capture_output=True)
        .stdout.decode()
        .strip()
    )


class World:
    def __init__(self, root):
        self.root = Path(root)
        self.source = self.root / "source"
        self.workdir = self.root / "workdir"
        self.bricks = self.root / "bricks"
        self.bricks.mkdir(parents=True)
        self.source.mkdir()
        self._runs = count()
        run_git(self.source, "init", "-q", "-b", "main")

    def write(self, files, where=None):
        for name, data in files.items():
            path = (where or self.source) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if isinstance(data, bytes) else data.encode())

    def commit(self, files=None, tag=None, annotated=False):
        self.write(files or {})
        run_git(self.source, "add", "-A")
        run_git(self.source, "commit", "-q", "--allow-empty", "-m", "work")
        if tag:
            run_git(self.source, "tag", *(["-a", "-m", "a tag"] if annotated else []), tag)
        return run_git(self.source, "rev-parse", "HEAD")

    def brick(self, data, executable=False):
        data = data if isinstance(data, bytes) else data.encode()
        (self.bricks / digest(data)).write_bytes(data)
        return Blob(digest(data), executable)

    def tree(self, files):
        return {path: self.brick(data) for path, data in files.items()}

    def script(self, *lines):
        return self.brick("#!/bin/sh\nset -e\n" + "\n".join(lines) + "\n", executable=True)

    def cell(self, **parts):
        for name in ("context", "system"):
            if isinstance(parts.get(name), str):
                parts[name] = self.brick(parts[name]).digest
        for name in ("files", "agents", "skills"):
            if name in parts:
                parts[name] = self.tree(parts[name])
        return CellPlan("cell", "fingerprint", {}, "off", "prompt", **parts)

    def place(self):
        return self.root / "runs" / str(next(self._runs))

    def prepare(self, commit=None, source=None, **parts):
        commit = commit or run_git(self.source, "rev-parse", "HEAD")
        return repo.prepare(source or self.source, self.workdir, self.bricks, self.cell(**parts), commit, self.place())

    def rebuild(self, prepared, change, **other):
        work = self.place()
        patch = self.root / f"patch-{work.name}"
        patch.write_bytes(other.pop("patch", change.patch))
        parts = {
            "base": prepared.base,
            "tree": change.tree,
            "base_tree": prepared.base_tree,
            "what": "run 4f2a",
            **other,
        }
        return repo.rebuild(self.source, self.workdir, self.bricks, patch=patch, work=work, **parts)


def walk(tree, without=()):
    """Every file and link of a tree with its mode and content; git's own and names below `without` left out."""
    found = {}
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name != ".git"]
        for name in [*folders, *names]:
            path = Path(folder, name)
            relative = path.relative_to(tree).as_posix()
            mode = path.lstat().st_mode
            if name == ".git" or any(
                relative == out or (out.endswith("/") and relative.startswith(out)) for out in without
            ):
                continue
            if stat.S_ISLNK(mode):
                found[relative] = ("link", str(path.readlink()))
            elif stat.S_ISREG(mode):
                found[relative] = ("executable" if mode & 0o100 else "file", path.read_bytes())
    return found


def agree(world, prepared, change):
    """Rebuild from the archive, and compare with the tree the agent left; returns the rebuilt tree."""
    hidden = set(prepared.injected) - set(prepared.base.replaced)
    rebuilt = world.rebuild(prepared, change)
    made, left = walk(rebuilt), walk(prepared.path, without=(*hidden, *change.ignored))
    assert {name for name in made.keys() | left.keys() if made.get(name) != left.get(name)} == set()
    return rebuilt


def objects(git_dir):
    """Every object a git directory holds, reachable or not."""
    listed = run_git(git_dir, f"--git-dir={git_dir}", "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return set(listed.split())

"""Any sequence of things done to a tree, captured and rebuilt, gives the same tree."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repo_world import World, agree, run_git, walk

from trysquare import repo

NAMES = [
    "a.py", "b.bin", "dir", "dir/a.py", "dir/sub", "dir/sub/deep.txt", "-dash", "new\nline", 'quo"te', "sp ace ",
    "naïve", "\udcff\udcfe", "x.log", "out/x.log", "out/y.o", "link", ".gitignore", "dir/.gitignore", ".gitattributes",
]  # fmt: skip
CONTENTS = [
    b"", b"x", b"x\n", b"x\r\ny\n", b"\r\n", b"\0\1\xff", b"line\n" * 300, b"line\n" * 150 + b"new\n" + b"line\n" * 149,
    bytes(range(256)) * 40, b"*.log\n", b"*\n!a.py\n", b"out/\n", b"* text=auto eol=crlf\n", b"* filter=x ident diff\n",
    b"$Id$\n",
]  # fmt: skip

name = st.sampled_from(NAMES)
operation = st.one_of(
    st.tuples(st.just("write"), name, st.sampled_from(CONTENTS)),
    st.tuples(st.just("delete"), name),
    st.tuples(st.just("move"), name, name),
    st.tuples(st.just("link"), name, st.sampled_from(["a.py", "dir", "nowhere", "/etc"])),
    st.tuples(st.just("mode"), name, st.sampled_from([0o755, 0o644])),
    st.tuples(st.just("directory"), name),
    st.tuples(st.just("init"), name),
    st.tuples(st.just("commit")),
)


def _path(tree, where):
    """A path of the tree, unless a link on the way leads elsewhere."""
    path = Path(tree, where)
    return path if path.parent.resolve() == Path(os.path.normpath(path.parent)) else Path(tree, "a.py")


def act(tree, kind, *args):
    path = _path(tree, args[0]) if args else tree
    if kind in ("mode", "init") and not path.resolve().is_relative_to(Path(tree).resolve()):
        return  # both follow a link, and what it names outside the tree is the machine's own
    if kind == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            path.unlink()
        path.write_bytes(args[1])
    elif kind == "delete":
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    elif kind == "move":
        path.rename(_path(tree, args[1]))
    elif kind == "link":
        path.symlink_to(args[1])
    elif kind == "mode":
        path.chmod(args[1])
    elif kind == "directory":
        path.mkdir(parents=True)
    elif kind == "init":
        run_git(path, "init", "-q")
    else:
        run_git(tree, "add", "-A")
        run_git(tree, "commit", "-q", "-m", "work")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("world"))
    (made.source / "link").symlink_to("dir")
    made.commit(
        {
            "a.py": "a\n", "b.bin": bytes(range(256)) * 40, "dir/a.py": b"x\r\ny\n", "dir/sub/deep.txt": "line\n" * 300,
            ".gitignore": "*.log\n", "\udcff\udcfe": "odd\n",
        }
    )  # fmt: skip
    return made


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(operation, min_size=1, max_size=8))
def test_capture_then_rebuild_is_the_identity(world, operations):
    run = world.prepare(context="be kind")
    for one in operations:
        try:
            act(run.path, *one)
        except (OSError, shutil.Error, subprocess.CalledProcessError):
            continue
    change = repo.capture(run)
    before, after = walk(world.source), walk(agree(world, run, change))
    assert set(change.touched) == {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}

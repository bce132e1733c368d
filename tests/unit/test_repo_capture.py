"""Whatever an agent does to its tree, what it did is seen and comes back byte for byte."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from captured_world import run, world
from repo_world import World, agree, run_git, walk

from trysquare import repo
from trysquare.errors import RepoError

__all__ = ["run", "world"]


def test_a_run_that_did_nothing_changes_nothing(world, run):
    change = repo.capture(run)
    assert (change.patch, change.touched, change.ignored, change.tree) == (b"", (), (), run.base_tree)
    assert walk(world.rebuild(run, change)) == walk(world.source)


def test_work_the_agent_commits_is_seen(world, run):
    (run.path / "app.py").write_text("print(2)\n")
    (run.path / "new.py").write_text("x\n")
    run_git(run.path, "add", "-A")
    run_git(run.path, "commit", "-q", "-m", "done")
    change = repo.capture(run)
    assert change.touched == ("app.py", "new.py")
    agree(world, run, change)


def test_work_the_agent_commits_rebases_and_packs_is_seen(world, run):
    for n in range(3):
        (run.path / "app.py").write_text(f"print({n})\n")
        run_git(run.path, "commit", "-q", "-am", str(n))
    run_git(run.path, "reset", "-q", "--soft", "HEAD~2")
    run_git(run.path, "commit", "-q", "--amend", "-m", "squashed")
    run_git(run.path, "checkout", "-q", "-b", "elsewhere")
    run_git(run.path, "gc", "-q", "--prune=now")
    change = repo.capture(run)
    assert change.touched == ("app.py",)
    agree(world, run, change)
    assert repo.capture(world.prepare()).touched == ()


def test_a_deleted_tracked_test_is_touched(world, run):
    (run.path / "tests/test_app.py").unlink()
    change = repo.capture(run)
    assert change.touched == ("tests/test_app.py",)
    agree(world, run, change)


def test_binary_files_come_back(world, run):
    (run.path / "data.bin").write_bytes(bytes(range(255, -1, -1)) * 4)
    (run.path / "new.bin").write_bytes(b"\0\xff" * 3000)
    (run.path / "late.bin").write_bytes(b"text\n" * 4000 + b"\0\r\n\xfe")
    change = repo.capture(run)
    assert change.touched == ("data.bin", "late.bin", "new.bin")
    agree(world, run, change)


def test_a_rename_is_both_names(world, run):
    (run.path / "app.py").rename(run.path / "main.py")
    change = repo.capture(run)
    assert change.touched == ("app.py", "main.py")
    agree(world, run, change)


def test_files_without_a_final_newline_and_with_mixed_line_ends_come_back(world, run):
    (run.path / "crlf.txt").write_bytes(b"one\r\n\n\rtwo")
    (run.path / "app.py").write_bytes(b"print(1)")
    (run.path / "empty").write_bytes(b"")
    change = repo.capture(run)
    assert change.touched == ("app.py", "crlf.txt", "empty")
    agree(world, run, change)


def test_modes_and_links_come_back(world, run):
    (run.path / "app.py").chmod(0o755)
    (run.path / "link").unlink()
    (run.path / "link").symlink_to("/etc/passwd")
    (run.path / "docs/a.md").unlink()
    (run.path / "docs/a.md").symlink_to("nowhere")
    (run.path / "new").symlink_to("docs")
    change = repo.capture(run)
    assert change.touched == ("app.py", "docs/a.md", "link", "new")
    agree(world, run, change)


def test_files_and_directories_that_change_places_come_back(world, run):
    shutil.rmtree(run.path / "docs")
    (run.path / "docs").write_text("a file now\n")
    (run.path / "app.py").unlink()
    (run.path / "app.py").mkdir()
    (run.path / "app.py/inner").write_text("x\n")
    (run.path / "tests").rename(run.path / "moved")
    (run.path / "tests").symlink_to("moved")
    change = repo.capture(run)
    assert change.touched == (
        "app.py",
        "app.py/inner",
        "docs",
        "docs/a.md",
        "moved/test_app.py",
        "tests",
        "tests/test_app.py",
    )
    agree(world, run, change)


def test_a_directory_replaced_by_a_link_to_a_poorer_one_loses_its_files(world, run):
    shutil.rmtree(run.path / "docs")
    (run.path / "docs").symlink_to("tests")
    change = repo.capture(run)
    assert change.touched == ("docs", "docs/a.md")
    agree(world, run, change)


NAMES = [
    b"-rf",
    b"--",
    b"new\nline",
    b'quo"te',
    b"tab\there",
    b"\xff\xfe",
    "naïve ✓".encode(),
    b" lead",
    b"trail ",
    b"a\\b",
    b":(top)x",
    b"*",
    b"git~1",
    b"b/ b/c",
]


def test_names_of_any_bytes_come_back(world, run):
    for name in NAMES:
        path = run.path / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name)
    change = repo.capture(run)
    assert sorted(name.encode("utf-8", "surrogateescape") for name in change.touched) == sorted(NAMES)
    agree(world, run, change)


@pytest.mark.parametrize("how", ["emptied", "removed", "linked elsewhere"])
def test_an_agent_that_removes_everything_has_deleted_everything(world, run, how, tmp_path):
    shutil.rmtree(run.path)
    if how == "emptied":
        run.path.mkdir()
    if how == "linked elsewhere":
        run.path.symlink_to(tmp_path)
    change = repo.capture(run)
    assert set(change.touched) == set(walk(world.source))
    agree(world, run, change)


def test_what_git_cannot_hold_is_listed(world, run):
    world.write({"sub/.GIT/config": "x"}, run.path)
    (run.path / ".gitmodules").symlink_to("app.py")
    (run.path / "app.py").unlink()
    os.mkfifo(run.path / "app.py")
    change = repo.capture(run)
    assert change.touched == ("app.py",)
    assert change.ignored == (".gitmodules", "app.py", "sub/.GIT/config")
    agree(world, run, change)


def test_conversions_the_agent_declares_cannot_stop_the_capture(world, run):
    (run.path / ".gitattributes").write_text("*.py working-tree-encoding=UTF-16\n*.bin diff\n* filter=absent ident\n")
    (run.path / "app.py").write_bytes(b"odd")
    (run.path / "data.bin").write_bytes(b"\0\n\0")
    change = repo.capture(run)
    assert change.touched == (".gitattributes", "app.py", "data.bin")
    agree(world, run, change)


def test_capturing_again_gives_the_same(world, run):
    world.write({"new/a": "a", "x.log": "x"}, run.path)
    (run.path / "docs/a.md").unlink()
    run_git(run.path / "new", "init", "-q")
    first = repo.capture(run)
    assert repo.capture(run) == first


def test_the_operators_configuration_changes_nothing(world, tmp_path, monkeypatch):
    home = tmp_path / "home"
    hook = home / "hooks/post-index-change"
    world.write({"hooks/post-index-change": f"#!/bin/sh\ntouch {home}/hooked\n", "git/ignore": "*.py\n"}, home)
    world.write({"git/attributes": "* text eol=crlf\n"}, home)
    hook.chmod(0o755)
    (home / ".gitconfig").write_text(
        f"[core]\n\thooksPath = {home}/hooks\n\tautocrlf = true\n\tfsmonitor = touch {home}/hooked\n"
        "[diff]\n\tnoprefix = true\n\trenames = copies\n\texternal = false\n[init]\n\ttemplateDir = /nowhere\n"
    )
    expected = repo.capture(_worked(world))
    for name, value in {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "GIT_DIR": "/nowhere"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    shutil.rmtree(world.workdir)
    run = _worked(world)
    assert repo.capture(run) == expected
    assert not (home / "hooked").exists()
    agree(world, run, expected)


def _worked(world):
    run = world.prepare(commit=repo.resolve_etalon(world.source, "v1"))
    (run.path / "app.py").rename(run.path / "b.py")
    (run.path / "crlf.txt").write_bytes(b"a\r\n")
    return run


def test_a_run_that_removed_what_it_is_compared_with_is_an_error(world, run):
    shutil.rmtree(run.path.parent)
    with pytest.raises(RepoError, match="was removed during the run"):
        repo.capture(run)


@pytest.fixture
def as_nobody():
    """Root reads everything, so the tests of what cannot be read shed its rights for their length."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as place:
        if os.geteuid() != 0:
            yield Path(place)
            return
        os.chown(place, 65534, 65534)
        os.setegid(65534)
        os.seteuid(65534)
        try:
            yield Path(place)
        finally:
            os.seteuid(0)
            os.setegid(0)


def test_what_the_agent_closed_is_not_taken_for_deleted(as_nobody):
    world = World(as_nobody / "world")
    world.commit({"d/a.txt": "a\n", "e/b.txt": "b\n", "open.txt": "1\n", "f.txt": "f\n", ".gitignore": "*.log\n"})
    run = world.prepare()
    world.write({"open.txt": "2\n", "nested/d/a": "a\n", "d/x.log": "x"}, run.path)
    run_git(run.path / "nested", "init", "-q")
    for name, mode in {"f.txt": 0, "d": 0, "e": 0o600, "nested/d": 0o300}.items():
        (run.path / name).chmod(mode)
    change = repo.capture(run)
    assert change.touched == ("nested/d/a", "open.txt")
    assert change.ignored == ("d/x.log", "nested/.git")
    agree(world, run, change)

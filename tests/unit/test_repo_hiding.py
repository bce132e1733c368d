"""Whatever an agent does to its git directory and to the rules of git, what it did is seen and comes back."""

import os
import shutil

import pytest
from captured_world import run, world
from repo_world import agree, run_git

from trysquare import repo

__all__ = ["run", "world"]


def test_ignored_files_are_listed_and_not_touched(world, run):
    world.write({"run.log": "x", "build/out/a.o": "x", "src/__pycache__/m.pyc": "x", "src/m.py": "m\n"}, run.path)
    change = repo.capture(run)
    assert change.touched == ("src/m.py",)
    assert change.ignored == ("build/", "run.log", "src/__pycache__/")
    assert change.hidden == ()
    agree(world, run, change)


def test_a_tracked_file_that_the_agent_ignores_is_still_seen(world, run):
    (run.path / ".gitignore").write_text("*\n")
    (run.path / "app.py").write_text("print(3)\n")
    (run.path / "new.py").write_text("x\n")
    change = repo.capture(run)
    assert change.touched == (".gitignore", "app.py")
    assert change.ignored == change.hidden == ("new.py",)
    agree(world, run, change)


def test_what_only_rules_of_the_agents_own_hide_is_told_apart(world, run):
    world.write(
        {
            ".gitignore": "*.log\nbuild\n*.out\nreports/\n!__pycache__/\n",
            "build/a": "x",
            "deep/run.log": "x",
            "deep/run.out": "x",
            "reports/day/r.txt": "x",
            "cache/.gitignore": "*\n",
            "cache/kept": "x",
            ":odd/n.out": "x",
            "m/__pycache__/m.pyc": "x",
        },
        run.path,
    )
    change = repo.capture(run)
    assert change.touched == (".gitignore", "m/__pycache__/m.pyc")
    assert change.hidden == (":odd/n.out", "cache/.gitignore", "cache/kept", "deep/run.out", "reports/")
    assert set(change.ignored) == {*change.hidden, "build/", "deep/run.log"}
    agree(world, run, change)


def test_a_directory_in_the_place_of_a_rule_file_does_not_cost_the_run(world, run):
    (run.path / ".gitignore").unlink()
    world.write({".gitignore/.gitignore": "*\n", ".gitignore/deep/kept": "x", "new.py": "x\n"}, run.path)
    change = repo.capture(run)
    assert "new.py" in change.touched and ".gitignore" in change.touched
    assert ".gitignore/.gitignore" in change.hidden


def test_the_agents_git_directory_has_no_say(world, run):
    own = run.path / ".git"
    (own / "info/exclude").write_text("*.py\n")
    (own / "config").write_text("[core]\n\tworktree = /\n\texcludesFile = /dev/zero\n\tfsmonitor = touch hacked\n")
    (own / "index.lock").write_text("")
    (own / "info/attributes").write_text("* text eol=crlf filter=evil\n")
    (run.path / "app.py").write_text("print(4)\n")
    (run.path / "new.py").write_text("x\n")
    change = repo.capture(run)
    assert change.touched == ("app.py", "new.py")
    agree(world, run, change)


def test_index_flags_hide_nothing(world, run):
    run_git(run.path, "update-index", "--assume-unchanged", "app.py")
    run_git(run.path, "update-index", "--skip-worktree", "docs/a.md")
    (run.path / "app.py").write_text("print(5)\n")
    (run.path / "docs/a.md").unlink()
    assert repo.capture(run).touched == ("app.py", "docs/a.md")


def test_a_change_of_equal_size_and_time_is_seen(run):
    file = run.path / "app.py"
    before = file.stat()
    file.write_text("print(9)\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert repo.capture(run).touched == ("app.py",)


@pytest.mark.parametrize("how", ["deleted", "a file", "a new one"])
def test_a_git_directory_the_agent_destroyed_hides_nothing(world, run, how):
    shutil.rmtree(run.path / ".git")
    if how == "a file":
        (run.path / ".git").write_text("gitdir: /nowhere\n")
    if how == "a new one":
        run_git(run.path, "init", "-q")
        run_git(run.path, "add", "-A")
        run_git(run.path, "commit", "-q", "-m", "root")
    (run.path / "app.py").write_text("print(6)\n")
    change = repo.capture(run)
    assert change.touched == ("app.py",)
    agree(world, run, change)


def test_nested_repositories_are_captured_as_files(world, run):
    for name in ("fresh", "committed/deep"):
        nested = run.path / name
        nested.mkdir(parents=True)
        run_git(nested, "init", "-q")
        world.write({"a.py": "a\n", "lib/b.py": "b\n", "x.log": "x", "own.tmp": "x", ".gitignore": "*.tmp\n"}, nested)
    run_git(nested, "add", "-A")
    run_git(nested, "commit", "-q", "-m", "inner")
    run_git(run.path / "docs", "init", "-q")
    (run.path / "docs/a.md").write_text("# b\n")
    change = repo.capture(run)
    inside = [f"{top}/{name}" for top in ("committed/deep", "fresh") for name in (".gitignore", "a.py", "lib/b.py")]
    assert change.touched == (*inside[:3], "docs/a.md", *inside[3:])
    assert change.ignored == tuple(
        f"{top}/{name}" for top in ("committed/deep", "fresh") for name in (".git", "own.tmp", "x.log")
    )
    agree(world, run, change)


def test_a_linked_worktree_inside_the_tree_is_captured_as_files(world, run):
    run_git(run.path, "worktree", "add", "-q", "copy", "HEAD")
    (run.path / "copy/app.py").write_text("print(7)\n")
    change = repo.capture(run)
    assert "copy/app.py" in change.touched
    assert "copy/.git" in change.ignored
    agree(world, run, change)

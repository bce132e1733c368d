"""Reconstitution is the tree that was left, or an error that names the run; and the functions validators use."""

import pytest
from repo_world import World, run_git, walk

from trysquare import repo
from trysquare.errors import RepoError
from trysquare.matrix import Blob


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("world"))
    made.commit({"app.py": "print(1)\n", "docs/a.md": "a\n", "data.bin": b"\0\1", ".gitignore": "*.log\n"})
    return made


@pytest.fixture
def ended(world):
    run = world.prepare(files={"probe.py": "1\n"}, setup=world.script("echo made > made.txt"), context="be kind")
    (run.path / "app.py").write_text("print(2)\n")
    (run.path / "docs/a.md").unlink()
    world.write({"new/b.bin": b"\0\2"}, run.path)
    return run, repo.capture(run)


def test_a_rebuilt_tree_is_the_base_commit_with_the_changes_in_the_files(world, ended):
    run, change = ended
    tree = world.rebuild(run, change)
    assert run_git(tree, "rev-parse", "HEAD") == run.base_commit
    assert run_git(tree, "status", "-s").splitlines() == ["M app.py", " D docs/a.md", "?? new/"]
    assert walk(tree) == walk(run.path, without=("AGENTS.md",))


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"tree": "0" * 40}, "run 4f2a ended with tree 0000.* and its patch gives"),
        ({"base_tree": "0" * 40}, "run 4f2a started from tree 0000"),
        ({"patch": b""}, "run 4f2a ended with tree"),
        (
            {"patch": b"diff --git a/app.py b/app.py\n--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-x\n+y\n"},
            "of run 4f2a does not apply",
        ),
        ({"patch": b"no patch at all\n"}, "the patch of run 4f2a does not apply"),
        ({"base": repo.Base("0" * 40)}, "run 4f2a cannot be rebuilt"),
    ],
)
def test_what_does_not_come_back_is_an_error_that_names_the_run(world, ended, other, words):
    with pytest.raises(RepoError, match=words):
        world.rebuild(*ended, **other)


def test_a_patch_cut_short_never_gives_a_shorter_tree(world, ended):
    run, change = ended
    for end in range(len(change.patch) - 1, 0, -97):
        with pytest.raises(RepoError, match="run 4f2a"):
            world.rebuild(run, change, patch=change.patch[:end])


def test_a_missing_patch_is_named(world, ended):
    run, change = ended
    with pytest.raises(RepoError, match="run 4f2a has no patch at"):
        repo.rebuild(
            world.source, world.workdir, world.bricks, run.base, world.root / "none", change.tree, run.base_tree,
            world.place(), "run 4f2a",
        )  # fmt: skip


def test_a_setup_that_does_something_else_the_second_time_is_named(world, tmp_path):
    for line, words in (
        ("date +%N > stamp.txt; echo $$ >> stamp.txt", "its setup does not make the same files every time"),
        (f"mkdir {tmp_path}/once", "run 4f2a cannot be rebuilt: setup exited 1; in the run it had succeeded"),
    ):
        run = world.prepare(setup=world.script(line))
        with pytest.raises(RepoError, match=words):
            world.rebuild(run, repo.capture(run))


def test_a_patch_never_writes_outside_the_tree(world, tmp_path):
    run = world.prepare()
    (run.path / "way").symlink_to(tmp_path)
    change = repo.capture(run)
    evil = (
        change.patch
        + b"diff --git a/way/x b/way/x\nnew file mode 100644\n--- /dev/null\n+++ b/way/x\n@@ -0,0 +1 @@\n+x\n"
    )
    for patch in (evil, evil.replace(b"way/x", b"../x")):
        with pytest.raises(RepoError, match="does not apply"):
            world.rebuild(run, change, patch=patch)
    assert list(tmp_path.iterdir()) == []


def test_changed_files_and_diff_compare_with_the_base_commit(world):
    run = world.prepare(context="be kind")
    (run.path / "app.py").rename(run.path / "b.py")
    world.write({"new/x.log": "x", "new/y.py": "y"}, run.path)
    run_git(run.path, "add", "-A")
    run_git(run.path, "commit", "-qm", "done")
    (run.path / "data.bin").write_bytes(b"\0\2")
    assert repo.changed_files(run.path) == ["data.bin"]
    assert repo.changed_files(run.path, run.base_commit) == ["app.py", "b.py", "data.bin", "new/y.py"]
    assert repo.diff(run.path, run.base_commit) == repo.capture(run).patch
    with pytest.raises(RepoError, match="v9 is no commit in"):
        repo.diff(run.path, "v9")


def test_a_diff_applies_to_a_fresh_clone(world, ended, tmp_path):
    run, change = ended
    fresh = world.prepare(files={"probe.py": "1\n"}, setup=world.script("echo made > made.txt")).path
    (tmp_path / "patch").write_bytes(change.patch)
    with pytest.raises(RepoError, match="the patch of run 4f2a does not apply"):
        repo.apply_diff(fresh, b"nonsense", what="run 4f2a")
    repo.apply_diff(fresh, tmp_path / "patch")
    assert walk(fresh) == walk(run.path, without=("AGENTS.md",))
    repo.apply_diff(fresh, b"")


def test_bricks_go_into_any_clone(world, tmp_path):
    clone = tmp_path / "clone"
    repo.clone(world.source, run_git(world.source, "rev-parse", "HEAD"), clone)
    world.write(
        {"agents/scout.md": "---\nname: Scout\n---\nLook.\n", "dig/SKILL.md": "dig\n", "probe.py": "1\n"}, tmp_path
    )
    prepared = repo.Prepared(clone, run_git(clone, "rev-parse", "HEAD"))
    repo.inject(
        prepared,
        context="be kind",
        agents=[tmp_path / "agents"],
        skills=[tmp_path / "dig"],
        files={"tests/probe.py": tmp_path / "probe.py"},
        agent_model="large-2",
    )
    assert prepared.injected == [".pi/agents/scout.md", ".pi/skills/dig/SKILL.md", "AGENTS.md"]
    assert prepared.given == ["tests/probe.py"]
    assert prepared.agents == {"Scout": {"model": "large-2", "source": "brick"}}
    assert repo.changed_files(clone) == []
    (clone / "tests/probe.py").unlink()
    assert repo.changed_files(clone) == ["tests/probe.py"] == list(repo.capture(prepared).touched)
    with pytest.raises(RepoError, match=r"'app\.py' is in the measured repository already"):
        repo.give(prepared, {"app.py": tmp_path / "probe.py"})


@pytest.mark.parametrize(
    ("text", "override", "model", "source"),
    [
        ("---\nname: a\nmodel: small-1\n---\nx", None, "small-1", "frontmatter"),
        ("---\nname: a\nmodel: 'small-1' # quick\n---\nx", None, "small-1", "frontmatter"),
        ("---\r\nname: a\r\nmodel: small-1\r\n---\r\nx", "large-2", "large-2", "brick"),
        ("---\nname: a\n---\nmodel: not this\n", None, None, None),
        ("---\nname: a\n---\nmodel: not this\n", "large-2", "large-2", "brick"),
        ("---\nname: a\nmodel:\n---\n", None, None, None),
        ("no frontmatter\n", "large-2", "large-2", "brick"),
    ],
)
def test_the_model_of_an_agent_comes_from_the_brick_or_its_frontmatter(tmp_path, text, override, model, source):
    path = tmp_path / "a.md"
    path.write_bytes(text.encode())
    settled = repo.agent_frontmatter(path, override)
    assert (settled["name"], settled["model"], settled["source"]) == ("a", model, source)


def test_base_needs_nothing_but_the_archive():
    base = repo.Base("a" * 40, False, Blob("0" * 24, True), {"x": Blob("1" * 24)}, {"AGENTS.md": Blob("2" * 24)}, "m")
    from trysquare.frozen import decode, encode

    assert decode(repo.Base, encode(base)) == base

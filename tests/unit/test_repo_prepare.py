"""The tree a run starts from: the etalon and nothing after it, setup, given files, plumbing; and making it again."""

import json
import os
import stat
import subprocess

import pytest
from repo_world import World, agree, objects, run_git, walk

from trysquare import repo
from trysquare.errors import RepoError
from trysquare.frozen import decode, encode

AGENT = "---\nname: scout\ndescription: looks around\nmodel: small-1\n---\nLook.\n"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("world"))
    made.commit({"secret.txt": "of the past\n", "app.py": "print(0)\n"})
    (made.source / "secret.txt").unlink()
    made.commit({"app.py": "print(1)\n", "docs/a.md": "a\n", ".gitignore": "*.log\nnode_modules/\n"}, tag="v1")
    made.commit({"app.py": "print('the solution')\n"}, tag="v2")
    return made


@pytest.fixture
def etalon(world):
    return repo.resolve_etalon(world.source, "v1")


def _blob(world, revision):
    return run_git(world.source, "rev-parse", revision)


def test_a_clone_is_the_etalon_detached_without_remotes_or_references(world, etalon):
    run = world.prepare(commit=etalon)
    assert run.base_commit == run.etalon == etalon
    assert walk(run.path) == {
        "app.py": ("file", b"print(1)\n"),
        "docs/a.md": ("file", b"a\n"),
        ".gitignore": ("file", b"*.log\nnode_modules/\n"),
    }
    assert run_git(run.path, "rev-parse", "HEAD") == etalon
    assert (run.path / ".git/HEAD").read_text() == f"{etalon}\n"
    assert run_git(run.path, "for-each-ref") == run_git(run.path, "remote") == run_git(run.path, "status", "-s") == ""


@pytest.mark.parametrize("history", [True, False])
@pytest.mark.parametrize("setup", [True, False])
def test_a_clone_holds_no_object_after_the_etalon(world, etalon, history, setup):
    script = world.script("echo made > made.txt") if setup else None
    run = world.prepare(commit=etalon, history=history, setup=script)
    held = objects(run.path / ".git")
    assert _blob(world, "v2:app.py") not in held
    assert _blob(world, "v2^{commit}") not in held
    assert _blob(world, "v1:app.py") in held
    assert objects(next(world.workdir.glob(f"stores/{etalon}"))) == set(
        run_git(world.source, "rev-list", "--objects", "--no-object-names", "v1").split()
    )


@pytest.mark.parametrize("setup", [True, False])
def test_without_history_a_clone_is_one_commit_and_holds_nothing_of_the_past(world, etalon, setup):
    script = world.script("git log --format=%H > seen.txt") if setup else None
    run = world.prepare(commit=etalon, history=False, setup=script)
    assert run_git(run.path, "rev-list", "HEAD") == run.base_commit
    held = objects(run.path / ".git")
    for past in ("v1^{commit}", "v1~1^{commit}", "v1~1:secret.txt", "v1~1^{tree}"):
        assert _blob(world, past) not in held
    assert held == set(run_git(run.path, "rev-list", "--objects", "--no-object-names", "HEAD").split())
    assert run_git(run.path, "status", "-s") == ""
    assert run_git(run.path, "rev-parse", "HEAD^{tree}") == run.base_tree
    if setup:
        assert etalon in (run.path / "seen.txt").read_text()
    else:
        assert run.base_tree == _blob(world, "v1^{tree}")


def test_the_base_commit_is_the_same_every_time(world, etalon, monkeypatch):
    parts = {
        "setup": world.script("echo made > made.txt", "echo $RANDOM_THING > x.log"),
        "files": {"probe.py": "assert 1\n"},
        "context": "be kind",
    }
    for history in (True, False):
        first = world.prepare(commit=etalon, history=history, **parts)
        monkeypatch.setenv("GIT_AUTHOR_NAME", "somebody else")
        monkeypatch.setenv("GIT_COMMITTER_DATE", "1234567890 +0200")
        monkeypatch.setenv("TZ", "Asia/Tokyo")
        second = world.prepare(commit=etalon, history=history, **parts)
        assert (first.base_commit, first.base_tree) == (second.base_commit, second.base_tree)


def test_setup_files_and_plumbing_are_laid_in_this_order(world, etalon):
    setup = world.script("test ! -e probe.py", "test ! -e AGENTS.md", "echo made > made.txt", "chmod +x app.py")
    run = world.prepare(commit=etalon, setup=setup, files={"probe.py": "assert 1\n"}, context="be kind")
    log = run_git(run.path, "log", "--format=%an|%ae|%at|%s", "--name-only", "-2").split("\n\n")
    assert [part.splitlines() for part in "\n".join(log).split("trysquare|")[1:]] == [
        ["trysquare@localhost|946684800|Files of the task", "probe.py"],
        ["trysquare@localhost|946684800|Set up the tree", "app.py", "made.txt"],
    ]
    assert run.given == ["probe.py"]
    assert run.injected == ["AGENTS.md"]
    change = repo.capture(run)
    assert (change.touched, change.tree) == ((), run.base_tree)


def test_a_setup_that_fails_says_how_and_is_no_tree(world, etalon):
    with pytest.raises(repo.SetupFailed) as caught:
        world.prepare(commit=etalon, setup=world.script("echo no network >&2", "exit 7"))
    assert str(caught.value) == "setup exited 7"
    assert caught.value.status == 7
    assert caught.value.output == "no network\n"


def test_a_setup_that_cannot_start_is_refused(world, etalon):
    with pytest.raises(RepoError, match=r"setup cannot be started .*#! line"):
        world.prepare(commit=etalon, setup=world.brick("echo no interpreter line\n"))


def test_a_setup_may_use_and_abuse_git(world, etalon):
    setup = world.script(
        "git config core.hooksPath hooks", "mkdir hooks", "printf '#!/bin/sh\\nexit 1\\n' > hooks/pre-commit",
        "chmod +x hooks/pre-commit", "git checkout -q -b mine", "echo 1 > one.txt", "git add -A",
        "git -c core.hooksPath=/dev/null commit -qm mine", "mkdir vendor", "git init -q vendor", "echo v > vendor/v.py",
        "rm -rf .git/objects", "echo locked > .git/index.lock",
    )  # fmt: skip
    run = world.prepare(commit=etalon, setup=setup)
    assert run_git(run.path, "show", "HEAD:vendor/v.py") == "v"
    assert run_git(run.path, "rev-list", "--count", f"{etalon}..HEAD") == "1"
    (run.path / "vendor/v.py").write_text("w\n")
    change = repo.capture(run)
    assert (change.touched, change.ignored) == (("vendor/v.py",), ())
    agree(world, run, change)


def test_a_setup_may_take_the_git_directory_away(world, etalon):
    run = world.prepare(commit=etalon, setup=world.script("rm -rf .git", "echo 1 > one.txt"))
    assert run_git(run.path, "status", "-s") == ""
    assert run_git(run.path, "rev-parse", "HEAD^") == etalon


def test_what_a_setup_left_ignored_is_not_the_agents(world, etalon):
    setup = world.script("mkdir -p node_modules/dep", "echo 1 > node_modules/dep/index.js", "echo 1 > setup.log")
    run = world.prepare(commit=etalon, setup=setup)
    assert repo.capture(run).ignored == ()
    world.write({"node_modules/dep/extra.js": "1", "node_modules/other/index.js": "1", "agent.log": "1"}, run.path)
    change = repo.capture(run)
    assert change.ignored == ("agent.log", "node_modules/dep/extra.js", "node_modules/other/")
    assert change.touched == ()


def test_given_files_are_committed_even_when_ignored_and_tampering_shows(world, etalon):
    given = {"probes/check.py": "assert 1\n", "probes/other.py": "assert 2\n", "kept.log": "1\n"}
    run = world.prepare(commit=etalon, files=given)
    assert run.given == ["kept.log", "probes/check.py", "probes/other.py"]
    (run.path / "probes/check.py").write_text("assert True\n")
    (run.path / "kept.log").unlink()
    change = repo.capture(run)
    assert change.touched == ("kept.log", "probes/check.py")
    rebuilt = agree(world, run, change)
    assert (rebuilt / "probes/other.py").read_text() == "assert 2\n"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("app.py", "is in the measured repository already"),
        ("docs", "is in the measured repository already"),
        ("app.py/x", "app.py is a file there"),
        ("/tmp/x", "does not stay inside"),
        ("../x", "does not stay inside"),
        ("docs/../../x", "does not stay inside"),
        ("docs//x", "does not stay inside"),
        (".git/hooks/post-checkout", "belongs to git"),
        ("docs/.Git/x", "belongs to git"),
    ],
)
def test_a_given_file_that_replaces_or_escapes_is_refused(world, etalon, path, words):
    with pytest.raises(RepoError, match=words):
        world.prepare(commit=etalon, files={path: "x"})


def test_a_given_file_never_goes_through_a_link(tmp_path):
    world = World(tmp_path / "world")
    outside = tmp_path / "outside"
    outside.mkdir()
    (world.source / "way").symlink_to(outside)
    (world.source / "CLAUDE.md").write_text("rules\n")
    (world.source / ".pi").symlink_to(outside)
    world.commit()
    for parts in ({"files": {"way/x.py": "x"}}, {"system": "be brief"}):
        with pytest.raises(RepoError, match="is a symbolic link there"):
            world.prepare(**parts)
    assert list(outside.iterdir()) == []


def test_plumbing_is_hidden_from_git_and_from_the_record(world, etalon):
    run = world.prepare(
        commit=etalon,
        context="be kind\n",
        system="be brief\n",
        agents={"scout.md": AGENT},
        skills={"dig/SKILL.md": "dig\n", "dig/a [b]*.md ": "x"},
    )
    assert run.injected == [
        ".pi/SYSTEM.md", ".pi/agents/scout.md", ".pi/skills/dig/SKILL.md", ".pi/skills/dig/a [b]*.md ", "AGENTS.md",
    ]  # fmt: skip
    assert run.agents == {"scout": {"model": "small-1", "source": "frontmatter"}}
    assert json.loads(json.dumps(run.agents)) == run.agents
    assert run_git(run.path, "status", "-s") == ""
    assert (run.base_commit, run.base.replaced) == (etalon, {})
    (run.path / "AGENTS.md").write_text("be unkind\n")
    (run.path / ".pi/agents/scout.md").unlink()
    (run.path / ".pi/agents/mine.md").write_text(AGENT)
    (run.path / ".gitignore").write_text("!AGENTS.md\n")
    change = repo.capture(run)
    assert change.touched == (".gitignore", ".pi/agents/mine.md")
    assert change.ignored == ()
    assert "AGENTS.md" not in walk(agree(world, run, change))


def test_plumbing_in_a_directory_the_repository_ignores_is_not_the_agents(tmp_path):
    world = World(tmp_path)
    world.commit({"a.py": "1\n", ".gitignore": ".pi/\n*.md\n"})
    run = world.prepare(context="be kind", system="be brief")
    assert repo.capture(run).ignored == ()
    world.write({".pi/notes/x.txt": "x", ".pi/own.txt": "x"}, run.path)
    assert repo.capture(run).ignored == (".pi/notes/", ".pi/own.txt")


def test_plumbing_over_tracked_files_becomes_part_of_the_base(tmp_path):
    world = World(tmp_path)
    world.commit(
        {"CLAUDE.md": "its own\n", ".pi/agents/scout.md": "---\nname: theirs\n---\n", ".pi/SYSTEM.md": "old\n"}
    )
    (world.source / "AGENTS.md").symlink_to("CLAUDE.md")
    etalon = world.commit()
    run = world.prepare(context="be kind\n", system="new\n", agents={"scout.md": AGENT}, agent_model="large-2")
    assert (run.path / "CLAUDE.md").read_text() == "its own\n"
    assert not (run.path / "AGENTS.md").is_symlink()
    assert set(run.base.replaced) == {"AGENTS.md", ".pi/agents/scout.md", ".pi/SYSTEM.md"}
    assert run.base_commit != etalon
    assert run.agents == {"scout": {"model": "large-2", "source": "brick"}}
    assert run_git(run.path, "status", "-s") == ""
    assert repo.capture(run).touched == ()
    (run.path / "AGENTS.md").write_text("be unkind\n")
    change = repo.capture(run)
    assert change.touched == ("AGENTS.md",)
    rebuilt = agree(world, run, change)
    assert "model: large-2" in (rebuilt / ".pi/agents/scout.md").read_text()
    assert decode(repo.Base, json.loads(json.dumps(encode(run.base)))) == run.base


def test_a_path_that_is_given_and_injected_is_refused(world, etalon):
    with pytest.raises(RepoError, match=r"'AGENTS.md' is given to the task and injected for the agent"):
        world.prepare(commit=etalon, files={"AGENTS.md": "x"}, context="y")


def test_an_agent_without_a_model_is_refused_before_anything_is_made(world, etalon):
    with pytest.raises(RepoError, match="scout: an injected agent never inherits its model"):
        world.prepare(commit=etalon, agents={"scout.md": "---\nname: scout\n---\nLook.\n"})


def test_a_brick_that_is_missing_or_changed_is_refused(tmp_path):
    world = World(tmp_path)
    etalon = world.commit({"a.py": "1\n"})
    cell = world.cell(context="be kind")
    for problem, words in (("changed", "was changed after it was frozen"), (None, "is missing")):
        path = world.bricks / cell.context
        path.unlink() if problem is None else path.write_text(problem)
        with pytest.raises(RepoError, match=words):
            repo.prepare(world.source, world.workdir, world.bricks, cell, etalon, tmp_path / "run")


def test_an_agent_can_commit_in_its_clone_and_never_as_the_operator(world, etalon, tmp_path):
    run = world.prepare(commit=etalon)
    (run.path / "app.py").write_text("2\n")
    bare = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    subprocess.run(["git", "commit", "-qam", "x"], cwd=run.path, env=bare, check=True)
    assert run_git(run.path, "log", "-1", "--format=%an %ae") == "agent agent@localhost"


def test_an_agent_that_writes_over_its_objects_hurts_nobody_else(world, etalon):
    first = world.prepare(commit=etalon)
    for item in (first.path / ".git/objects").rglob("*"):
        if item.is_file():
            item.chmod(stat.S_IRUSR | stat.S_IWUSR)
            item.write_bytes(b"ruined")
    (first.path / "app.py").write_text("2\n")
    agree(world, first, repo.capture(first))

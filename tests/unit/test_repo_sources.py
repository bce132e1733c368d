"""Etalons, stores, clones and pinned sources, from every kind of source, by any number of processes at once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from repo_world import World, objects, run_git, walk

from trysquare import repo
from trysquare.errors import RepoError


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("world"))
    made.commit({"a.py": "0\n"}, tag="v0")
    made.commit({"a.py": "1\n", "naïve/ü.txt": b"\xff\r\n"}, tag="v1.0", annotated=True)
    run_git(made.source, "tag", "-a", "-m", "a tag of a tag", "nested", "v1.0")
    run_git(made.source, "tag", "a-tree", "v1.0^{tree}")
    made.commit({"a.py": "2\n"}, tag="v2.0")
    return made


@pytest.fixture(scope="module")
def commit(world):
    return run_git(world.source, "rev-parse", "v1.0^{commit}")


@pytest.mark.parametrize("etalon", ["v1.0", "nested", "commit"])
def test_a_tag_or_a_full_commit_gives_the_peeled_commit(world, commit, etalon):
    assert repo.resolve_etalon(world.source, commit if etalon == "commit" else etalon) == commit
    assert repo.commit_of(world.source, "v1.0") == commit


def test_an_etalon_that_pins_nothing_is_refused_with_what_to_write(world, commit):
    branch = run_git(world.source, "rev-parse", "main")
    for etalon, words in {
        "v1.O": "is not a tag of .*: did you mean 'v1.0'?",
        "main": f"only a tag or a full commit pins it; tag it, or write {branch}",
        commit[:8]: f"write {commit}",
        "something else": "it has the tags a-tree, nested, v0, v1.0, v2.0; write a tag",
        "v2.0~1": "is not a tag",
        "v1.0^{tree}": "is not a tag",
        "refs/tags/v1.0": "is not a tag",
        "-v1.0": "is not a tag",
        "": "is not a tag",
        "v\0": "cannot hold a NUL",
        commit.upper(): "is not a tag",
        "a-tree": "tag 'a-tree' is no commit",
        "0" * 40: "commit 0000000.* is no commit in",
    }.items():
        with pytest.raises(RepoError, match=words):
            repo.resolve_etalon(world.source, etalon)


def test_a_directory_that_is_no_repository_is_refused_even_inside_one(world, tmp_path):
    inside = world.source / "naïve"
    for source, words in ((inside, "not the top of a git repository"), (tmp_path / "none", "is not a directory")):
        with pytest.raises(RepoError, match=words):
            repo.resolve_etalon(source, "v1.0")


def test_files_of_the_etalon_are_read_without_a_checkout(world, commit):
    assert repo.etalon_files(world.source, "v1.0") == ["a.py", "naïve/ü.txt"]
    assert repo.etalon_file(world.source, commit, "a.py") == "1\n"
    assert repo.etalon_file(world.source, "v1.0", "naïve/ü.txt").encode("utf-8", "surrogateescape") == b"\xff\r\n"
    with pytest.raises(RepoError, match=r"b\.py is not a file at v1\.0"):
        repo.etalon_file(world.source, "v1.0", "b.py")


@pytest.fixture(params=["directory", "bare", "worktree", "packed", "foreign"])
def source(request, world, tmp_path):
    place = tmp_path / "place of source"
    if request.param == "directory":
        return world.source
    if request.param == "worktree":
        run_git(world.source, "worktree", "add", "-q", "--detach", place, "v0")
        return place
    run_git(tmp_path, "clone", "-q", *(["--bare"] if request.param == "bare" else []), world.source, place)
    if request.param == "packed":
        run_git(place, "gc", "-q")
    if request.param == "foreign" and os.geteuid() == 0:
        for item in [place, *place.rglob("*")]:
            os.chown(item, 65534, 65534)
    return place


def test_every_kind_of_local_source_gives_the_same_tree(world, source, commit, tmp_path):
    assert repo.resolve_etalon(source, "v1.0") == commit
    shutil.rmtree(world.workdir, ignore_errors=True)
    run = world.prepare(commit=commit, source=source)
    assert walk(run.path) == {"a.py": ("file", b"1\n"), "naïve/ü.txt": ("file", b"\xff\r\n")}
    repo.clone(source, "v1.0", tmp_path / "clone")
    assert walk(tmp_path / "clone") == walk(run.path)


def test_a_commit_no_reference_reaches_is_measured(tmp_path):
    world = World(tmp_path)
    world.commit({"a.py": "1\n"})
    lost = world.commit({"a.py": "2\n"})
    run_git(world.source, "reset", "-q", "--hard", "HEAD~1")
    assert repo.resolve_etalon(world.source, lost) == lost
    assert (world.prepare(commit=lost).path / "a.py").read_text() == "2\n"


def test_a_tag_that_moved_never_meets_an_older_store(tmp_path):
    world = World(tmp_path)
    world.commit({"a.py": "1\n"}, tag="v1")
    first = world.prepare(commit=repo.resolve_etalon(world.source, "v1"))
    world.commit({"a.py": "2\n"})
    run_git(world.source, "tag", "-f", "v1")
    second = world.prepare(commit=repo.resolve_etalon(world.source, "v1"))
    assert [(run.path / "a.py").read_text() for run in (first, second)] == ["1\n", "2\n"]


def test_replacements_and_grafts_of_the_source_do_not_change_what_is_measured(tmp_path):
    world = World(tmp_path)
    first = world.commit({"a.py": "1\n"}, tag="v1")
    second = world.commit({"a.py": "2\n"})
    run_git(world.source, "replace", first, second)
    assert repo.resolve_etalon(world.source, "v1") == first
    assert (world.prepare(commit=first).path / "a.py").read_text() == "1\n"


@pytest.mark.parametrize("damage", ["no marker", "half a marker", "no pack", "half a pack"])
def test_a_store_that_is_half_there_is_made_again(tmp_path, damage):
    world = World(tmp_path)
    commit = world.commit({"a.py": "1\n"})
    path = repo.store(world.source, commit, world.workdir)
    before = objects(path)
    [pack] = path.glob("objects/pack/*.pack")
    marker = path / "store.json"
    pack.chmod(0o644)
    if damage == "no marker":
        marker.unlink()
    elif damage == "half a marker":
        marker.write_bytes(marker.read_bytes()[:20])
    elif damage == "no pack":
        pack.unlink()
    else:
        pack.write_bytes(pack.read_bytes()[:20])
    assert repo.store(world.source, commit, world.workdir) == path
    assert objects(path) == before
    assert [item.name for item in path.parent.iterdir() if not item.name.endswith(".lock")] == [commit]


def _together(code, *args):
    """Run one piece of Python in six processes that start at the same moment; their outputs."""
    code = f"import sys\nfrom pathlib import Path\nfrom trysquare import repo\nsys.stdin.read()\n{code}"
    gate, opener = os.pipe()
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, *map(str, args)],
            stdin=gate, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(6)
    ]  # fmt: skip
    os.close(gate)
    os.close(opener)
    outputs = []
    for process in running:
        out, err = process.communicate()
        assert process.returncode == 0, err
        outputs.append(out)
    return outputs


@pytest.mark.parametrize("damaged", [False, True])
def test_processes_that_need_one_store_at_once_end_up_with_one(world, commit, tmp_path, damaged):
    if damaged:
        (repo.store(world.source, commit, tmp_path) / "store.json").write_text("{}")
    code = """
path = repo.store(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
print(sorted(item.name for item in (path / "objects/pack").iterdir()), repo.git(f"--git-dir={path}", "fsck"))
"""
    outputs = _together(code, world.source, commit, tmp_path)
    assert len(set(outputs)) == 1
    assert [item.name for item in (tmp_path / "stores").iterdir() if not item.name.endswith(".lock")] == [commit]


def test_without_locks_the_rename_decides(world, commit, tmp_path):
    code = """
import fcntl
def none(*args): raise OSError("no locks here")
fcntl.flock = none
print(repo.store(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])))
"""
    assert len(set(_together(code, world.source, commit, tmp_path))) == 1
    assert [item.name for item in (tmp_path / "stores").iterdir() if not item.name.endswith(".lock")] == [commit]


def test_a_shallow_source_measures_without_history_and_rebuilds_with_it(world, commit, tmp_path):
    shallow = tmp_path / "shallow"
    run_git(tmp_path, "clone", "-q", "--depth=1", "--branch=v1.0", f"file://{world.source}", shallow)
    other = World(tmp_path / "other")
    with pytest.raises(
        RepoError, match=r"shallow clone, .*: run `git fetch --unshallow` in it, or write history = false"
    ):
        other.prepare(commit=commit, source=shallow)
    assert other.prepare(commit=commit, source=shallow, history=False).base_commit != commit
    run = world.prepare(commit=commit)
    (run.path / "a.py").write_text("5\n")
    other.source = shallow
    assert walk(other.rebuild(run, repo.capture(run))) == walk(run.path)


def test_a_url_is_pinned_once_as_a_working_tree_with_its_tag(world, commit, tmp_path):
    url, target = f"file://{world.source}", tmp_path / "pinned"
    assert repo.pin(url, "v1.0", target) == target
    assert walk(target) == {"a.py": ("file", b"1\n"), "naïve/ü.txt": ("file", b"\xff\r\n")}
    assert repo.resolve_etalon(target, "v1.0") == commit
    assert run_git(target, "remote") == run_git(target, "status", "-s") == ""
    seen = (target / "a.py").stat().st_ino
    assert (repo.pin(url, "v1.0", target) / "a.py").stat().st_ino == seen
    (target / ".git/pinned.json").unlink()
    assert (repo.pin(url, "v1.0", target) / "a.py").stat().st_ino != seen
    assert (repo.pin(url, "v2.0", target) / "a.py").read_text() == "2\n"


def test_a_commit_is_pinned_even_when_no_branch_reaches_it(tmp_path):
    world = World(tmp_path / "world")
    world.commit({"a.py": "1\n"})
    lost = world.commit({"a.py": "2\n"})
    run_git(world.source, "reset", "-q", "--hard", "HEAD~1")
    target = repo.pin(f"file://{world.source}", lost, tmp_path / "pinned")
    assert (target / "a.py").read_text() == "2\n"
    assert repo.resolve_etalon(target, lost) == lost


def test_processes_that_pin_at_once_end_up_with_one_clone(world, tmp_path):
    code = "print(repo.resolve_etalon(repo.pin(sys.argv[1], 'v1.0', Path(sys.argv[2])), 'v1.0'))"
    assert len(set(_together(code, f"file://{world.source}", tmp_path / "sources/pinned"))) == 1
    assert [item.name for item in (tmp_path / "sources").iterdir() if not item.name.endswith(".lock")] == ["pinned"]


@pytest.mark.parametrize(
    ("etalon", "words"),
    [
        ("v1.O", "etalon 'v1.O' is not a tag of .*: did you mean 'v1.0'?"),
        ("main", "'main' is a branch of .*, and a branch moves: tag it"),
        ("0" * 40, "does not hold commit 0000"),
    ],
)
def test_a_url_without_the_etalon_leaves_nothing_behind(world, tmp_path, etalon, words):
    target = tmp_path / "sources/pinned"
    with pytest.raises(RepoError, match=words):
        repo.pin(f"file://{world.source}", etalon, target)
    assert not target.exists()
    assert [item.name for item in target.parent.iterdir()] == [".pinned.lock"]


def test_a_url_that_does_not_answer_is_refused_without_its_password(tmp_path):
    url = "https://somebody:secret@localhost:1/nothing.git"
    with pytest.raises(RepoError, match=r"https://localhost:1/nothing.git cannot be cloned") as caught:
        repo.pin(url, "v1", tmp_path / "pinned")
    assert "secret" not in str(caught.value)


def test_the_marker_of_a_pinned_source_keeps_no_password(world, tmp_path, monkeypatch):
    config = tmp_path / "gitconfig"
    config.write_text(f'[url "file://{world.source}"]\n\tinsteadOf = https://somebody:secret@example.org/x\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("HOME", str(tmp_path))
    config.rename(tmp_path / ".gitconfig")
    target = repo.pin("https://somebody:secret@example.org/x", "v1.0", tmp_path / "pinned")
    kept = [path for path in (target / ".git").rglob("*") if path.is_file() and b"secret" in path.read_bytes()]
    assert kept == []


def test_the_flags_of_a_clone_pin_it(tmp_path):
    tag = repo.clone_argv("https://example.org/x", "v1", tmp_path)
    assert {"--single-branch", "--branch=v1", "--no-tags"} < set(tag)
    assert "--no-tags" not in repo.clone_argv("https://example.org/x", "v1", tmp_path, keep_tags=True)
    whole = repo.clone_argv("https://example.org/x", "a" * 40, tmp_path)
    assert not {"--single-branch", "--no-tags"} & set(whole)
    assert whole[-2:] == ["https://example.org/x", str(tmp_path)]


def test_only_forty_lower_case_digits_are_a_commit():
    assert repo.is_commit("a1" * 20)
    assert not any(map(repo.is_commit, ["a1" * 19, "A1" * 20, "a1" * 20 + "\n", "g1" * 20, ""]))


def test_git_that_takes_too_long_or_fails_says_so_in_one_sentence(tmp_path):
    with pytest.raises(RepoError, match=r"git rev-parse failed in .*: fatal: not a git repository"):
        repo.git("rev-parse", "HEAD", cwd=tmp_path)
    with pytest.raises(RepoError, match="git hash-object took longer than 0 s"):
        os.mkfifo(tmp_path / "never")
        repo.git("hash-object", tmp_path / "never", timeout=0.2)
    with pytest.raises(RepoError, match="is not there: git cannot run in it"):
        repo.git("status", cwd=Path("/nowhere/at/all"))

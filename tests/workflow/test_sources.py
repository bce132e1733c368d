"""Where measured code may come from, through the whole workflow: real git, over real transports, on this machine."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.workflow.conftest import Bench, git
from trysquare.errors import RepoError
from trysquare.repo import pin, resolve_etalon

pytestmark = pytest.mark.workflow


@pytest.fixture
def upstream(bench: Bench, counter_repository: Path) -> Path:
    """A repository of one's own that may be changed, bare, with an annotated tag beside the plain one."""
    place = bench.root.parent / "served" / "counter.git"
    place.parent.mkdir()
    git(place.parent, "clone", "-q", "--bare", str(counter_repository), str(place))
    git(place, "tag", "-a", "-m", "annotated", "v1-annotated", "v1")
    return place


@pytest.fixture
def daemon(upstream: Path) -> Iterator[str]:
    """The address of the repository as git's own server gives it on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = ["git", "daemon", "--export-all", "--reuseaddr", "--listen=127.0.0.1", f"--port={port}", "--verbose"]
    command += [f"--base-path={upstream.parent}", str(upstream.parent)]
    served = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        ready = next((line for line in served.stderr if "Ready to rumble" in line), None)
        assert ready, "git daemon did not start"
        yield f"git://127.0.0.1:{port}/counter.git"
    finally:
        os.killpg(served.pid, signal.SIGTERM)
        served.stderr.close()
        served.wait()


def address(bench: Bench, place: str) -> None:
    bench.write("trysquare.toml", f'[repos]\ncounter = "{place}"\n\n[defaults]\nworkdir = "../work"\n')


def once(bench: Bench) -> Bench:
    bench.edit("scenario.toml", "repetitions = 2", "repetitions = 1")
    return replace(bench, repetitions=1)


def commits(bench: Bench) -> set[str]:
    return {json.loads((each.parent / "configuration.json").read_text())["etalon_commit"] for each in bench.records}


def move(upstream: Path, tag: str = "v1") -> str:
    """Let a tag name another commit; returns it."""
    tree = git(upstream, "rev-parse", "v1^{tree}")
    commit = git(upstream, "commit-tree", "-p", "v1^{commit}", "-m", "More", tree)
    git(upstream, "tag", "--force", tag, commit)
    return commit


def test_a_repository_behind_gits_own_server_is_pinned_once_and_measured(bench, upstream, daemon):
    address(bench, daemon)
    bench = once(bench)
    assert f"pinned from {daemon} at launch; it answers and holds v1" in bench.snakemake("run", "-n")
    bench.snakemake("run")
    assert commits(bench) == {git(upstream, "rev-parse", "v1^{commit}")}
    [pinned] = [each for each in (bench.root.parent / "work/sources").iterdir() if not each.name.startswith(".")]
    assert (pinned / "counter.py").is_file()
    # What is pinned is read from the pin, so that a tag moved upstream changes nothing here.
    move(upstream)
    assert "jobs:" not in bench.snakemake("run")


@pytest.mark.parametrize("etalon", ["v1-annotated", "commit"])
@pytest.mark.parametrize("transport", ["bare", "worktree", "file", "daemon"])
def test_every_transport_gives_the_peeled_commit_of_a_tag_or_a_commit(upstream, daemon, tmp_path, transport, etalon):
    commit = git(upstream, "rev-parse", "v1^{commit}")
    source: Path | str = upstream
    if transport == "worktree":
        source = tmp_path / "tree"
        git(upstream, "worktree", "add", "-q", "--detach", str(source), "v1")
    elif transport != "bare":
        url = daemon if transport == "daemon" else f"file://{upstream}"
        source = pin(url, commit if etalon == "commit" else etalon, tmp_path / "pinned")
        assert (source / "counter.py").is_file()
    assert resolve_etalon(Path(source), commit if etalon == "commit" else etalon) == commit


def test_a_worktree_is_measured_and_left_as_it_is(bench, upstream):
    tree = bench.root.parent / "a tree"
    git(upstream, "worktree", "add", "-q", "--detach", str(tree), "v1")
    before = git(tree, "status", "--porcelain"), git(tree, "rev-parse", "HEAD"), git(upstream, "for-each-ref")
    address(bench, str(tree))
    bench.edit("scenario.toml", '"v1"', '"v1-annotated"')
    bench = once(bench)
    bench.snakemake("run")
    assert commits(bench) == {git(upstream, "rev-parse", "v1^{commit}")}
    assert before == (git(tree, "status", "--porcelain"), git(tree, "rev-parse", "HEAD"), git(upstream, "for-each-ref"))


def test_a_tag_that_moved_after_runs_were_measured_is_refused_by_name(bench, upstream):
    address(bench, str(upstream))
    bench = once(bench)
    bench.snakemake("run")
    requests, commit = bench.requests, move(upstream)
    output = bench.snakemake("run", code=1)
    assert "the tag was moved" in output and commit[:12] in output and "put it back" in output
    assert bench.requests == requests


def test_a_matrix_whose_runs_saw_two_commits_says_so_and_publishes_nothing(bench, upstream):
    address(bench, str(upstream))
    bench = once(bench)
    bench.snakemake("run")
    assert (bench.matrix / "synthesis.html").exists()
    other = bench.records[0].parent / "configuration.json"
    text = other.read_text()
    commit = git(upstream, "rev-parse", "v1^{commit}")
    other.write_text(text.replace(commit, "f" * 40))
    output = bench.snakemake("render", code=1)
    assert "its runs saw 2 commits under the etalon 'v1'" in output
    assert commit[:12] in output and "ffffffffffff in 1 run" in output and "discard" in output
    assert not (bench.matrix / "synthesis.html").exists()
    assert "saw 2 commits" in (bench.matrix / "synthesis.md").read_text()


def test_an_address_that_does_not_answer_is_refused_before_any_directory_is_made(bench):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    address(bench, f"git://127.0.0.1:{port}/counter.git")
    output = bench.snakemake("run", code=1)
    assert f"git://127.0.0.1:{port}/counter.git cannot be cloned" in output
    assert not (bench.root / "results").exists()
    assert list((bench.root.parent / "work/sources").glob("[!.]*")) == []


def test_processes_that_pin_one_address_at_once_end_up_with_one_clone(upstream, daemon, tmp_path):
    code = "import sys; from pathlib import Path; from trysquare import repo; sys.stdin.read(); "
    code += "print(repo.resolve_etalon(repo.pin(sys.argv[1], 'v1', Path(sys.argv[2])), 'v1'))"
    command = [sys.executable, "-c", code, daemon, str(tmp_path / "sources" / "pinned")]
    pinning = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for each in pinning:
        each.stdin.close()
        each.stdin = None
    answers = [each.communicate() for each in pinning]
    assert {out.strip() for out, _ in answers} == {git(upstream, "rev-parse", "v1^{commit}")}, answers
    assert [each.name for each in (tmp_path / "sources").iterdir() if not each.name.startswith(".")] == ["pinned"]


def test_a_tag_that_is_not_there_is_said_with_the_nearest(daemon, tmp_path):
    with pytest.raises(RepoError, match=r"etalon 'v1-anotated' is not a tag of .*: did you mean 'v1-annotated'\?"):
        pin(daemon, "v1-anotated", tmp_path / "pinned")

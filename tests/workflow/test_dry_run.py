"""A dry run, and the status of a matrix, write nothing at all; the engine's own directory aside."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.workflow.conftest import git

pytestmark = pytest.mark.workflow

URL = """
[repos]
counter = "file://{repository}"

[harness]
kit = "file://{kit}"

[defaults]
workdir = "{work}"
"""


def everything(root: Path) -> dict[str, tuple[int, str]]:
    """Every name below a directory with its mode and, of a file, its time and a digest."""
    found = {}
    for path in sorted(root.rglob("*")):
        if ".snakemake" in path.relative_to(root).parts:
            continue
        status = path.lstat()
        data = f"{status.st_mtime_ns} {hashlib.sha256(path.read_bytes()).hexdigest()}" if path.is_file() else ""
        found[str(path.relative_to(root))] = (status.st_mode, data)
    return found


@pytest.fixture
def untouched(bench):
    """Run something and see that nothing below the experiment's place has changed."""

    def run(*arguments, code=0):
        before = everything(bench.root.parent)
        output = bench.snakemake(*arguments, code=code)
        assert everything(bench.root.parent) == before
        return output

    return run


def test_before_anything_was_measured(bench, untouched):
    assert "2 cells x 2 repetitions = 4 runs: 4 to perform" in untouched("run", "-n")
    untouched("status")
    untouched("render", "-n", code=1)


def test_where_repository_and_bricks_are_elsewhere(bench, untouched, counter_repository):
    kit = bench.root.parent / "kit"
    kit.mkdir()
    (kit / "index.ts").write_text("export default function () {}\n")
    git(kit, "init", "-q", "-b", "main")
    git(kit, "add", "-A")
    git(kit, "commit", "-q", "-m", "kit")
    git(kit, "tag", "k1")
    places = {"repository": counter_repository, "kit": kit, "work": bench.root.parent / "work"}
    bench.write("trysquare.toml", URL.format(**places))
    bench.edit("scenario.toml", 'context = "rule.md"', 'harness = ["kit"]')
    bench.edit(
        "scenario.toml", "[[validation]]", '[harness.kit]\nrepo = "kit"\ntag = "k1"\nload = "x.ts"\n\n[[validation]]'
    )
    assert "answers and holds v1" in untouched("run", "-n")
    shutil.move(kit, kit.with_name("gone"))
    bench.edit("trysquare.toml", str(counter_repository), f"{counter_repository}-gone")
    assert "does not answer" in untouched("run", "-n")


def test_of_a_matrix_that_is_complete_incomplete_or_changed(bench, untouched):
    bench.snakemake("run")
    assert "jobs:" not in untouched("run", "-n")
    bench.edit("scenario.toml", 'title = "Counter"', 'title = "Counters"')
    bench.edit("validator.py", "from trysquare", "# edited\nfrom trysquare")
    assert "score_run" in untouched("run", "-n")
    shutil.rmtree(bench.records[0].parent)
    assert "4 runs: 1 to perform, 3 kept" in untouched("run", "-n")
    assert "incomplete" in untouched("render", "-n", code=1)
    untouched("score", "-n")
    assert "incomplete" in untouched("status")
    bench.edit("rule.md", "Change", "Touch")
    assert "has measured runs" in untouched("run", "-n", code=1)


def test_a_status_that_nobody_reads_ends_quietly(finished):
    reader, writer = os.pipe()
    os.close(reader)
    command = finished.command("status")
    done = subprocess.run(
        command, cwd=finished.root, env=finished.environment, stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    assert done.returncode == 1 and "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr

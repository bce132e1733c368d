"""How much disk many runs of one large repository take."""

import os
from pathlib import Path

import pytest
from repo_world import run_git

from trysquare import repo
from trysquare.matrix import CellPlan
from trysquare.workplace import size

LARGE = 40 * 10**6
SMALL = 3 * 10**6
"""What git's own files, directories and roundings may take beside the content."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A repository of 80 MB of history, half of which is in the tree."""
    root = tmp_path_factory.mktemp("large")
    run_git(root, "init", "-q", "-b", "main")
    for _ in range(2):
        (root / "data.bin").write_bytes(os.urandom(LARGE))
        run_git(root, "add", "-A")
        run_git(root, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "data")
    return root, run_git(root, "rev-parse", "HEAD").strip()


def test_runs_share_the_history_and_have_a_tree_each(large: tuple[Path, str], tmp_path: Path) -> None:
    source, commit = large
    cell = CellPlan("plain", "f" * 24, {}, "off", "a" * 24)
    trees = 3
    for number in range(trees):
        repo.prepare(source, tmp_path, tmp_path / "bricks", cell, commit, tmp_path / "trees" / str(number))
    assert size(tmp_path) < 2 * LARGE + trees * LARGE + (trees + 1) * SMALL

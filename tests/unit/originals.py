"""Archives of the original trysquare, made once for a module and copied for each test."""

import shutil
from pathlib import Path

import pytest

from tests.foreign import Original, original


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Original:
    return original(tmp_path_factory.mktemp("original"), repetitions=3)


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Original:
    return original(tmp_path_factory.mktemp("single"), repetitions=1)


@pytest.fixture
def made(pristine: Original, tmp_path: Path) -> Original:
    return copied(pristine, tmp_path / "there")


@pytest.fixture
def small(single: Original, tmp_path: Path) -> Original:
    """One run a cell, for what takes a clone of each."""
    return copied(single, tmp_path / "there")


def copied(pristine: Original, root: Path) -> Original:
    """A copy of an archive, and of its repository, scenario and machine file."""
    shutil.copytree(pristine.root.parent, root)
    machine = root / "trysquare.toml"
    machine.write_text(machine.read_text().replace(str(pristine.root.parent), str(root)))
    return Original(root / pristine.root.name, root / "scenario.toml", pristine.runs)

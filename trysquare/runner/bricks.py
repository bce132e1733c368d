"""Values of a scenario that are files: reading them, listing them, refusing those that are not there."""

from pathlib import Path

from trysquare.config import Config
from trysquare.refusals import Refusals
from trysquare.scenario import Cell, Scenario, ScenarioError
from trysquare.scenario.model import Reference


def read_brick(base: Path, value: str) -> str:
    """The text of a value that is inline or a path relative to `base`; a path that is not there is never a text.

    Raises
    ------
    ScenarioError
        When the value is a path and no readable text file.
    """
    from trysquare.scenario.paths import is_path

    return read_file(base, value) if is_path(value, base) else value


def read_file(base: Path, value: str) -> str:
    """The text of a file relative to `base`, byte for byte.

    Raises
    ------
    ScenarioError
        When it is no readable text file.
    """
    from trysquare.scenario.paths import missing

    problem = missing(Reference("", value, "text"), base)
    if problem:
        raise ScenarioError(problem)
    return (base / value).read_bytes().decode("utf-8")


def referenced_paths(scenario: Scenario, base: Path) -> list[tuple[str, Path]]:
    """Every file the scenario points at, with the place that declares it."""
    return [(reference.where, base / reference.value) for reference in scenario.references]


def preflight(scenario: Scenario, base: Path) -> None:
    """Refuse a scenario whose files are not where it says they are.

    Raises
    ------
    ScenarioError
        With one line for each file.
    """
    from trysquare.scenario.paths import check

    refusals = Refusals(scenario.path or base, ScenarioError)
    for reference in scenario.references:
        check(reference, base, refusals)
    refusals.settle()


def brick_paths(scenario: Scenario, config: Config, cell: Cell, base: Path) -> dict[str, tuple[Path, ...]]:
    """The bricks one cell loads, each with its real paths; a pinned one has the path in its pinned directory."""
    from trysquare.runner.sources import harness_dir

    found: dict[str, tuple[Path, ...]] = {}
    for name, brick in scenario.declared(cell)["harness"].items():
        if brick.repo is not None:
            pinned = harness_dir(config.workdir, config.place("harness", brick.repo), brick.tag)
            found[name] = (pinned / brick.load,)
        elif brick.load is not None:
            found[name] = (base / brick.load,)
        else:
            found[name] = tuple(base / path for path in brick.paths or (brick.files or {}).values())
    return found

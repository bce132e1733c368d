"""The plan of an archive that keeps none, from the scenario it was measured with."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from trysquare.config import Config
from trysquare.errors import ArchiveError
from trysquare.matrix import Matrix, RunPlan, Source
from trysquare.readers.view import Archive, ArchivedRun
from trysquare.refusals import listed, show
from trysquare.runner import building
from trysquare.runner.freeze import Freezer
from trysquare.runner.validators import validators
from trysquare.scenario import Scenario
from trysquare.scenario import load as load_scenario


def planned(archive: Archive, path: Path) -> tuple[Matrix, Mapping[str, bytes]]:
    """The plan of an original archive as a scenario declares it today, and the bytes it reads.

    What the archive says wins: its runs, repetitions and load are those of its own ledger. Contents of prompts and
    bricks are those of the files the scenario names now.

    Raises
    ------
    ArchiveError
        When the archive was measured with another scenario, as far as it says.
    ScenarioError
        When the file is no scenario.
    """
    scenario = load_scenario(path)
    _refuse_foreign(archive, scenario)
    matrix, bricks = declared(scenario, Config(), _load(archive))
    runs = {archived.id: _run_plan(archive, archived) for archived in archive.runs if archived.cell in matrix.cells}
    commits = _commits(archive)
    plan = replace(
        matrix,
        name=archive.root.absolute().name,
        source=replace(matrix.source, commit=commits[0] if len(commits) == 1 else ""),
        runs=runs,
        blind=any("/" not in run.directory for run in runs.values()),
        overrides=archive.overrides,
    )
    return plan, bricks


def declared(
    scenario: Scenario, config: Config, load: Mapping[str, float] | None = None
) -> tuple[Matrix, Mapping[str, bytes]]:
    """A plan without any run of what a scenario declares now, and the bytes it reads; nothing is looked for outside."""
    freezer = Freezer(scenario)
    cells, task = freezer.cells(), building.task(scenario)
    protocol = building.protocol(scenario, config, load or {})
    matrix = Matrix(
        name=scenario.name,
        experiment=building.experiment(scenario),
        source=Source(scenario.task.repo, "", "", scenario.task.etalon, ""),
        task=task,
        agent=building.agent(scenario),
        protocol=protocol,
        cells=cells,
        runs={},
        validators=validators(freezer, task, protocol.timeout),
        verdict=building.verdict(scenario),
        workdir="",
    )
    return matrix, freezer.bricks


def _load(archive: Archive) -> dict[str, float]:
    said = {"repetitions": archive.repetitions, "concurrency": archive.concurrency, "timeout": archive.timeout}
    return {name: float(value) for name, value in said.items() if value is not None}


def _run_plan(archive: Archive, archived: ArchivedRun) -> RunPlan:
    directory = archived.files.root.relative_to(archive.root / "runs").as_posix()
    return RunPlan(archived.id, archived.cell, archived.repetition, directory)


def _commits(archive: Archive) -> list[str]:
    return sorted({str(commit) for run in archive.runs if (commit := run.configuration.get("etalon_commit"))})


def _refuse_foreign(archive: Archive, scenario: Scenario) -> None:
    """Refuse a scenario that is not the one of the archive, naming the first thing in which they differ."""
    for what, there, here in (
        ("the scenario", archive.scenario, scenario.name),
        ("the etalon", archive.etalon, scenario.task.etalon),
        ("the provider", archive.provider, scenario.agent.provider),
        ("the model", archive.model, scenario.agent.model),
        ("the repository", archive.repo or scenario.task.repo, scenario.task.repo),
    ):
        if there != here:
            raise ArchiveError(
                f"{archive.root} was measured with another scenario than {scenario.path}: {what} is {show(there)} "
                f"there and {show(here)} here; name the scenario it was measured with."
            )
    unknown = [name for name in archive.cells if name not in scenario.cell_names]
    if len(unknown) == len(archive.cells):
        raise ArchiveError(
            f"{archive.root} was measured with another scenario than {scenario.path}, which declares none of its cells "
            f"({listed(unknown)}); name the scenario it was measured with."
        )
    for archived in archive.runs:
        if archived.cell in scenario.cell_names:
            _refuse_changed(archive, archived, scenario)


def _refuse_changed(archive: Archive, archived: ArchivedRun, scenario: Scenario) -> None:
    cell = next(cell for cell in scenario.cells if cell.name == archived.cell)
    declared = scenario.declared(cell)["thinking"]
    ran = archived.configuration.get("thinking", declared)
    if ran != declared:
        raise ArchiveError(
            f"{archive.root}: the cell {show(cell.name)} was measured with thinking {show(ran)} (run {archived.id}), "
            f"and {scenario.path} declares {show(declared)} now: name the scenario as it was."
        )

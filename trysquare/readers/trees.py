"""Trees and verdicts of runs whose archive keeps no plan: made again from the scenario, the etalon and the patch."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from trysquare import config as machine
from trysquare import repo, validation
from trysquare.config import Config
from trysquare.errors import ArchiveError, RepoError
from trysquare.files import read_json, write_bytes, write_json, write_text
from trysquare.matrix import CellPlan, Matrix
from trysquare.measure import Fold, events
from trysquare.readers.planning import declared
from trysquare.readers.view import ArchivedRun
from trysquare.refusals import listed, show
from trysquare.replaying import replays
from trysquare.runner.sources import prepare_source
from trysquare.scenario import Scenario, Validator
from trysquare.scenario import load as load_scenario


@dataclass(frozen=True)
class Ground:
    """What trees are made from on this machine: a plan of the scenario as it is now, and its bytes in `bricks`."""

    matrix: Matrix
    bricks: Path
    work: Path


@contextmanager
def ground(path: Path, name: str | None = None, machine_file: str | None = None) -> Iterator[Ground]:
    """The ground for the runs of a scenario: a private directory that is gone at the end of the block.

    With a `name` it is `<work directory>/replays/<name>`, emptied first and kept. The machine file is looked for from
    the scenario upwards when none is given.

    Raises
    ------
    TrysquareError
        When the file is no scenario, or this machine does not have the repository with the etalon.
    """
    scenario = load_scenario(path)
    config = machine.load(machine.find(path) if machine_file is None else Path(machine_file))
    matrix, bricks = declared(scenario, config)
    matrix = _placed(matrix, scenario, config)
    with _place(config.workdir, name) as place:
        made = Ground(matrix, place / "bricks", place)
        for digest, data in bricks.items():
            write_bytes(made.bricks / digest, data)
        yield made


@contextmanager
def _place(workdir: Path, name: str | None) -> Iterator[Path]:
    if name is None:
        workdir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=workdir, prefix="scoring-", ignore_cleanup_errors=True) as private:
            yield Path(private)
    else:
        place = replays(workdir) / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        yield place


def _placed(matrix: Matrix, scenario: Scenario, config: Config) -> Matrix:
    name, etalon = scenario.task.repo, scenario.task.etalon
    checkout = prepare_source(config, name, etalon)
    source = replace(matrix.source, checkout=str(checkout), commit=repo.resolve_etalon(checkout, etalon))
    return replace(matrix, source=source, workdir=str(config.workdir))


def rebuild_original(ground: Ground, archived: ArchivedRun, work: Path) -> Path:
    """The tree an archived run ended with, below `work`: the etalon, the files its cell is given, and its patch.

    The archive records no ids of trees, so that nothing but the patch itself says whether it is the right one.

    Raises
    ------
    RepoError
        When the patch does not apply, or the scenario gives the cell other files than the run was given.
    """
    matrix, what = ground.matrix, f"run {archived.id}"
    cell = _cell(matrix, archived)
    said = archived.configuration
    if said.get("etalon", matrix.source.etalon) != matrix.source.etalon:
        raise RepoError(
            f"{what} was measured at {show(said['etalon'])} and the scenario says {show(matrix.source.etalon)}: name "
            "the scenario it was measured with."
        )
    if "given" in said and sorted(said["given"]) != sorted(cell.files):
        raise RepoError(
            f"{what} was given {listed(said['given'])} and the scenario gives {listed(sorted(cell.files))}: name the "
            "scenario as it was."
        )
    commit = said.get("etalon_commit") or matrix.source.commit
    base = repo.Base(str(commit), cell.history, cell.setup, cell.files)
    checkout, workdir = Path(matrix.source.checkout), Path(matrix.workdir)
    return repo.rebuild(checkout, workdir, ground.bricks, base, archived.files.patch, None, None, work, what)


def context_of(ground: Ground, archived: ArchivedRun, tree: Path, directory: Path) -> Path:
    """A fresh context for the validators of a run, written to a directory outside the archive.

    The prompt is the one the scenario holds now; the response is what the session that was measured ended with.
    """
    matrix = ground.matrix
    cell, checkout = _cell(matrix, archived), Path(matrix.source.checkout)
    response = directory / "response.md"
    write_text(response, _response(archived))
    return validation.write_context(
        directory,
        tree,
        matrix.source.etalon,
        checkout,
        ground.bricks / cell.prompt,
        archived.files.session,
        None,
        archived.cell,
        archived.repetition,
        response_file=response,
        test_command=matrix.task.test_command,
        prepare=matrix.task.prepare,
        artefacts=matrix.task.artefacts,
        touched=repo.changed_files(tree),
        files=repo.etalon_files(checkout, matrix.source.commit),
        given=sorted(cell.files),
        declared=matrix.declared,
        etalon_commit=matrix.source.commit,
    )


def verdicts_of(ground: Ground, context: Path, work: Path) -> dict[str, validation.Result]:
    """What each script validator of the scenario returns over a context."""
    found = {}
    for name, validator in ground.matrix.validators.items():
        if validator.mode == "script":
            assert validator.command is not None
            own = work / "contexts" / name / "context.json"
            write_json(own, {**read_json(context), "declared": list(validator.metrics)})
            command = repo.materialise(ground.bricks, validator.tree, work / "validators" / name) / validator.command
            runnable = Validator(validator.mode, validator.metrics, {"command": str(command)})
            found[name] = validation.run_script(runnable, own, validator.timeout, cwd=work)
    return found


def _cell(matrix: Matrix, archived: ArchivedRun) -> CellPlan:
    if archived.cell not in matrix.cells:
        raise ArchiveError(
            f"run {archived.id} is of the cell {show(archived.cell)}, which the scenario does not declare; it declares "
            f"{listed(matrix.cells)}."
        )
    return matrix.cells[archived.cell]


def _response(archived: ArchivedRun) -> str:
    fold = Fold()
    for path in archived.sessions[-1:]:
        for entry in events(path.read_text(encoding="utf-8", errors="replace")):
            if entry.get("type") == "message":
                fold.add_message(entry.get("message"))
    return fold.reading.response

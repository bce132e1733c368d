"""Looking again at an archived matrix, on this machine or another: its trees, its contexts, its damage."""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from trysquare import archive, repo
from trysquare import config as machine
from trysquare.errors import ArchiveError, RepoError, TrysquareError
from trysquare.files import read_json
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import Matrix, RunPlan
from trysquare.pointers import FREE_MODES
from trysquare.refusals import key, show


def archived(names: Iterable[str]) -> dict[str, tuple[Path, Matrix]]:
    """Those of the names that are directories, as matrices with their frozen plans.

    Raises
    ------
    ArchiveError
        When a directory holds no plan.
    """
    found = {}
    for name in names:
        path = Path(name)
        if not path.is_dir():
            continue
        path = path if path.name else path.resolve()
        found[name] = (path, Matrix.load(Layout(path).plan))
    return found


def localised(matrix: Matrix, layout: Layout, machine_file: str | None = None) -> Matrix:
    """The plan of an archived matrix with the repository and the work directory of this machine.

    What the machine file says counts, which is looked for upwards from the matrix and from here; without it, what the
    plan says is kept as far as it is there.

    Raises
    ------
    TrysquareError
        When this machine does not have the repository, or not the commit that was measured.
    """
    given = None if machine_file is None else Path(machine_file)
    config = machine.load(
        given or machine.find(layout.root.absolute() / "plan.json") or machine.find(Path("trysquare"))
    )
    source = matrix.source
    if source.repo in config.repos:
        from trysquare.runner.sources import prepare_source

        checkout = prepare_source(config, source.repo, source.etalon)
    elif Path(source.checkout).is_dir():
        checkout = Path(source.checkout)
    else:
        raise ArchiveError(
            f"{layout.root} was measured on the repository {show(source.repo)}, which this machine file does not name; "
            f'write in {config.path or "a trysquare.toml here"}:\n[repos]\n{key(source.repo)} = "/path/to/it"'
        )
    try:
        repo.resolve_etalon(checkout, source.commit)
    except RepoError as error:
        raise ArchiveError(f"{layout.root}: {error}") from None
    return replace(matrix, source=replace(source, checkout=str(checkout)), workdir=str(_workdir(matrix, config)))


def _workdir(matrix: Matrix, config: machine.Config) -> Path:
    planned = Path(matrix.workdir)
    return config.workdir if config.path is not None or not planned.is_dir() else planned


def replay(layout: Layout, matrix: Matrix) -> Iterator[str]:
    """Rebuild the tree of every recorded run, with fresh contexts beside it; yields one line per run.

    They are put under `<work directory>/replays/<matrix>/<id>/`, in place of those of an earlier replay. Runs that are
    damaged are said to be so, and the others are replayed.
    """
    place = replays(Path(matrix.workdir)) / layout.root.absolute().name
    shutil.rmtree(place, ignore_errors=True)
    for planned in matrix.runs.values():
        run = layout.run(planned.directory)
        if not run.record.exists() and not run.pointer.exists():
            continue
        try:
            yield f"{_named(planned)}: {_rebuild(layout, matrix, run, place / run.id)}"
        except TrysquareError as error:
            shutil.rmtree(place / run.id, ignore_errors=True)
            yield f"{archive.DAMAGED}{_named(planned)}: {error}"


def replays(workdir: Path) -> Path:
    """Where replayed trees are."""
    return workdir / "replays"


def _named(planned: RunPlan) -> str:
    return f"{planned.id} ({planned.cell}, repetition {planned.repetition})"


def _rebuild(layout: Layout, matrix: Matrix, run: RunLayout, work: Path) -> Path:
    from trysquare import scoring

    archive.refuse_damaged(run)
    work.mkdir(parents=True)
    configuration = read_json(run.configuration)
    tree = scoring.rebuild(layout, matrix, run, configuration, work)
    for validator in (each for each in matrix.validators.values() if each.mode in FREE_MODES):
        scoring.write_context(matrix, run, validator, configuration, tree, work / "contexts" / validator.name)
    return tree

"""Opening a matrix directory, and reading one that this trysquare wrote."""

from pathlib import Path
from typing import TYPE_CHECKING

from trysquare.errors import ArchiveError
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import Matrix
from trysquare.outputs import archived_run_dirs, own_trace
from trysquare.readers.original import read_original
from trysquare.readers.view import Archive, ArchivedCell, ArchivedRun, ArchivedValidator

if TYPE_CHECKING:
    from trysquare.collecting import State


def open_archive(directory: str | Path) -> Archive:
    """The matrix in a directory. Reads, and writes nothing.

    Raises
    ------
    ArchiveError
        When the directory holds no matrix, or one that is damaged.
    """
    root = Path(directory)
    if Layout(root).plan.exists():
        return _read(root)
    if is_original(root):
        return read_original(root)
    if root.is_dir() and own_trace(root) is None:
        raise ArchiveError(f"{root} holds neither plan.json nor state.json: name a matrix directory.")
    return _read(root)  # which says what is missing


def is_original(directory: str | Path) -> bool:
    """Whether a directory is an archive of the original trysquare: a ledger, and nothing only this one writes."""
    layout = Layout(Path(directory))
    return layout.state.exists() and not layout.plan.exists() and own_trace(layout.root) is None


def _read(root: Path) -> Archive:
    from trysquare.collecting import derive

    layout, matrix = Layout(root), Matrix.load(Layout(root).plan)
    state = derive(layout, matrix)
    return Archive(
        root=root,
        original=False,
        scenario=matrix.experiment.name,
        title=matrix.experiment.title,
        repo=matrix.source.repo,
        etalon=matrix.source.etalon,
        commit=matrix.source.commit or None,
        provider=matrix.agent.provider,
        model=matrix.agent.model,
        repetitions=matrix.protocol.repetitions,
        concurrency=matrix.protocol.concurrency,
        timeout=matrix.protocol.timeout,
        overrides=matrix.overrides,
        cells={
            name: ArchivedCell(name, cell.thinking, cell.fingerprint, cell.parts) for name, cell in matrix.cells.items()
        },
        runs=tuple(_runs(layout, matrix, state)),
        declared=matrix.declared,
        validators={
            name: ArchivedValidator(validator.mode, validator.digest) for name, validator in matrix.validators.items()
        },
        rehearsed=state.rehearsed,
        imported=matrix.imported,
        lacks=()
        if matrix.imported is None
        else (f"Its measures were imported from {matrix.imported}, without evidence.",),
    )


def _runs(layout: Layout, matrix: Matrix, state: "State") -> list[ArchivedRun]:
    """The planned runs in declared order, then the recorded ones of cells that are no longer declared."""
    rows = {run.id: run for run in state.runs}
    order = {cell: position for position, cell in enumerate(matrix.cells)}
    runs = [
        ArchivedRun(
            run.id,
            run.cell,
            run.repetition,
            state.states.get(run.id, "missing"),
            layout.run(run.directory),
            rows.pop(run.id, None),
        )
        for run in sorted(matrix.runs.values(), key=lambda run: (order[run.cell], run.repetition))
    ]
    strays = {tree.name: tree for tree in archived_run_dirs(layout.root)} if rows else {}
    runs += [
        ArchivedRun(
            row.id, row.cell, row.repetition, row.state, RunLayout(strays.get(row.id, layout.run(row.id).root)), row
        )
        for row in rows.values()
    ]
    return runs

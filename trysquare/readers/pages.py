"""The synthesis of an archive that keeps no plan, written beside the archive or elsewhere, never over it unasked."""

import os
from dataclasses import replace
from pathlib import Path

from trysquare.errors import ArchiveError
from trysquare.files import write_text
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.outputs import cell_dir
from trysquare.readers.planning import planned
from trysquare.readers.view import Archive, ArchivedRun
from trysquare.synthesis import Evidence, Link, Synthesis, build, markdown, page
from trysquare.synthesis.evidence import address

AS_DECLARED = (
    "The archive keeps no prompts and no bricks. What is said here of the cells is what the files of the scenario hold "
    "now, which may not be what was measured."
)

SESSIONS = "Where model_id is not recorded, the models named here are those that the archived sessions name."


def render_original(archive: Archive, scenario: Path, target: Path, reference: str | None = None) -> str:
    """Write the synthesis of a complete original archive under `target`; returns the line that says where it is.

    Parameters
    ----------
    scenario : Path
        The scenario it was measured with, which says what no file of the archive does.
    target : Path
        A directory; the archive itself only when that is what is asked for.
    reference : str, optional
        The cell to compare with, when it is not the declared one.

    Raises
    ------
    ArchiveError
        When it is not complete, or was measured with another scenario.
    """
    matrix, _ = planned(archive, scenario)
    unfinished = [run for run in archive.runs if run.cell in matrix.cells and run.state != "valid"]
    if unfinished:
        raise ArchiveError(
            f"{archive.root}: incomplete, {archive.standing()} ({unfinished[0].id} is {unfinished[0].state}); no "
            "synthesis: complete it with the tool that measured it."
        )
    built = _built(archive, matrix, target, reference)
    layout = Layout(target)
    written = layout.synthesis if reference is None else layout.synthesis_against(cell_dir(reference))
    write_text(written, markdown(built))
    sources = (archive.root / name for name in ("state.json", "measures.json"))
    files = [Link(path.name, _address(path, target)) for path in sources if path.exists()]
    write_text(written.with_suffix(".html"), page(built, files))
    return f"synthesis: {written.with_suffix('.html')}"


def _built(archive: Archive, matrix: Matrix, target: Path, reference: str | None) -> Synthesis:
    """The synthesis, with no link to what the archive does not hold and with everything it lacks among the warnings."""
    evidence = {run.id: _evidence(run, target) for run in archive.runs if run.files.root.is_dir()}
    built = build(matrix, archive.rows, (), reference, evidence)
    cells = (replace(cell, pieces=tuple(Link(piece.label) for piece in cell.pieces)) for cell in built.cells)
    said = [*built.warnings, AS_DECLARED, *archive.lacks]
    said += [SESSIONS] if any(not run.configuration.get("model_id") for run in archive.runs) else []
    return replace(built, prompt=None, cells=tuple(cells), warnings=tuple(said))


def _evidence(archived: ArchivedRun, target: Path) -> Evidence:
    root = archived.files.root
    files = [path for pattern in ("*", "session/*", "validation/*.json") for path in root.glob(pattern)]
    names = tuple(sorted(path.relative_to(root).as_posix() for path in files if path.is_file()))
    return Evidence(_relative(root, target), names, archived.models)


def _relative(path: Path, target: Path) -> str:
    return Path(os.path.relpath(path.absolute(), target.absolute())).as_posix()


def _address(path: Path, target: Path) -> str:
    return address(_relative(path, target))

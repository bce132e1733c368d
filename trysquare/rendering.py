"""Rendering a matrix: from stored measures alone, to synthesis.md and synthesis.html."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trysquare import commits
from trysquare.collecting import collect, derive, status_line, withhold
from trysquare.errors import ArchiveError
from trysquare.files import read_json, read_lines, write_bytes, write_pieces, write_text
from trysquare.layout import Layout, plain
from trysquare.matrix import Matrix
from trysquare.measure import Run
from trysquare.outputs import DERIVED, cell_dir
from trysquare.runner.refusing import refuse_unknown_cells

if TYPE_CHECKING:
    from trysquare.synthesis import Synthesis


def render(layout: Layout, reference: str = "", pointer: Path | None = None) -> str:
    """Write the synthesis of a complete matrix; returns the line that says where it is.

    With another `reference` cell it goes into files named after that cell. Without one, those are written again too, so
    that they never rest on other measures than the synthesis beside them. A `pointer` of the engine has what a report
    shows written beside it.

    Raises
    ------
    ArchiveError
        When the matrix is not complete, or its runs saw more than one commit; its older synthesis is withheld first.
    """
    matrix = Matrix.load(layout.plan)
    if not all(path.exists() for path in (layout.measures, layout.parquet, layout.state)):
        collect(layout)
    state = derive(layout, matrix)
    problem = commits.several(layout, matrix, state.runs) if state.complete else status_line(layout.root, state)
    if problem:
        withhold(layout, state, problem)
        raise ArchiveError(problem)
    del state  # as large as the rows that are read below
    from trysquare import pages, synthesis

    runs = measures(layout)
    archived, launches = synthesis.gather(layout, matrix, runs), read_lines(layout.launches)

    def write(page: Path, against: str | None) -> Path:
        built = synthesis.build(matrix, runs, launches, against, archived)
        write_text(page, synthesis.markdown(built))
        write_pieces(page.with_suffix(".html"), synthesis.page_pieces(built))
        if against is None:
            pages.write_pages(layout, matrix, built, archived)
            if pointer is not None:
                _report(layout, matrix, built, runs, pointer)
        return page.with_suffix(".html")

    if reference:
        refuse_unknown_cells("reference", [reference], matrix.cells)
        return f"synthesis against {reference}: {write(layout.synthesis_against(cell_dir(reference)), reference)}"
    for cell in matrix.cells:
        if layout.synthesis_against(cell_dir(cell)).exists():
            write(layout.synthesis_against(cell_dir(cell)), cell)
    return f"synthesis: {write(layout.synthesis, None)}"


def _report(layout: Layout, matrix: Matrix, built: "Synthesis", runs: Sequence[Run], pointer: Path) -> None:
    """Write what a report of the engine shows, named like the pointer with and without the mark of its launch."""
    from trysquare import exporting, synthesis

    for older in layout.ledger.glob("report.*"):
        older.unlink()
    targets = {f"{layout.ledger}/report.{name.partition('.')[2]}" for name in (plain(pointer.name), pointer.name)}
    table = exporting.Table(runs, tuple(matrix.cells), built.rehearsed).csv()
    for target in targets:
        write_bytes(f"{target}.csv", table)
        write_pieces(f"{target}.html", synthesis.page_pieces(synthesis.unlinked(built), ()))


def measures(layout: Layout) -> list[Run]:
    """The rows of measures.json.

    Raises
    ------
    ArchiveError
        When there is none.
    """
    try:
        return [Run.from_row(row) for row in read_json(layout.measures, DERIVED)]
    except FileNotFoundError:
        raise ArchiveError(
            f"{layout.measures} does not exist: `trysquare render {layout.root}` writes it from the archive."
        ) from None

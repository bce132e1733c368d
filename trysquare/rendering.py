"""Rendering a matrix: from stored measures alone, to synthesis.md and synthesis.html."""

from pathlib import Path

from trysquare import commits
from trysquare.collecting import derive, status_line, withhold
from trysquare.errors import ArchiveError
from trysquare.files import read_json, read_lines, write_text
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.measure import Run
from trysquare.outputs import cell_dir
from trysquare.runner.refusing import refuse_unknown_cells


def render(layout: Layout, reference: str = "") -> str:
    """Write the synthesis of a complete matrix; returns the line that says where it is.

    With another `reference` cell it goes into files named after that cell. Without one, those are written again too, so
    that they never rest on other measures than the synthesis beside them.

    Raises
    ------
    ArchiveError
        When the matrix is not complete, or its runs saw more than one commit; its older synthesis is withheld first.
    """
    matrix = Matrix.load(layout.plan)
    state = derive(layout, matrix)
    problem = commits.several(layout, matrix, state.runs) if state.complete else status_line(layout.root, state)
    if problem:
        withhold(layout, state, problem)
        raise ArchiveError(problem)
    from trysquare import synthesis

    runs = measures(layout)
    archived, launches = synthesis.gather(layout, matrix, runs), read_lines(layout.launches)

    def write(page: Path, against: str | None) -> Path:
        built = synthesis.build(matrix, runs, launches, against, archived)
        write_text(page, synthesis.markdown(built))
        write_text(page.with_suffix(".html"), synthesis.page(built))
        return page.with_suffix(".html")

    if reference:
        refuse_unknown_cells("reference", [reference], matrix.cells)
        return f"synthesis against {reference}: {write(layout.synthesis_against(cell_dir(reference)), reference)}"
    for cell in matrix.cells:
        if layout.synthesis_against(cell_dir(cell)).exists():
            write(layout.synthesis_against(cell_dir(cell)), cell)
    return f"synthesis: {write(layout.synthesis, None)}"


def measures(layout: Layout) -> list[Run]:
    """The rows of measures.json.

    Raises
    ------
    ArchiveError
        When there is none.
    """
    try:
        return [Run.from_row(row) for row in read_json(layout.measures)]
    except FileNotFoundError:
        raise ArchiveError(
            f"{layout.measures} does not exist: the target `collect` writes it from the archive."
        ) from None

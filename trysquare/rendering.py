"""Rendering a matrix: from stored measures alone, to synthesis.md and synthesis.html."""

from trysquare.collecting import derive, status_line, withhold
from trysquare.errors import ArchiveError
from trysquare.files import read_json, read_lines, write_text
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.measure import Run


def render(layout: Layout) -> str:
    """Write the synthesis of a complete matrix; returns the line that says where it is.

    Raises
    ------
    ArchiveError
        When the matrix is not complete; its older synthesis is withheld first.
    """
    matrix = Matrix.load(layout.plan)
    state = derive(layout, matrix)
    if not state.complete:
        withhold(layout, state)
        raise ArchiveError(status_line(layout.root, state))
    from trysquare import synthesis

    runs = measures(layout)
    built = synthesis.build(matrix, runs, read_lines(layout.launches), evidence=synthesis.gather(layout, matrix, runs))
    write_text(layout.synthesis, synthesis.markdown(built))
    page = layout.synthesis.with_suffix(".html")
    write_text(page, synthesis.page(built))
    return f"synthesis: {page}"


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

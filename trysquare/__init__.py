"""trysquare: tells people who build with coding agents whether a measured difference is established."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

__all__ = ["load"]


def load(directory: str | Path) -> "pandas.DataFrame":
    """The runs of a matrix directory as a tidy frame: one row a run, metrics as columns, cells in declared order.

    Raises
    ------
    ArchiveError
        When the directory holds no plan or no measures.
    """
    from trysquare.layout import Layout
    from trysquare.matrix import Matrix
    from trysquare.readers import is_original, open_archive
    from trysquare.rendering import measures
    from trysquare.table import frame

    if is_original(directory):
        archive = open_archive(directory)
        return frame(archive.rows, tuple(archive.cells))
    layout = Layout(Path(directory))
    return frame(measures(layout), tuple(Matrix.load(layout.plan).cells))

"""The actor of rule discard: the runs of cells, set aside."""

from collections.abc import Sequence
from pathlib import Path

from trysquare.discarding import discard
from trysquare.jobs import entry
from trysquare.layout import Layout
from trysquare.matrix import Matrix


def main(arguments: Sequence[str]) -> int:
    """`MATRIX... -- CELL...`."""
    end = list(arguments).index("--")
    for directory in arguments[:end]:
        layout = Layout(Path(directory).absolute())
        print("\n".join(discard(layout, Matrix.load(layout.plan), arguments[end + 1 :])))
    return 0


if __name__ == "__main__":
    entry(main)

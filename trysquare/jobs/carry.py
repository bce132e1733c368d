"""The actor of rule carry: one run of a smaller matrix, copied whole."""

from collections.abc import Sequence
from pathlib import Path

from trysquare.carrying import carry
from trysquare.jobs import entry
from trysquare.layout import Layout
from trysquare.matrix import Matrix


def main(arguments: Sequence[str]) -> int:
    """`MATRIX RUN`: RUN is relative to runs/."""
    directory, run = arguments
    layout = Layout(Path(directory).absolute())
    return carry(layout, Matrix.load(layout.plan), run)


if __name__ == "__main__":
    entry(main)

"""The actor of rule measure: one run, or the pointer of a run that was measured before."""

from collections.abc import Sequence
from pathlib import Path

from trysquare.jobs import entry
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.measuring import measure


def main(arguments: Sequence[str]) -> int:
    """`MATRIX RUN spend|keep`: RUN is relative to runs/; `keep` may emit pointers and never spends."""
    directory, run, spend = arguments
    layout = Layout(Path(directory).absolute())
    return measure(layout, Matrix.load(layout.plan), run, may_spend=spend == "spend")


if __name__ == "__main__":
    entry(main)

"""The actor of rule score_run: one validator over one archived run."""

from collections.abc import Sequence
from pathlib import Path

from trysquare.jobs import entry
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.scoring import score


def main(arguments: Sequence[str]) -> int:
    """`MATRIX RUN VALIDATOR DIGEST`: RUN is relative to runs/."""
    directory, run, validator, digest = arguments
    layout = Layout(Path(directory).absolute())
    return score(layout, Matrix.load(layout.plan), run, validator, digest)


if __name__ == "__main__":
    entry(main)

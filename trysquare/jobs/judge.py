"""The actor of rule judge_run: one verdict of a judge, or the pointer of one that was bought before."""

from collections.abc import Sequence
from pathlib import Path

from trysquare.jobs import entry
from trysquare.judging import judge
from trysquare.layout import Layout
from trysquare.matrix import Matrix


def main(arguments: Sequence[str]) -> int:
    """`MATRIX RUN VALIDATOR DIGEST spend|keep`: RUN is relative to runs/; `keep` may emit pointers and never spends."""
    directory, run, validator, digest, spend = arguments
    layout = Layout(Path(directory).absolute())
    return judge(layout, Matrix.load(layout.plan), run, (validator, digest), may_spend=spend == "spend")


if __name__ == "__main__":
    entry(main)

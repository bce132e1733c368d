"""Runs as a tidy pandas frame."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from trysquare.measure.aggregate import Run

if TYPE_CHECKING:
    import pandas


def frame(runs: Iterable[Run], order: Sequence[str] = ()) -> "pandas.DataFrame":
    """One row a run: its identity and state, its usage, then one column per metric, missing where it was not judged.

    A metric named like another column is found under `metric.<name>`.

    Parameters
    ----------
    runs
        In any order; rows are sorted by cell and repetition.
    order
        The declared cells, which give the categories of the column `cell`; others follow in order of appearance.
    """
    import pandas

    runs = list(runs)
    cells = list(dict.fromkeys((*order, *(run.cell for run in runs))))
    runs.sort(key=lambda run: (cells.index(run.cell), run.repetition))
    table = pandas.DataFrame([_row(run) for run in runs], columns=None if runs else [*_row(Run("", "", 0))])
    table = table.convert_dtypes()
    table["cell"] = pandas.Categorical(table["cell"], categories=cells, ordered=True)
    return table


def _row(run: Run) -> dict[str, Any]:
    fixed = {
        "id": run.id,
        "cell": run.cell,
        "repetition": run.repetition,
        "state": run.state,
        "attempts": run.attempts,
        "duration": run.duration,
        **run.usage,
    }
    return fixed | {f"metric.{name}" if name in fixed else name: value for name, value in run.metrics.items()}

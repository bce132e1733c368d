"""Runs as a tidy pandas frame."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trysquare.measure.aggregate import Run

if TYPE_CHECKING:
    import pandas


def frame(runs: Iterable[Run], order: Sequence[str] = ()) -> "pandas.DataFrame":
    """One row a run: its identity and state, its usage, then one column per metric, missing where it was not judged.

    A metric named like another column is found under `metric.<name>`. Where a script played the model in any run, a
    column `rehearsed` is true in every row.

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
    marks = {"rehearsed": True} if any(run.rehearsed for run in runs) else {}
    rows = [_row(run, marks) for run in runs]
    table = pandas.DataFrame(rows, columns=None if runs else [*_row(Run("", "", 0), {})])
    table = table.convert_dtypes()
    table["cell"] = pandas.Categorical(table["cell"], categories=cells, ordered=True)
    return table


def flat(table: "pandas.DataFrame") -> "pandas.DataFrame":
    """The frame as a file can hold it: a metric of no single type is text, as JSON, and None where it is missing."""
    import pandas

    columns = {name: column for name, column in table.items() if column.dtype == object}
    texts = {name: [_text(value) for value in column] for name, column in columns.items()}
    return table.assign(**{str(name): pandas.Series(values, table.index, object) for name, values in texts.items()})


def _text(value: Any) -> str | None:
    missing = value is None or (isinstance(value, float) and value != value)
    return None if missing else _encodable(json.dumps(value, ensure_ascii=False))


def _row(run: Run, marks: Mapping[str, bool]) -> dict[str, Any]:
    fixed = {
        "id": run.id,
        "cell": run.cell,
        "repetition": run.repetition,
        "state": run.state,
        "attempts": run.attempts,
        "duration": run.duration,
        **run.usage,
        **marks,
    }
    metrics = {f"metric.{name}" if name in fixed else name: value for name, value in run.metrics.items()}
    return fixed | {_encodable(name): _encodable(value) for name, value in metrics.items()}


def _encodable(value: Any) -> Any:
    """A text in which half a surrogate pair, from the name of a file that is not UTF-8, is its escape."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value

"""The measures of a table: what is taken of a run, how it is summed up, how it is written."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trysquare.measure.aggregate import Run, kind, valid_runs
from trysquare.verdict import Statistic, VerdictError, fixed, mean, median, plain, points, signed

ByCell = Mapping[str, Sequence[Run]]
"""The runs of each cell, cells in the order of the rows."""


@dataclass(frozen=True)
class Measure:
    """One column of a table.

    `extract` takes the value of a run, None where it could not be judged; `stat` sums up a sample; `render` writes a
    gap, or a level in the cost table.
    """

    name: str
    extract: Callable[[Run], float | None]
    stat: Statistic
    render: Callable[[float], str]


def group(runs: Iterable[Run], order: Sequence[str] = ()) -> dict[str, list[Run]]:
    """Runs by cell: the cells of `order` first, then any other in order of appearance; runs ordered by repetition."""
    cells: dict[str, list[Run]] = {cell: [] for cell in order}
    for run in runs:
        cells.setdefault(run.cell, []).append(run)
    return {cell: sorted(of_cell, key=_repetition) for cell, of_cell in cells.items()}


def sample(runs: Iterable[Run], measure: Measure, validity: Sequence[str] = ()) -> list[float]:
    """The judged values of a measure over the runs that count, ordered by repetition.

    Raises
    ------
    VerdictError
        When a value is no number that can be aggregated.
    """
    values = []
    for run in sorted(valid_runs(runs, validity), key=_repetition):
        value = measure.extract(run)
        if value is not None and kind(value) == "diagnostic":
            raise VerdictError(
                f"{measure.name} of run {run.id} is {value!r}, which is no number to compare: remove measures.json, "
                "and `trysquare render` on the matrix writes it again."
            )
        values += [] if value is None else [value]
    return values


def ordered(by_cell: ByCell, order: Sequence[str]) -> dict[str, Sequence[Run]]:
    """The cells of `order` first, then the others; a cell that is only declared has no runs."""
    return {cell: by_cell.get(cell, ()) for cell in dict.fromkeys((*order, *by_cell))}


def _repetition(run: Run) -> int:
    return run.repetition


def cost_measures() -> tuple[Measure, ...]:
    """Tokens in and out, turns, and duration in seconds, as the gap table compares them.

    A retry replays the turn with the whole context and inflates all four: see `retry_warning`.
    """
    return (
        Measure("in", _usage("input"), median, signed),
        Measure("out", _usage("output"), median, signed),
        Measure("turns", _usage("turns"), median, signed),
        Measure("duration", _duration, median, signed),
    )


def spend_measures(runs: Iterable[Run] = ()) -> tuple[Measure, ...]:
    """Tokens in, tokens out and duration as levels, with cache reads and cost where one of `runs` reports any.

    Durations have a decimal where any of them is shorter than a second.
    """
    runs = list(runs)
    short = any(0 < run.duration < 1 for run in runs)
    reported = (
        Measure("cache read", _usage("cacheRead"), median, plain),
        Measure("cost", _usage("cost"), median, _price),
    )
    return (
        Measure("tokens in", _usage("input"), median, plain),
        Measure("tokens out", _usage("output"), median, plain),
        Measure("duration (s)", _duration, median, fixed(1 if short else 0)),
        *(measure for measure in reported if any(measure.extract(run) for run in runs)),
    )


def number_measures(metrics: Sequence[str]) -> tuple[Measure, ...]:
    """The median of each of these metrics, all of which are numbers."""
    return tuple(Measure(metric, _metric(metric, "median"), median, plain) for metric in metrics)


def column(metric: str) -> str:
    """The name of a metric's column, which is `metric.<name>` beside a measure of cost of that name."""
    return f"metric.{metric}" if metric in {cost.name for cost in cost_measures()} else metric


def criterion_measure(criterion: str, sample: Any = None) -> Measure:
    """The column of the scenario's criterion: a share of true values in points, or the median of a number.

    Its name is that of `column`.

    Parameters
    ----------
    criterion
        The name of the metric.
    sample
        A value of it, or a list of all of them, whose type decides; booleans when there is none.

    Raises
    ------
    VerdictError
        When the values are of both types or of neither; also on extraction from a run whose value is of another type.
    """
    values = list(sample) if isinstance(sample, list | tuple) else [] if sample is None else [sample]
    kinds = {kind(value) for value in values} or {"rate"}
    if kinds == {"rate"}:
        return Measure(column(criterion), _metric(criterion, "rate"), mean, points)
    if kinds == {"median"}:
        return Measure(column(criterion), _metric(criterion, "median"), median, signed)
    raise VerdictError(
        f"The criterion {criterion} {_mixture(kinds)}, and no statistic covers that: have its validator return "
        "booleans alone or numbers alone, or choose another criterion."
    )


def criterion_values(by_cell: ByCell, criterion: str) -> list[Any]:
    """Every judged value of the criterion over valid runs, as `criterion_measure` takes them."""
    runs = (run for runs in by_cell.values() for run in valid_runs(runs))
    return [run.metrics[criterion] for run in runs if criterion in run.metrics]


def _mixture(kinds: set[Any]) -> str:
    return (
        "mixes booleans and numbers"
        if kinds == {"rate", "median"}
        else "has values that are no boolean and no number up to 1e150"
    )


def _metric(name: str, expected: str) -> Callable[[Run], float | None]:
    def extract(run: Run) -> float | None:
        if name not in run.metrics:
            return None
        value = run.metrics[name]
        if kind(value) != expected:
            raise VerdictError(
                f"The criterion {name} is {value!r} in run {run.id} and of another type in other runs: have its "
                "validator return booleans alone or numbers alone, or choose another criterion."
            )
        return float(value)

    return extract


def _usage(name: str) -> Callable[[Run], float | None]:
    return lambda run: run.usage.get(name)


def _duration(run: Run) -> float | None:
    return run.duration


def _price(x: float) -> str:
    """An amount with four decimals, or as many as it takes not to read as zero."""
    text = f"{x:,.4f}".replace(",", " ")
    return plain(x) if float(text.replace(" ", "")) == 0 else text

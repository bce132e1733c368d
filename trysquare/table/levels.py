"""The cost table: what a run of each cell costs, as levels that carry no state."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from trysquare.measure.aggregate import valid_runs
from trysquare.table.markdown import table
from trysquare.table.measures import ByCell, Measure, ordered, sample
from trysquare.verdict import DRAWS, SEED, bounds, decimals_of, distributions, fixed, plain
from trysquare.verdict import sample as plain_numbers
from trysquare.verdict.keyed import Keyed


@dataclass(frozen=True)
class Level(Keyed):
    """The statistic of one sample of `n` values, and its resampled 95 % interval."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class SpendRow(Keyed):
    """One cell: `n` runs that count, and per measure a level, None where no run reports it."""

    cell: str
    n: int
    levels: Mapping[str, Level | None]


def spend_rows(
    by_cell: ByCell,
    measures: Sequence[Measure],
    validity: Sequence[str] = (),
    order: Sequence[str] = (),
    draws: int = DRAWS,
    seed: int = SEED,
) -> list[SpendRow]:
    """One row per cell, one level per measure, each from that cell alone.

    Taken over the runs a verdict rests on. A run that delivered nothing is cheap by construction, and would make the
    cell that fails most often look like the affordable one.
    """
    cells = ordered(by_cell, order)
    levels: dict[str, dict[str, Level | None]] = {cell: {} for cell in cells}
    for measure in measures:
        samples = {cell: sample(runs, measure, validity) for cell, runs in cells.items()}
        judged = {cell: plain_numbers(values) for cell, values in samples.items() if values}
        drawn = distributions([((values,), measure.stat) for values in judged.values()], draws, seed)
        found = {
            cell: Level(float(measure.stat(values)), *bounds(of_cell), len(values))
            for (cell, values), of_cell in zip(judged.items(), drawn, strict=True)
        }
        for cell in cells:
            levels[cell][measure.name] = found.get(cell)
    return [SpendRow(cell, len(valid_runs(runs, validity)), levels[cell]) for cell, runs in cells.items()]


def spend_table(rows: Sequence[SpendRow], measures: Sequence[Measure], draws: int, seed: int) -> str:
    """The cost table in markdown: the median and its 95 % interval, `-` where no run reports one."""
    lines = [
        (row.cell, str(row.n), *(level_entry(row.levels[each.name], each, row.n) for each in measures)) for row in rows
    ]
    return (
        f"Median and 95 % interval, {plain(draws)} draws, seed {seed}.\n\n"
        f"{table(('cell', 'n', *(each.name for each in measures)), lines)}"
    )


def level_entry(level: Level | None, measure: Measure, n: int | None = None) -> str:
    """A level with its interval, `11 502 [9 800, 12 400]`, and of how many runs where it is not of all `n`."""
    if level is None:
        return "-"
    of = "" if n is None or level.n == n else f" ({level.n} of {n} runs)"
    return f"{measure.render(level.value)} [{measure.render(level.low)}, {measure.render(level.high)}]{of}"


def aligned(measure: Measure, rows: Iterable[SpendRow]) -> Measure:
    """The measure with its levels written alike: with the decimals of the one that has most."""
    levels = [level for row in rows if (level := row.levels[measure.name]) is not None]
    decimals = [decimals_of(x) for level in levels for x in (level.value, level.low, level.high)]
    return replace(measure, render=fixed(max(decimals, default=0)))

"""The score table, what each cell did test by test, and the same across two matrices."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trysquare.measure.aggregate import Run, metric_kind, rate, valid_runs
from trysquare.measure.stream import counted
from trysquare.table.markdown import escaped, table
from trysquare.table.measures import ByCell, ordered
from trysquare.verdict.keyed import Keyed

Rate = tuple[int, int]
"""How many runs had a metric true, out of how many could say."""


@dataclass(frozen=True)
class ScoreRow(Keyed):
    """One cell: how many of its runs are valid, how many are not, and per test the rate."""

    cell: str
    n: int
    invalid: int
    rates: Mapping[str, Rate]


@dataclass(frozen=True)
class CompareRow(Keyed):
    """One cell in two matrices: per test the rate on either side, None for a side without the cell."""

    cell: str
    rates: Mapping[str, tuple[Rate | None, Rate | None]]


def scored_metrics(runs: Iterable[Run], declared: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split the declared metrics into those that are true or false in every valid run, and the rest; order is kept."""
    runs = list(runs)
    tests = [name for name in declared if metric_kind(runs, name) == "rate"]
    return tests, [name for name in declared if name not in tests]


def score_rows(by_cell: ByCell, tests: Sequence[str], order: Sequence[str] = ()) -> list[ScoreRow]:
    """One row per cell, one rate per test, over the valid runs that could judge it.

    Not filtered by validity: its metrics are columns of this table, and would read as always true.
    """
    rows = []
    for cell, runs in ordered(by_cell, order).items():
        valid = valid_runs(runs)
        rows.append(ScoreRow(cell, len(valid), len(runs) - len(valid), {test: rate(valid, test) for test in tests}))
    return rows


def score_table(rows: Sequence[ScoreRow], tests: Sequence[str], others: Mapping[str, str] | Sequence[str] = ()) -> str:
    """The score table in markdown.

    Parameters
    ----------
    rows, tests
        As `score_rows` makes and takes them.
    others
        The declared metrics that are no test, with what they are where it is known: they are named under the table.
    """
    lines = [(row.cell, *(rate_entry(row.rates[test]) for test in tests)) for row in rows]
    notes = [
        f"Not valid: {row.invalid} of {row.invalid + row.n} runs of {escaped(row.cell)}." for row in rows if row.invalid
    ]
    if others:
        named = [f"{name} ({what})" for name, what in others.items()] if isinstance(others, Mapping) else others
        notes.append(f"Declared and not true or false in every run: {', '.join(map(escaped, named))}.")
    return table(("cell", *tests), lines) + "".join(f"\n{note}\n" for note in notes)


def rate_entry(value: Rate | None) -> str:
    """`x/n`, and `-` when no run could say."""
    return f"{value[0]}/{value[1]}" if value is not None and value[1] else "-"


def compare_rows(left: ByCell, right: ByCell, tests: Sequence[str]) -> list[CompareRow]:
    """One row per cell of either matrix: rates alone and no verdict, which only one matrix holding both could give."""
    return [
        CompareRow(cell, {test: (_rate(left, cell, test), _rate(right, cell, test)) for test in tests})
        for cell in dict.fromkeys((*left, *right))
    ]


def _rate(by_cell: ByCell, cell: str, test: str) -> Rate | None:
    return rate(valid_runs(by_cell[cell]), test) if cell in by_cell else None


def compare_table(rows: Sequence[CompareRow], tests: Sequence[str], left: str, right: str) -> str:
    """The rates of two matrices side by side in markdown, `x/n -> y/n`, where `left` and `right` name them."""
    lines = [
        (row.cell, *(f"{rate_entry(row.rates[test][0])} -> {rate_entry(row.rates[test][1])}" for test in tests))
        for row in rows
    ]
    return f"{escaped(left)} -> {escaped(right)}\n\n{table(('cell', *tests), lines)}"


def retry_warning(by_cell: ByCell) -> str:
    """Sentences on the cells whose cost columns must not be read; empty when it is known that nothing was retried."""
    retried, unknown = [], []
    for cell, runs in by_cell.items():
        counts = [run.usage.get("retries") for run in valid_runs(runs)]
        known = [count for count in counts if count]
        if known:
            total = counted(round(sum(known)), "retry", "retries")
            retried.append(f"{cell} ({total} in {len(known)} of {len(counts)} runs)")
        if None in counts:
            unknown.append(f"{cell} ({counts.count(None)} of {len(counts)} runs)")
    sentences = []
    if retried:
        sentences.append(
            f"The provider's answers were retried, in {', '.join(retried)}: a retry replays the turn with the whole "
            "context, so the tokens, turns, duration and cost of these cells must not be read, nor a gap on either "
            "side of which they are."
        )
    if unknown:
        sentences.append(f"It is not known how often the provider's answers were retried in {', '.join(unknown)}.")
    return " ".join(sentences)

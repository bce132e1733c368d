"""Layer 3: the gap table of the bench, computed again from its own published rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trysquare.parity.published import VALIDITY, read_bench_measures, refuse_unjudged
from trysquare.table import Measure, cost_measures, criterion_measure, criterion_values, gap_rows
from trysquare.table.markdown import table
from trysquare.verdict import State, Verdict, enough, excludes_zero
from trysquare.verdict.keyed import Keyed


@dataclass(frozen=True)
class Case(Keyed):
    """One gap: `rendered` is what a reader sees, the gap and its mark; `low` and `high` bound its interval."""

    gap: float
    low: float
    high: float
    p: float
    state: State
    rendered: str
    reference_runs: int
    runs: int


@dataclass(frozen=True)
class Row(Keyed):
    """One cell against the reference: `n` runs that count, and a case per measure, None where nothing was judged."""

    cell: str
    n: int
    cases: Mapping[str, Case | None]


def layer3(measures_path: str | Path, reference: str = "base", criterion: str = "overflow") -> list[Row]:
    """The gap table of the published rows, for `compare` with the one that was published.

    A gap is marked as the bench marked it, by its interval alone: that fewer than four runs a side establish nothing
    is a rule of this tool.

    Raises
    ------
    TrysquareError
        When the file is none, or its reference cell has no run that counts.
    """
    by_cell = read_bench_measures(measures_path)
    refuse_unjudged(measures_path, reference, criterion)
    measures = (*cost_measures(), criterion_measure(criterion, criterion_values(by_cell, criterion)))
    return [
        Row(row.cell, row.n, {measure.name: _case(row.cases[measure.name], measure) for measure in measures})
        for row in gap_rows(by_cell, reference, measures, VALIDITY)
    ]


def _case(verdict: Verdict | None, measure: Measure) -> Case | None:
    if verdict is None:
        return None
    state: State = "established" if excludes_zero(verdict.low, verdict.high) else "inconclusive"
    rendered = f"{measure.render(verdict.gap)} {'*' if state == 'established' else 'o'}"
    bounds = (verdict.gap, verdict.low, verdict.high, verdict.p)
    return Case(*bounds, state, rendered, verdict.reference_runs, verdict.runs)


def compare(rows: Sequence[Row], expected: Mapping[str, Mapping[str, str]]) -> list[str]:
    """How computed rows differ from a published table, a line each; none when they agree.

    `expected` maps cells to measures to what was published, as text: `+11 502 *`, or `+11 502` where only the number
    was. Texts are compared and no digits behind them, since a reader saw texts. Kinds of spaces do not count.
    """
    computed = {row.cell: row for row in rows}
    found = [f"{cell} is published and was not computed" for cell in expected if cell not in computed]
    for cell, row in computed.items():
        if cell not in expected:
            found.append(f"{cell} is computed and was not published")
            continue
        for name in dict.fromkeys((*row.cases, *expected[cell])):
            published, case = expected[cell].get(name), row.cases.get(name)
            ours, theirs = _plain("-" if case is None else case.rendered), _plain(published or "")
            if published is None or name not in row.cases:
                which = "computed and was not published" if published is None else "published and was not computed"
                found.append(f"{cell}, {name} is {which}")
            elif theirs not in (ours, ours.removesuffix(" *").removesuffix(" o")):
                found.append(f"{cell}, {name}: published {theirs}, computed {ours}")
    return found


def _plain(text: str) -> str:
    return " ".join(text.split())


def markdown(rows: Sequence[Row]) -> str:
    """The rows as a table."""
    names = list(dict.fromkeys(name for row in rows for name in row.cases))
    lines = [
        (row.cell, str(row.n), *("-" if (case := row.cases[name]) is None else case.rendered for name in names))
        for row in rows
    ]
    return table(("cell", "n", *names), lines)


def weak(rows: Sequence[Row]) -> list[str]:
    """The gaps the bench marks and this tool would not, because of too few runs."""
    return [
        f"{row.cell}, {name}: marked with {case.runs} runs against {case.reference_runs}, which this tool does not do"
        for row in rows
        for name, case in row.cases.items()
        if case is not None and case.state == "established" and not enough(case.runs, case.reference_runs)
    ]

"""The gap table: which differences from the reference cell survive resampling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trysquare.measure.aggregate import tally, valid_runs
from trysquare.table.markdown import escaped, table
from trysquare.table.measures import ByCell, Measure, sample
from trysquare.verdict import DRAWS, SEED, Verdict, VerdictError, judge_all, p_text, plain
from trysquare.verdict.keyed import Keyed

NOTHING = "nothing: no gap survives resampling"
CAUTION = (
    "caution: established by resampling and not by the exact test, whose p-value is above 0.05; measure more "
    "repetitions before anything rests on it"
)


@dataclass(frozen=True)
class GapRow(Keyed):
    """One cell against the reference: `n` runs that count, and per measure a verdict, None where nothing was judged."""

    cell: str
    n: int
    cases: Mapping[str, Verdict | None]


def gap_rows(
    by_cell: ByCell,
    reference: str,
    measures: Sequence[Measure],
    validity: Sequence[str] = (),
    draws: int | None = None,
    seed: int | None = None,
) -> list[GapRow]:
    """One row per cell other than the reference, one verdict per measure.

    Only runs that are valid and have every metric of `validity` true enter, and of these only the ones where the
    measure was judged. Holm's adjustment runs over every gap of the table, row by row.

    Raises
    ------
    VerdictError
        When there is no such reference cell, or none of its runs is left.
    """
    _check_reference(by_cell, reference, validity)
    base = {measure.name: sample(by_cell[reference], measure, validity) for measure in measures}
    places, pairs = [], []
    for cell, runs in by_cell.items():
        for measure in measures:
            values = sample(runs, measure, validity)
            if cell != reference and values and base[measure.name]:
                places.append((cell, measure.name))
                pairs.append((base[measure.name], values, measure.stat))
    judged = judge_all(pairs, DRAWS if draws is None else draws, SEED if seed is None else seed)
    verdicts = dict(zip(places, judged, strict=True))
    return [
        GapRow(cell, len(valid_runs(runs, validity)), {each.name: verdicts.get((cell, each.name)) for each in measures})
        for cell, runs in by_cell.items()
        if cell != reference
    ]


def _check_reference(by_cell: ByCell, reference: str, validity: Sequence[str]) -> None:
    if reference not in by_cell:
        raise VerdictError(
            f"There is no reference cell {reference!r}: choose one of {', '.join(by_cell) or 'none measured'}."
        )
    counts = tally(by_cell[reference], validity)
    if not counts.kept:
        raise VerdictError(
            f"The reference cell {reference!r} has no run to compare with ({counts.sentence()}): the measures are "
            "intact, so choose another reference or another [verdict].validity and run `render` alone again."
        )


def gap_table(rows: Sequence[GapRow], measures: Sequence[Measure], draws: int, seed: int) -> str:
    """The gap table in markdown, and under it what is publishable.

    An entry is the gap with its mark: `*` established, `o` inconclusive, `* (!)` established with a caution, and `-`
    where nothing was judged.
    """
    lines = [(row.cell, str(row.n), *(entry(row.cases[each.name], each) for each in measures)) for row in rows]
    publishable = [f"- {finding(row.cell, *case)}" for row in rows for case in established(row, measures)]
    return (
        f"{plain(draws)} draws, seed {seed}: `*` established, `o` inconclusive, `(!)` to be read with caution.\n\n"
        f"{table(('cell', 'n', *(each.name for each in measures)), lines)}\n"
        "What is publishable:\n\n" + "\n".join(publishable or [NOTHING]) + "\n"
    )


def entry(verdict: Verdict | None, measure: Measure) -> str:
    """A gap and its mark."""
    if verdict is None:
        return "-"
    return f"{measure.render(verdict.gap)} {mark(verdict)}"


def mark(verdict: Verdict) -> str:
    """`*` established, `o` inconclusive, `* (!)` established and not by the exact test."""
    return "* (!)" if verdict.caution else "*" if verdict.established else "o"


def established(row: GapRow, measures: Sequence[Measure]) -> list[tuple[Measure, Verdict]]:
    """The established gaps of a row, in the order of the columns."""
    cases = [(each, row.cases[each.name]) for each in measures]
    return [(each, case) for each, case in cases if case is not None and case.established]


def finding(cell: str, measure: Measure, verdict: Verdict) -> str:
    """One gap with everything a reader needs to weigh it, as one line of markdown."""
    low, high = measure.render(verdict.low), measure.render(verdict.high)
    text = (
        f"{escaped(cell)}, {escaped(measure.name)}: {measure.render(verdict.gap)}, 95 % interval [{low}, {high}], "
        f"{p_text(verdict.p)}, {p_text(verdict.holm, 'Holm p')}, {p_text(verdict.exact, 'exact p')}"
    )
    return f"{text} ({CAUTION})" if verdict.caution else text

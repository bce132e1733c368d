"""The tables of the page, from the rows and in the notation of `trysquare.table`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trysquare.synthesis.model import Synthesis
from trysquare.table import GapRow, Level, Measure, SpendRow, rate_entry
from trysquare.verdict import Verdict, p_text, plain


@dataclass(frozen=True)
class Entry:
    """One entry: `state` is established, withheld, inconclusive or, for what carries none, empty."""

    text: str
    details: tuple[str, ...] = ()
    state: str = ""
    caution: bool = False

    @property
    def mark(self) -> str:
        """`*` established, also where it is withheld, `o` inconclusive."""
        return {"established": "*", "withheld": "*", "inconclusive": "o"}.get(self.state, "")


@dataclass(frozen=True)
class Table:
    """A line of entries per cell, and what has to be said under them."""

    columns: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Entry, ...]], ...]
    notes: tuple[str, ...] = ()


def scores(s: Synthesis) -> Table:
    """In how many runs each metric was true."""
    lines = tuple(
        (row.cell, tuple(Entry(rate_entry(row.rates[test])) for test in s.tables.tests)) for row in s.tables.scores
    )
    return Table(s.tables.tests, lines, (*counting(s), *notes(s)))


def counting(s: Synthesis) -> tuple[str, ...]:
    """Why the counts of the score table differ from those of the others; nothing where they are the same."""
    if all(score.n == cost.n for score, cost in zip(s.tables.scores, s.tables.costs, strict=True)):
        return ()
    true = f"{' and '.join(s.validity)} {'is' if len(s.validity) == 1 else 'are'} true"
    return (f"Scores count every valid run; medians, costs and gaps only those in which {true}, so n may be smaller.",)


def notes(s: Synthesis) -> tuple[str, ...]:
    """What stands under the score table: the metrics that are no test, and the cells with runs that are not valid."""
    named = ", ".join(f"{name} ({what})" for name, what in s.tables.others.items())
    invalid = (
        f"Not valid: {row.invalid} of {row.invalid + row.n} runs of {row.cell}."
        for row in s.tables.scores
        if row.invalid
    )
    return (*((f"Declared, and not yes or no in every run: {named}.",) if named else ()), *invalid)


def medians(s: Synthesis) -> Table:
    """The levels of the declared numbers."""
    return _levels(s.tables.medians, s.tables.numbers)


def costs(s: Synthesis) -> Table:
    """What a run took."""
    return _levels(s.tables.costs, s.tables.levels)


def _levels(rows: Iterable[SpendRow], measures: Sequence[Measure]) -> Table:
    lines = tuple(
        (row.cell, (Entry(plain(row.n)), *(_level(row.levels[each.name], each, row.n) for each in measures)))
        for row in rows
    )
    return Table(("n", *_names(measures)), lines)


def gaps(s: Synthesis) -> Table:
    """The differences from the reference."""
    barred = withheld(s)
    lines = tuple(
        (
            row.cell,
            (
                Entry(plain(row.n)),
                *(
                    _gap(row.cases[each.name], each, (row.cell, each.name) in barred, judged(s, row, each))
                    for each in s.tables.measures
                ),
            ),
        )
        for row in s.tables.gaps
    )
    return Table(("n", *_names(s.tables.measures)), lines, counting(s))


def judged(s: Synthesis, row: GapRow, measure: Measure) -> str:
    """Of how many of the runs that count a gap is, on either side; empty where it is of all of them."""
    verdict, reference = row.cases[measure.name], next(each.n for each in s.tables.costs if each.cell == s.reference)
    if verdict is None or (verdict.runs, verdict.reference_runs) == (row.n, reference):
        return ""
    return f"judged {verdict.runs} of {row.n}, reference {verdict.reference_runs} of {reference}"


def withheld(s: Synthesis) -> frozenset[tuple[str, str]]:
    """Cell and column of every established gap that must not be quoted."""
    return frozenset((claim.cell, claim.column) for claim in s.withheld)


def _names(measures: Iterable[Measure]) -> tuple[str, ...]:
    return tuple(measure.name for measure in measures)


def _level(level: Level | None, measure: Measure, n: int) -> Entry:
    if level is None:
        return Entry("-")
    of = () if level.n == n else (f"{level.n} of {n} runs",)
    return Entry(measure.render(level.value), (f"{measure.render(level.low)} to {measure.render(level.high)}", *of))


def _gap(verdict: Verdict | None, measure: Measure, barred: bool, of: str) -> Entry:
    if verdict is None:
        return Entry("-")
    interval = f"{measure.render(verdict.low)} to {measure.render(verdict.high)}"
    details = (interval, p_text(verdict.holm, "Holm p"), *([of] if of else []))
    state = "withheld" if barred else verdict.state
    return Entry(measure.render(verdict.gap), details, state, verdict.caution)

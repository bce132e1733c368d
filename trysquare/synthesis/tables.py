"""The three tables of the page, from the rows and in the notation of `trysquare.table`."""

from collections.abc import Iterable
from dataclasses import dataclass

from trysquare.synthesis.model import Synthesis
from trysquare.table import Level, Measure, rate_entry
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
    return Table(s.tables.tests, lines, notes(s))


def notes(s: Synthesis) -> tuple[str, ...]:
    """What stands under the score table: the metrics that are no test, and the cells with runs that are not valid."""
    named = ", ".join(f"{name} ({what})" for name, what in s.tables.others.items())
    invalid = (
        f"Not valid: {row.invalid} of {row.invalid + row.n} runs of {row.cell}."
        for row in s.tables.scores
        if row.invalid
    )
    return (*((f"Declared, and not yes or no in every run: {named}.",) if named else ()), *invalid)


def costs(s: Synthesis) -> Table:
    """What a run took."""
    lines = tuple(
        (row.cell, (Entry(plain(row.n)), *(_level(row.levels[each.name], each) for each in s.tables.levels)))
        for row in s.tables.costs
    )
    return Table(("n", *_names(s.tables.levels)), lines)


def gaps(s: Synthesis) -> Table:
    """The differences from the reference."""
    barred = withheld(s)
    lines = tuple(
        (
            row.cell,
            (
                Entry(plain(row.n)),
                *(_gap(row.cases[each.name], each, (row.cell, each.name) in barred) for each in s.tables.measures),
            ),
        )
        for row in s.tables.gaps
    )
    return Table(("n", *_names(s.tables.measures)), lines)


def withheld(s: Synthesis) -> frozenset[tuple[str, str]]:
    """Cell and column of every established gap that must not be quoted."""
    return frozenset((claim.cell, claim.column) for claim in s.withheld)


def _names(measures: Iterable[Measure]) -> tuple[str, ...]:
    return tuple(measure.name for measure in measures)


def _level(level: Level | None, measure: Measure) -> Entry:
    if level is None:
        return Entry("-")
    return Entry(measure.render(level.value), (f"{measure.render(level.low)} to {measure.render(level.high)}",))


def _gap(verdict: Verdict | None, measure: Measure, barred: bool) -> Entry:
    if verdict is None:
        return Entry("-")
    details = (f"{measure.render(verdict.low)} to {measure.render(verdict.high)}", p_text(verdict.holm, "Holm p"))
    state = "withheld" if barred else verdict.state
    return Entry(measure.render(verdict.gap), details, state, verdict.caution)

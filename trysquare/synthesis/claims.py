"""Every gap as something that may be said, or that may not."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trysquare.measure import Run, Tally, counted, tally, valid_runs
from trysquare.synthesis.barring import Bars
from trysquare.synthesis.model import Claim
from trysquare.table import GapRow, Measure, finding, sample
from trysquare.table.measures import ByCell
from trysquare.verdict import ALPHA, MINIMUM, Verdict, enough, excludes_zero, mean, p_text, plain

PHRASES = {
    "in": ("input tokens", "the median run takes more input tokens", "the median run takes fewer input tokens"),
    "out": ("output tokens", "the median run writes more output tokens", "the median run writes fewer output tokens"),
    "turns": ("turns", "the median run takes more turns", "the median run takes fewer turns"),
    "duration": ("duration", "the median run takes longer", "the median run takes less time"),
}
UNEXACT = (
    "The exact test does not confirm this gap ({exact}, above 0.05): say so with it, and measure more repetitions "
    "before anything rests on it."
)

SAME = "every draw gave this same gap, so a rarer or finer difference than these runs can show is not excluded"

MANY = "Where so many gaps are tested at once, chance alone can give one like this ({holm})."


@dataclass(frozen=True)
class Claims:
    """The gaps of a table, sorted by what a reader may do with them."""

    said: tuple[Claim, ...]
    withheld: tuple[Claim, ...]
    unsaid: tuple[Claim, ...]


def claims(
    rows: Sequence[GapRow], measures: Sequence[Measure], by_cell: ByCell, validity: Sequence[str], bars: Bars
) -> Claims:
    """Sort every gap, the criterion before the costs: established ones may be said where nothing bars them."""
    said, withheld, unsaid = [], [], []
    last = len(measures) - 1
    reference = bars.reference
    left_out = {cell: _left_out(cell, tally(runs, validity)) for cell, runs in by_cell.items()}
    criterion = measures[last].name
    unjudged = {cell: _unjudged(cell, criterion, valid_runs(runs, validity)) for cell, runs in by_cell.items()}
    for row in rows:
        for position in (last, *range(last)):
            measure, cost = measures[position], position < last
            samples = [sample(by_cell[cell], measure, validity) for cell in (row.cell, reference)]
            verdict = row.cases[measure.name]
            claim = _claim(row.cell, measure, verdict, samples, cost)
            if verdict is None or not verdict.established:
                unsaid.append(claim)
            elif reasons := bars.against(row.cell, cost=cost):
                withheld.append(replace(claim, cautions=reasons))
            else:
                partial = [left_out[cell] for cell in (row.cell, reference)]
                partial += [] if cost else [unjudged[cell] for cell in (row.cell, reference)]
                said.append(replace(claim, cautions=(*claim.cautions, *filter(None, partial))))
    return Claims(tuple(said), tuple(withheld), tuple(unsaid))


def _left_out(cell: str, counts: Tally) -> str:
    if counts.kept == counts.runs:
        return ""
    return f"Of the {counted(counts.runs, 'run')} of {cell} only {counts.kept} count here; the warnings say why."


def _unjudged(cell: str, criterion: str, runs: Sequence[Run]) -> str:
    missing = sum(criterion in run.unjudged for run in runs)
    if not missing:
        return ""
    return f"Of the {counted(len(runs), 'run')} of {cell} that count, {missing} could not be judged, left out here."


def level(measure: Measure, values: Sequence[float]) -> str:
    """The level of a sample in words: `7 of 10`, or a median with its unit."""
    if not values:
        return "no run judged"
    if measure.stat is mean:
        return f"{plain(sum(values))} of {plain(len(values))}"
    return _united(measure, _amount(measure.stat(values)))


def _levels(measure: Measure, samples: Sequence[Sequence[float]]) -> tuple[str, str]:
    """The levels of a cell and of the reference, with as many decimals as it takes to tell different ones apart."""
    first, second = (level(measure, values) for values in samples)
    if measure.stat is mean:
        return f"{first} runs" if samples[0] else first, second
    decimals = 1
    while first == second and all(samples) and measure.stat(samples[0]) != measure.stat(samples[1]):
        texts = (f"{measure.stat(values):,.{decimals}f}".replace(",", " ") for values in samples)
        first, second = (_united(measure, text) for text in texts)
        decimals += 1
    return first, second


def _united(measure: Measure, amount: str) -> str:
    return f"{amount} s" if measure.name == "duration" else amount


def words(measure: Measure, cost: bool) -> tuple[str, str, str]:
    """A measure in words: its name, and the clause that says there is more of it, or less."""
    name = measure.name
    if cost:
        return PHRASES[name]
    if measure.stat is mean:
        return name, f"{name} is true more often", f"{name} is true less often"
    return name, f"the median {name} is higher", f"the median {name} is lower"


def _amount(value: float) -> str:
    """A level with a decimal where rounding would swallow a gap in it."""
    return plain(value) if abs(value) < 1 or abs(value) >= 10 or value == int(value) else f"{value:.1f}"


def _claim(cell: str, measure: Measure, verdict: Verdict | None, samples: list[list[float]], cost: bool) -> Claim:
    name, more, less = words(measure, cost)
    levels = _levels(measure, samples)
    if verdict is None:
        return Claim(cell, name, measure.name, "", levels, "-", "-", cautions=("nothing to compare",))
    return Claim(
        cell=cell,
        measure=name,
        column=measure.name,
        relation=more if verdict.gap > 0 else less,
        levels=levels,
        gap=measure.render(verdict.gap),
        interval=f"{measure.render(verdict.low)} to {measure.render(verdict.high)}",
        figures=(p_text(verdict.p), p_text(verdict.holm, "Holm p"), p_text(verdict.exact, "exact p")),
        cautions=_cautions(verdict),
        finding=finding(cell, measure, verdict),
    )


def _cautions(verdict: Verdict) -> tuple[str, ...]:
    if verdict.established:
        exact = (UNEXACT.format(exact=p_text(verdict.exact)),) if verdict.caution else ()
        many = (MANY.format(holm=p_text(verdict.holm, "Holm p")),) if verdict.holm > ALPHA else ()
        return exact + many
    if not enough(verdict.reference_runs, verdict.runs):
        few = f"{verdict.runs} and {verdict.reference_runs} runs are too few, each side needs {MINIMUM}"
        return (f"{few}, although zero is outside" if excludes_zero(verdict.low, verdict.high) else few,)
    return (SAME,) if verdict.low == verdict.high else ()

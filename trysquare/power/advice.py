"""What to plan for, in sentences: how large a gap the repetitions at hand establish, and how many a gap needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from trysquare.matrix import Matrix, VerdictPlan
from trysquare.measure import counted, metric_kind
from trysquare.plots import exact, exact_signed
from trysquare.power.simulation import (
    DRAWS,
    LIMIT,
    SIMULATIONS,
    Plan,
    Population,
    archived,
    needed_repetitions,
    power,
    reaches,
    smallest_gap,
)
from trysquare.table.measures import ByCell, Measure, column, cost_measures, criterion_measure, criterion_values, sample
from trysquare.verdict import MINIMUM, VerdictError, mean, plain

TARGET = 0.8
"""The chance of establishing a gap that is planned for when nobody says otherwise."""
LADDER = (0.2, 0.4, 0.6)
"""The gaps in a rate that are looked at when none is asked for."""
STEPS = (0.5, 1.0, 2.0)
"""The same for a number, in standard deviations of one run."""
WORDS = {"in": "input tokens", "out": "output tokens", "turns": "turns", "duration": "duration"}
"""The measures of cost as a sentence names them."""


@dataclass(frozen=True)
class Question:
    """The experiment that is planned: how it is judged, which metrics it declares, how often a cell is measured."""

    title: str
    verdict: VerdictPlan
    declared: tuple[str, ...]
    repetitions: int
    cells: tuple[str, ...]

    @classmethod
    def of(cls, matrix: Matrix) -> "Question":
        """The experiment of a frozen plan."""
        title, repetitions = matrix.experiment.title, matrix.protocol.repetitions
        return cls(title, matrix.verdict, matrix.declared, repetitions, tuple(matrix.cells))

    @property
    def columns(self) -> Mapping[str, str]:
        """The declared metrics by the names of their columns."""
        return {column(metric): metric for metric in self.declared}

    def measure(self, name: str | None) -> str:
        """The measure of this name, the criterion when none is named.

        Raises
        ------
        VerdictError
            When there is no such measure.
        """
        known = [*self.columns, *WORDS]
        name = column(self.verdict.criterion) if name is None else name
        if name not in known:
            raise VerdictError(f"There is no measure {name!r}: choose one of {', '.join(known)}.")
        return name


@dataclass(frozen=True)
class Basis:
    """What a plan rests on: a measure, a population, and sentences on where that is from.

    `whole` says that every value of the measure is an integer, `rehearsed` that a script played the model.
    """

    measure: str
    population: Population
    said: tuple[str, ...]
    whole: bool = False
    rehearsed: bool = False

    @property
    def rate(self) -> bool:
        """Whether the measure is a share of true values."""
        return not self.population.residuals

    @property
    def words(self) -> str:
        """The measure as a sentence names it."""
        return WORDS.get(self.measure, self.measure)


@dataclass(frozen=True)
class Advice:
    """What to plan for.

    `smallest` is the smallest gap the repetitions at hand establish; each of `needed` is a gap and the repetitions it
    needs, and `now` has, at the same place, its chance with the repetitions at hand.
    """

    question: Question
    basis: Basis
    smallest: Plan
    needed: tuple[Plan, ...]
    now: tuple[float, ...]


def stated(question: Question, name: str | None, population: Population) -> Basis:
    """A population somebody stated, for one measure of the experiment, the criterion when none is named.

    Raises
    ------
    VerdictError
        When the experiment has no such measure, or a rate is stated for a number.
    """
    name = question.measure(name)
    if population.residuals:
        level = f"a median of {_amount(population.center, name)} and a spread of {_amount(population.spread, name, 2)}"
        return Basis(name, population, (f"Stated, not measured: {level} in {WORDS.get(name, name)}.",))
    if name in WORDS:
        raise VerdictError(f"{name} is a number and has no rate: state --median and --spread.")
    return Basis(name, population, (f"Stated, not measured: {name} is true in {percent(population.center)} of runs.",))


def measured(question: Question, name: str | None, by_cell: ByCell) -> Basis:
    """The population that the runs of a matrix make likely, for one measure, the criterion when none is named.

    Raises
    ------
    VerdictError
        When there is no such measure, or the runs say too little about it.
    """
    verdict = question.verdict
    measure = _measure(question, question.measure(name), by_cell)
    population = archived(by_cell, verdict.reference, measure, verdict.validity)
    samples = {cell: sample(runs, measure, verdict.validity) for cell, runs in by_cell.items()}
    values = [value for of_cell in samples.values() for value in of_cell]
    runs = [run for of_cell in by_cell.values() for run in of_cell]
    said = [_level(measure, population, verdict.reference, samples)]
    if len(values) < len(runs):
        said.append(
            f"Of {counted(len(runs), 'archived run')} {len(values)} count for {measure.name}: the repetitions below "
            "are runs that count, so plan for a few more."
        )
    return Basis(
        measure=measure.name,
        population=population,
        said=tuple(said),
        whole=all(value == int(value) for value in values),
        rehearsed=any(run.rehearsed for run in runs),
    )


def advise(question: Question, basis: Basis, gap: float | None = None, target: float = TARGET) -> Advice:
    """Simulate what the repetitions at hand establish, and what one gap needs, or a few gaps when none is given.

    Parameters
    ----------
    gap
        In the unit of the measure; of a rate, in points.
    target
        The chance of establishing a gap that is planned for.

    Raises
    ------
    VerdictError
        When the gap or the target cannot be planned for.
    """
    if not 0 < target < 1:
        raise VerdictError(f"A power of {target:g} is not between 0 and 1: state a chance, for instance 0.8.")
    if gap is not None and not (isfinite(gap) and gap):
        raise VerdictError(f"A gap of {gap:g} cannot be planned for: state a number other than 0.")
    population, here, seed = basis.population, question.repetitions, question.verdict.seed
    gaps = _ladder(basis) if gap is None else [gap / 100 if basis.rate else gap]
    now = tuple(power(population, each, here, seed=seed) for each in gaps)
    needed = tuple(needed_repetitions(population, each, target, seed=seed) for each in gaps)
    return Advice(question, basis, smallest_gap(population, here, target, seed=seed), needed, now)


def sentences(advice: Advice) -> tuple[str, ...]:
    """The plan in words."""
    found = smallest_sentence(advice.question, advice.basis, advice.smallest)
    return (
        *advice.basis.said,
        f"{found[0].upper()}{found[1:]}.",
        *(gap_sentence(advice, plan, now) for plan, now in zip(advice.needed, advice.now, strict=True)),
        method(advice),
    )


def smallest_sentence(question: Question, basis: Basis, smallest: Plan) -> str:
    """What the repetitions at hand establish, with a small letter and no full stop, so that it can go on a line."""
    start = f"with {counted(question.repetitions, 'repetition')} a cell"
    if question.repetitions < MINIMUM:
        return f"{start} no gap can be established, each side needs {MINIMUM}"
    gap, chance = smallest.gap, percent(smallest.target)
    if gap is None:
        return f"{start} no gap in {basis.words} is established with a chance of {chance}"
    text = gap_text(basis, gap if basis.rate else ceil(gap) if basis.whole else _rounded(gap, 3))
    return f"{start} a gap of {text} in {basis.words} is established with a chance of {chance}"


def gap_sentence(advice: Advice, plan: Plan, now: float) -> str:
    """What one gap needs, and its chance with the repetitions at hand."""
    assert plan.gap is not None
    gap = gap_text(advice.basis, plan.gap)
    chance = f"with {advice.question.repetitions} its chance is {percent(now)}"
    if plan.repetitions is None:
        most = f"more than {LIMIT} repetitions a cell, which give it a chance of {percent(plan.power)}"
        return f"A gap of {gap} needs {most}; {chance}."
    return f"A gap of {gap} needs {plan.repetitions} repetitions a cell; {chance}."


def method(advice: Advice) -> str:
    """How the chances were found."""
    return (
        f"Each chance is for one gap by itself, from {plain(SIMULATIONS)} simulated experiments judged as a real one "
        f"is ({plain(DRAWS)} draws, seed {advice.question.verdict.seed})."
    )


def header_line(question: Question, basis: Basis, source: str) -> str:
    """One line for the plan of a launch; `source` says what it rests on."""
    smallest = smallest_gap(basis.population, question.repetitions, TARGET, seed=question.verdict.seed)
    return f"power: {smallest_sentence(question, basis, smallest)} ({source})"


def gap_text(basis: Basis, gap: float) -> str:
    """A gap in the unit of its measure, no digit of it lost: `+12.5 pts`, `-1 234`, `+3.25 s`."""
    if basis.rate:
        return f"{exact_signed(100 * gap)} pts"
    return f"{exact_signed(gap)} s" if basis.measure == "duration" else exact_signed(gap)


def percent(share: float) -> str:
    """A share as a percentage with two digits, or as many as keep it from reading as none or as all."""
    digits = 2
    while 0 < share < 1 and float(f"{100 * share:.{digits}g}") in (0, 100) and digits < 12:
        digits += 1
    return f"{exact(float(f'{100 * share:.{digits}g}'))} %"


def _ladder(basis: Basis) -> list[float]:
    """The gaps that are looked at when none is asked for: upwards, or of a rate to the side with more room."""
    population = basis.population
    if basis.rate:
        side = 1 if population.center <= 0.5 else -1
        return [side * gap for gap in LADDER if reaches(population, side * gap)]
    gaps = [_rounded(step * population.spread, 2) for step in STEPS]
    return list(dict.fromkeys(max(1.0, float(round(gap))) for gap in gaps)) if basis.whole else gaps


def _measure(question: Question, name: str, by_cell: ByCell) -> Measure:
    costs = {measure.name: measure for measure in cost_measures()}
    if name in costs:
        return costs[name]
    metric = question.columns[name]
    if metric_kind([run for runs in by_cell.values() for run in runs], metric) == "diagnostic":
        raise VerdictError(
            f"{name} is neither true or false in every run nor a number in every run, and no statistic covers that: "
            "choose another measure."
        )
    return criterion_measure(metric, criterion_values(by_cell, metric))


def _level(measure: Measure, population: Population, reference: str, samples: Mapping[str, Sequence[float]]) -> str:
    values = samples[reference]
    if measure.stat is mean:
        return (
            f"Measured: {measure.name} was true in {plain(sum(values))} of {counted(len(values), 'run')} of "
            f"{reference}; {percent(population.center)} is assumed, since a few runs are no certainty."
        )
    behind = [len(of_cell) for of_cell in samples.values() if len(of_cell) > 1]
    return (
        f"Measured: {WORDS.get(measure.name, measure.name)} with a median of "
        f"{_amount(population.center, measure.name)} in {reference}, and a standard deviation of "
        f"{_amount(population.spread, measure.name, 2)} around the median of a cell "
        f"({counted(sum(behind), 'run')} of {counted(len(behind), 'cell')})."
    )


def _amount(value: float, name: str, digits: int = 0) -> str:
    """A level, to three digits or to the whole number, or to so many digits alone."""
    text = exact(_rounded(value, digits or max(3, len(str(int(abs(value)))))))
    return f"{text} s" if name == "duration" else text


def _rounded(value: float, digits: int) -> float:
    """A number rounded to this many digits."""
    return round(value, digits - 1 - floor(log10(abs(value)))) if value else 0.0

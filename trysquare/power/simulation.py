"""The chance to establish a gap, by simulating matrices and judging each by the rule of `trysquare.verdict`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from statistics import NormalDist

import numpy as np

from trysquare.table.measures import ByCell, Measure, sample
from trysquare.verdict import (
    MINIMUM,
    SEED,
    Statistic,
    VerdictError,
    bounds,
    distributions,
    enough,
    excludes_zero,
    mean,
    median,
)
from trysquare.verdict.resampling import Floats, Indices, blocks

SIMULATIONS = 1_000
"""Matrices simulated per point; the standard error of a power of 0.8 is then 0.013."""
DRAWS = 2_000
LIMIT = 200
"""The largest number of repetitions that is looked at."""


@dataclass(frozen=True)
class Population:
    """Where the runs of the reference cell are taken to come from.

    `center` is the share of true values, or the median; `residuals` are equally likely distances from that median,
    none for a rate. Another cell is the same population, its center moved by the gap.
    """

    center: float
    residuals: tuple[float, ...] = ()

    @property
    def stat(self) -> Statistic:
        """The statistic a gap is taken of."""
        return median if self.residuals else mean

    @cached_property
    def spread(self) -> float:
        """The standard deviation of one run."""
        return float(np.std(self.residuals)) if self.residuals else (self.center * (1 - self.center)) ** 0.5


@dataclass(frozen=True)
class Plan:
    """A gap, a number of repetitions a cell, and the share of simulated matrices in which it is established.

    `gap` or `repetitions` is None where the search found none within its limit; `power` is then that of the limit.
    """

    gap: float | None
    repetitions: int | None
    power: float
    target: float


@dataclass(frozen=True)
class Curve:
    """The power to establish one gap, by number of repetitions."""

    gap: float
    repetitions: tuple[int, ...]
    power: tuple[float, ...]


def stated_rate(rate: float) -> Population:
    """A metric that is true in this share of the reference runs."""
    if not 0 <= rate <= 1:
        raise VerdictError(f"A rate of {rate:g} is not between 0 and 1: state the share of runs expected to be true.")
    return Population(float(rate))


def stated_median(center: float, spread: float) -> Population:
    """A number with this median and standard deviation, taken as normally distributed."""
    if not 0 < spread < inf:
        raise VerdictError(f"A spread of {spread:g} is not above 0: state the standard deviation of one run.")
    if not isfinite(center):
        raise VerdictError(f"A median of {center:g} is no number: state what a run of the reference takes.")
    quantiles = (NormalDist(0, spread).inv_cdf((i + 0.5) / 999) for i in range(999))
    return Population(float(center), tuple(quantiles))


def archived(by_cell: ByCell, reference: str, measure: Measure, validity: Sequence[str] = ()) -> Population:
    """What the runs of a matrix say of a measure.

    A rate is that of the reference cell, drawn towards one half by half a run on either side, so that 10 of 10 is not
    taken as a certainty. A number has the median of the reference cell and the spread of every cell around its own.

    Raises
    ------
    VerdictError
        When the reference has no judged run, or no two runs of any cell differ.
    """
    samples = {cell: sample(runs, measure, validity) for cell, runs in by_cell.items()}
    values = samples.get(reference)
    if not values:
        raise VerdictError(f"No run of {reference!r} has {measure.name}: state a rate, or a median and a spread.")
    if measure.stat is mean:
        return Population((sum(values) + 0.5) / (len(values) + 1))
    residuals = tuple(distance for of_cell in samples.values() for distance in _residuals(of_cell))
    if not any(residuals):
        raise VerdictError(f"{measure.name} does not vary within any cell: state a median and a spread instead.")
    return Population(float(median(values)), residuals)


def _residuals(values: Sequence[float]) -> list[float]:
    """Distances from the median, widened for it having been taken from the same few values."""
    size = len(values)
    return [(value - median(values)) * (size / (size - 1)) ** 0.5 for value in values] if size > 1 else []


def power(
    population: Population, gap: float, repetitions: int, simulations: int = SIMULATIONS, seed: int = SEED
) -> float:
    """The share of simulated matrices in which this gap is established with this many runs in either cell.

    Raises
    ------
    VerdictError
        When the gap would move a rate beyond 0 or 1.
    """
    if not reaches(population, gap):
        raise VerdictError(
            f"A gap of {100 * gap:+.3g} pts from a rate of {100 * population.center:.3g} % ends beyond 0 or 100 %: "
            f"state one between {-100 * population.center:.3g} and {100 - 100 * population.center:+.3g} pts."
        )
    if not enough(repetitions, repetitions):
        return 0.0
    rng = np.random.default_rng([seed & 0xFFFFFFFF, repetitions])
    simulate = _numbers if population.residuals else _rates
    rows, counts = simulate(population, gap, (simulations, repetitions), rng, seed)
    found = sum(count for drawn, count in zip(rows, counts, strict=True) if excludes_zero(*bounds(drawn)))
    return float(found / simulations)


def reaches(population: Population, gap: float) -> bool:
    """Whether another cell can be this far from the reference: a rate stays between 0 and 1."""
    return bool(population.residuals) or 0 <= round(population.center + gap, 12) <= 1


def _numbers(
    population: Population, gap: float, shape: tuple[int, int], rng: np.random.Generator, seed: int
) -> tuple[Iterable[Floats], list[int]]:
    """The sorted draws of each simulated matrix, and ones.

    In sorted samples a draw picks the same ranks in every matrix, so that the ranks of its medians are found once.
    """
    reference, cell = np.sort(rng.choice(population.residuals, (2, *shape)), axis=2)
    parts = [
        _medians(cell, right) + gap - _medians(reference, left)
        for _, (left, right) in blocks((shape[1], shape[1]), DRAWS, seed)
    ]
    return np.sort(np.concatenate(parts, axis=1), axis=1), [1] * shape[0]


def _medians(ordered: Floats, indices: Indices) -> Floats:
    """The median of every draw from every sorted sample, of shape (samples, draws)."""
    middle = indices.shape[1] // 2
    picked = np.sort(indices, axis=1)[:, [middle - 1 + indices.shape[1] % 2, middle]]
    medians: Floats = ordered[:, picked].mean(axis=2)
    return medians


def _rates(
    population: Population, gap: float, shape: tuple[int, int], rng: np.random.Generator, seed: int
) -> tuple[Iterable[Floats], list[int]]:
    """The sorted draws of each pair of counts that came up, and how often it did."""
    simulations, size = shape
    rates = population.center, min(1.0, max(0.0, population.center + gap))
    tables, counts = np.unique([rng.binomial(size, rate, simulations) for rate in rates], axis=1, return_counts=True)
    outcomes = [(1.0,) * true + (0.0,) * (size - true) for true in range(size + 1)]
    families = [((outcomes[left], outcomes[right]), mean) for left, right in tables.T]
    return distributions(families, DRAWS, seed), counts.tolist()


def needed_repetitions(
    population: Population, gap: float, target: float = 0.8, simulations: int = SIMULATIONS, seed: int = SEED
) -> Plan:
    """The fewest repetitions that establish this gap with the target power, found by doubling and bisection."""

    def reached(size: int) -> float:
        return power(population, gap, size, simulations, seed)

    low, high = MINIMUM - 1, MINIMUM
    while (found := reached(high)) < target and high < LIMIT:
        low, high = high, min(LIMIT, 2 * high)
    if found < target:
        return Plan(gap, None, found, target)
    while high - low > 1:
        middle = (low + high) // 2
        at_middle = reached(middle)
        low, high, found = (low, middle, at_middle) if at_middle >= target else (middle, high, found)
    return Plan(gap, high, found, target)


def smallest_gap(
    population: Population, repetitions: int, target: float = 0.8, simulations: int = SIMULATIONS, seed: int = SEED
) -> Plan:
    """The smallest gap that this many repetitions establish with the target power.

    Of a rate in whole points and towards the side with more room, of a number upwards and to a twentieth of its
    standard deviation.
    """
    if population.residuals:
        unit, largest = population.spread / 20, 200
    else:
        side = 1 if population.center <= 0.5 else -1
        unit, largest = side / 100, int(100 * max(population.center, 1 - population.center) + 1e-9)

    def reached(steps: int) -> float:
        return power(population, steps * unit, repetitions, simulations, seed)

    steps, found = _first(reached, largest, target)
    return Plan(None if steps is None else steps * unit, repetitions, found, target)


def _first(reached: Callable[[int], float], largest: int, target: float) -> tuple[int | None, float]:
    """The smallest step that reaches the target by bisection, with its power; that of the largest when none does."""
    found = reached(largest)
    if found < target:
        return None, found
    low, high = 0, largest
    while high - low > 1:
        middle = (low + high) // 2
        at_middle = reached(middle)
        low, high, found = (low, middle, at_middle) if at_middle >= target else (middle, high, found)
    return high, found


def power_curve(
    population: Population,
    gap: float,
    repetitions: Sequence[int],
    simulations: int = SIMULATIONS,
    seed: int = SEED,
) -> Curve:
    """The power to establish this gap at each number of repetitions."""
    found = tuple(power(population, gap, size, simulations, seed) for size in repetitions)
    return Curve(gap, tuple(repetitions), found)

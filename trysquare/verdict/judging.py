"""The verdict on a gap: its interval, its p-value, and one of two states."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb
from statistics import median
from typing import Literal

import numpy as np

from trysquare.errors import TrysquareError
from trysquare.verdict.exact import Pair, companions
from trysquare.verdict.keyed import Keyed
from trysquare.verdict.resampling import DRAWS, SEED, Floats, Statistic, bounds, distributions, sample

MINIMUM = 4
"""How many runs each side needs for a gap to be established."""
ALPHA = 0.05

State = Literal["established", "inconclusive"]


class VerdictError(TrysquareError, ValueError):
    """No verdict can be given on these runs."""


@dataclass(frozen=True)
class Verdict(Keyed):
    """A judged gap.

    Attributes
    ----------
    gap, low, high
        The gap of the samples themselves, and the bounds of its resampled 95 % interval.
    p
        The two-sided share of draws at or beyond zero, raised to `floor`. It decides nothing.
    floor
        The smallest p-value that this many runs can give, 2 / C(n + m, n).
    state
        `established` when the interval excludes zero, both sides have at least `MINIMUM` runs and the floor is at
        most 0.05; else `inconclusive`.
    holm
        `p` adjusted for every gap judged beside this one.
    exact
        The p-value of the exact companion test.
    reference_runs, runs
        How many runs each side has.
    draws
        The sorted draws the interval was read from, read-only.
    """

    gap: float
    low: float
    high: float
    p: float
    floor: float
    state: State
    holm: float
    exact: float
    reference_runs: int
    runs: int
    draws: Floats = field(repr=False, compare=False)

    @property
    def established(self) -> bool:
        """Whether the gap may be published."""
        return self.state == "established"

    @property
    def caution(self) -> bool:
        """Whether the gap is established by resampling and not by the exact test."""
        return self.established and self.exact > ALPHA


def gap_draws(
    reference: Sequence[float], cell: Sequence[float], stat: Statistic = median, draws: int = DRAWS, seed: int = SEED
) -> list[float]:
    """The resampled values of `stat(cell) - stat(reference)`, sorted.

    Each draw picks with replacement from the reference first and from the cell then, in the order of the samples.
    """
    found: list[float] = _drawn([_pair(reference, cell, stat)], draws, seed)[0].tolist()
    return found


def gap_interval(
    reference: Sequence[float], cell: Sequence[float], stat: Statistic = median, draws: int = DRAWS, seed: int = SEED
) -> tuple[float, float]:
    """The bounds of the 95 % percentile interval of `stat(cell) - stat(reference)` (Efron 1979, Ann. Stat. 7, 1-26)."""
    return bounds(_drawn([_pair(reference, cell, stat)], draws, seed)[0])


def interval(
    values: Sequence[float], stat: Statistic = median, draws: int = DRAWS, seed: int = SEED
) -> tuple[float, float]:
    """The bounds of the 95 % percentile interval of `stat(values)`. A level has no state: it asserts no effect."""
    return bounds(distributions([((sample(values),), stat)], draws, seed)[0])


def judge(
    reference: Sequence[float], cell: Sequence[float], stat: Statistic = median, draws: int = DRAWS, seed: int = SEED
) -> Verdict:
    """The verdict on one gap, taken alone.

    Raises
    ------
    ValueError
        When a sample is empty or holds something other than numbers.
    """
    return judge_all([(reference, cell, stat)], draws, seed)[0]


def judge_all(
    pairs: Sequence[tuple[Sequence[float], Sequence[float], Statistic]], draws: int = DRAWS, seed: int = SEED
) -> tuple[Verdict, ...]:
    """The verdicts on every gap of a table, each a reference sample, a cell sample and a statistic.

    The same verdicts as one by one, faster, with `holm` taken over all of them in the order given.
    """
    clean = [_pair(*pair) for pair in pairs]
    drawn = _drawn(clean, draws, seed)
    floors = [2 / comb(len(reference) + len(cell), len(cell)) for reference, cell, _ in clean]
    shares = [_share(values, floor) for values, floor in zip(drawn, floors, strict=True)]
    parts = zip(clean, drawn, floors, shares, holm(shares), companions(clean, seed), strict=True)
    return tuple(_verdict(*part) for part in parts)


def _verdict(pair: Pair, drawn: Floats, floor: float, p: float, adjusted: float, exact: float) -> Verdict:
    reference, cell, stat = pair
    low, high = bounds(drawn)
    return Verdict(
        gap=float(stat(cell) - stat(reference)),
        low=low,
        high=high,
        p=p,
        floor=floor,
        state="established" if excludes_zero(low, high) and enough(len(reference), len(cell)) else "inconclusive",
        holm=adjusted,
        exact=exact,
        reference_runs=len(reference),
        runs=len(cell),
        draws=drawn,
    )


def excludes_zero(low: float, high: float) -> bool:
    """Whether zero lies outside these bounds; touching zero does not count."""
    return not low <= 0 <= high


def enough(runs: int, other: int) -> bool:
    """Whether this many runs on each side can establish a gap at all."""
    return min(runs, other) >= MINIMUM and 2 / comb(runs + other, runs) <= ALPHA


def _pair(reference: Sequence[float], cell: Sequence[float], stat: Statistic) -> Pair:
    return sample(reference, "reference sample"), sample(cell, "cell sample"), stat


def _drawn(pairs: Sequence[Pair], draws: int, seed: int) -> list[Floats]:
    return distributions([((reference, cell), stat) for reference, cell, stat in pairs], draws, seed)


def _share(drawn: Floats, floor: float) -> float:
    below = int(np.searchsorted(drawn, 0, side="right"))
    above = len(drawn) - int(np.searchsorted(drawn, 0, side="left"))
    return max(floor, min(1.0, 2 * min(below, above) / len(drawn)))


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment (Holm 1979, Scand. J. Stat. 6, 65-70), in the order given.

    It bounds the chance of even one false finding over the whole table, however the gaps are correlated.
    """
    adjusted = [0.0] * len(p)
    highest = 0.0
    for rank, position in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        highest = max(highest, min(1.0, (len(p) - rank) * float(p[position])))
        adjusted[position] = highest
    return adjusted

"""The exact companion of a gap: a p-value that needs no approximation, to read beside the resampled interval."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, islice
from math import comb

import numpy as np

from trysquare.verdict.resampling import Indices, Statistic, Values, generator, mean, statistic

SPLITS = 20_000
"""Up to how many splits of the pooled runs all of them are taken."""
SHUFFLES = 9_999
"""How many splits are drawn where there are more."""
TABLES = 250_000
"""Up to how many possible outcomes of two shares Boschloo's test is taken: its time grows with their square."""
_ROWS = 1_000_000

Pair = tuple[Values, Values, Statistic]
"""A reference sample, a cell sample, and the statistic their gap is taken of."""


def companions(pairs: Sequence[Pair], seed: int) -> list[float]:
    """The exact p-value of each pair.

    Shares of true values get Boschloo's unconditional test (Boschloo 1970, Statistica Neerlandica 24, 1-9), as scipy
    computes it; beyond `TABLES` outcomes Fisher's, which it improves on, so that p is never smaller there. Any other
    statistic gets the two-sided permutation test of its difference: over all splits of the pooled runs where there are
    at most `SPLITS`, else over `SHUFFLES` drawn ones and the observed one (Phipson and Smyth 2010, Stat. Appl. Genet.
    Mol. Biol. 9, 39), which never gives zero.
    """
    found = [0.0] * len(pairs)
    shapes: dict[tuple[int, int], list[int]] = {}
    for position, (reference, cell, stat) in enumerate(pairs):
        if stat is mean and {*reference, *cell} <= {0, 1}:
            found[position] = boschloo(int(sum(reference)), len(reference), int(sum(cell)), len(cell))
        else:
            shapes.setdefault((len(reference), len(cell)), []).append(position)
    for shape, members in shapes.items():
        found_here = _permuted([pairs[position] for position in members], shape, seed)
        for position, p in zip(members, found_here, strict=True):
            found[position] = p
    return found


def boschloo(true: int, runs: int, true_cell: int, runs_cell: int) -> float:
    """The two-sided p-value of `true` out of `runs` against `true_cell` out of `runs_cell`, by Boschloo's test."""
    if true + true_cell in (0, runs + runs_cell):
        return 1.0
    return _boschloo(*min((true, runs, true_cell, runs_cell), (true_cell, runs_cell, true, runs)))


@lru_cache(maxsize=4096)
def _boschloo(true: int, runs: int, true_cell: int, runs_cell: int) -> float:
    from scipy.stats import boschloo_exact, fisher_exact

    table = np.array([[true, true_cell], [runs - true, runs_cell - true_cell]])
    return float((boschloo_exact(table) if runs * runs_cell <= TABLES else fisher_exact(table)).pvalue)


def _permuted(pairs: Sequence[Pair], shape: tuple[int, int], seed: int) -> list[float]:
    """The permutation p-value of each pair of one shape."""
    extreme = np.zeros(len(pairs), dtype=int)
    size = shape[0]
    for block in _splits(shape, seed):
        for position, (reference, cell, stat) in enumerate(pairs):
            pooled = reference + cell
            gaps = np.abs(statistic(pooled, stat, block[:, size:]) - statistic(pooled, stat, block[:, :size]))
            observed = abs(stat(cell) - stat(reference))
            extreme[position] += int(np.count_nonzero(gaps >= observed * (1 - 1e-12)))
    splits = comb(sum(shape), size)
    if splits <= SPLITS:
        return [float(count / splits) for count in extreme]
    return [float((count + 1) / (SHUFFLES + 1)) for count in extreme]


def _splits(shape: tuple[int, int], seed: int) -> Iterator[Indices]:
    """Successive blocks of splits, one a row: the places of the reference runs, then those of the cell runs."""
    size, total = shape[0], sum(shape)
    rows = max(1, _ROWS // total)
    if comb(total, size) <= SPLITS:
        chosen = combinations(range(total), size)
        while block := list(islice(chosen, rows)):
            taken = np.zeros((len(block), total), dtype=bool)
            np.put_along_axis(taken, np.array(block), True, axis=1)
            yield np.argsort(~taken, axis=1, kind="stable")
        return
    twister = generator(seed)
    for start in range(0, SHUFFLES, rows):
        yield twister.random_sample((min(rows, SHUFFLES - start), total)).argsort(axis=1)

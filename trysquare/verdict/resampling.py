"""Resampled statistics: samples in, sorted draws out, identical to the definition to the last bit.

The definition draws with CPython's `random.Random(seed)`, index by index: first into the reference sample, then into
the cell sample. The state of that generator is handed to numpy, whose doubles are then the very same, so that whole
blocks of draws are taken at once. A block depends on the sizes of the samples alone and serves every family of them.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trysquare.measure.aggregate import kind

DRAWS = 10_000
SEED = 20260729
_HELD = 1_000_000
"""How many indices are held at once, which bounds the memory a large sample takes."""

Values = tuple[float, ...]
Statistic = Callable[[Any], float]
Family = tuple[tuple[Values, ...], Statistic]
"""One sample, or a reference and a cell sample, and the statistic taken of each."""
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def mean(values: Sequence[float]) -> float:
    """The share of true values, or the arithmetic mean of numbers."""
    return sum(values) / len(values)


def sample(values: Sequence[Any], what: str = "sample") -> Values:
    """The values of a sample as plain numbers.

    Raises
    ------
    ValueError
        When there are none, or one is no finite number.
    """
    plain = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
    if not plain:
        raise ValueError(f"the {what} is empty: nothing can be drawn from it")
    if wrong := [value for value in plain if kind(value) == "diagnostic"]:
        raise ValueError(f"the {what} holds {wrong[0]!r}, which is no finite number")
    return plain


def distributions(families: Sequence[Family], draws: int = DRAWS, seed: int = SEED) -> list[Floats]:
    """The sorted draws of each family: of the statistic of one sample, or of the second less that of the first.

    Returns
    -------
    list of arrays
        One read-only array of `draws` values per family, in the order given.
    """
    if draws < 1:
        raise ValueError(f"draws is {draws}: at least one is needed")
    results: list[Floats] = [np.empty(draws) for _ in families]
    shapes: dict[tuple[int, ...], list[int]] = {}
    for position, (samples, _) in enumerate(families):
        shapes.setdefault(tuple(map(len, samples)), []).append(position)
    for shape, members in shapes.items():
        for start, block in blocks(shape, draws, seed):
            known: dict[tuple[int, Values, Statistic], Floats] = {}
            for position in members:
                samples, stat = families[position]
                parts = []
                for part, values in enumerate(samples):
                    key = (part, values, stat)
                    if key not in known:
                        known[key] = statistic(values, stat, block[part])
                    parts.append(known[key])
                rows = slice(start, start + len(block[0]))
                results[position][rows] = parts[0] if len(parts) == 1 else parts[1] - parts[0]
    for drawn in results:
        drawn.sort()
        drawn.setflags(write=False)
    return results


def generator(seed: int) -> np.random.RandomState:
    """A numpy generator whose doubles are those of `random.Random(seed)`."""
    state = random.Random(seed).getstate()[1]
    twister = np.random.RandomState(0)
    twister.set_state(("MT19937", np.array(state[:-1], dtype=np.uint32), state[-1], 0, 0.0))
    return twister


def blocks(shape: tuple[int, ...], draws: int, seed: int) -> Iterator[tuple[int, list[Indices]]]:
    """The indices of successive draws into samples of these sizes: the first draw, and (draws, size) per sample."""
    twister = generator(seed)
    edges = np.cumsum(shape)[:-1]
    rows = max(1, _HELD // sum(shape))
    for start in range(0, draws, rows):
        uniform = twister.random_sample((min(rows, draws - start), sum(shape)))
        parts = np.split(uniform, edges, axis=1)
        yield start, [(part * size).astype(np.intp) for part, size in zip(parts, shape, strict=True)]


def statistic(values: Values, stat: Statistic, indices: Indices) -> Floats:
    """The statistic of each row of values picked by `indices`, of shape (draws, size)."""
    if stat is mean and _summable(values):
        total: Floats = np.array(values, dtype=float).take(indices).sum(axis=1)
        share: Floats = total / indices.shape[1]
        return share
    if stat is median and all(float(value) == value for value in values):
        ordered: Floats = np.sort(np.array(values, dtype=float).take(indices), axis=1)
        middle, odd = divmod(indices.shape[1], 2)
        upper: Floats = ordered[:, middle]
        if odd:
            return upper
        lower: Floats = ordered[:, middle - 1]
        return (lower + upper) / 2
    rows = ([values[index] for index in row] for row in indices.tolist())
    return np.fromiter((stat(row) for row in rows), dtype=float, count=len(indices))


def _summable(values: Values) -> bool:
    """Whether every order of summing these values, at any length, gives the one exact result."""
    return all(value == int(value) and abs(value) < 2**53 // len(values) for value in values)


def bounds(ordered: Floats) -> tuple[float, float]:
    """The bounds of the central 95 % of sorted draws."""
    draws = len(ordered)
    return float(ordered[int(0.025 * draws)]), float(ordered[min(draws - 1, int(0.975 * draws))])

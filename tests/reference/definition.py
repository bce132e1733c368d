"""The definition of the resampled gap in plain Python, as slow as it is obvious. Nothing comes from the package."""

import itertools
import random
import statistics


def mean(values):
    return sum(values) / len(values)


def gap_draws(reference, cell, stat=statistics.median, draws=10_000, seed=20260729):
    rng = random.Random(seed)
    values = []
    for _ in range(draws):
        drawn_reference = [reference[int(rng.random() * len(reference))] for _ in range(len(reference))]
        drawn_cell = [cell[int(rng.random() * len(cell))] for _ in range(len(cell))]
        values.append(stat(drawn_cell) - stat(drawn_reference))
    return sorted(values)


def level_draws(sample, stat=statistics.median, draws=10_000, seed=20260729):
    rng = random.Random(seed)
    return sorted(stat([sample[int(rng.random() * len(sample))] for _ in range(len(sample))]) for _ in range(draws))


def bounds(ordered):
    draws = len(ordered)
    return ordered[int(0.025 * draws)], ordered[min(draws - 1, int(0.975 * draws))]


def p(draws):
    at_most, at_least = sum(x <= 0 for x in draws) / len(draws), sum(x >= 0 for x in draws) / len(draws)
    return min(1, 2 * min(at_most, at_least))


def permutation_p(reference, cell, stat=statistics.median):
    """The share of all splits of the pooled values whose gap is at least the observed one in size."""
    pooled = [*reference, *cell]
    observed = abs(stat(cell) - stat(reference))
    count = splits = 0
    for chosen in itertools.combinations(range(len(pooled)), len(reference)):
        left = [pooled[i] for i in chosen]
        right = [value for i, value in enumerate(pooled) if i not in chosen]
        count += abs(stat(right) - stat(left)) >= observed
        splits += 1
    return count / splits


def gap_table(by_cell, reference, measures, draws=10_000, seed=20260729):
    """Interval and p of every gap: samples by measure for each cell, and a statistic for each measure."""
    table = {}
    for cell, samples in by_cell.items():
        for name, stat in measures.items():
            if cell != reference:
                found = gap_draws(by_cell[reference][name], samples[name], stat, draws, seed)
                table[cell, name] = (*bounds(found), p(found))
    return table

"""How often the verdict rule and its exact companion find a gap where there is none; writes docs/calibration.md."""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trysquare import verdict

PAGE = Path(__file__).parents[1] / "docs" / "calibration.md"
SIZES = range(3, 41)
SIMULATIONS = 2_000
BATCH = 250
SIGMA = 0.5
LEVEL, DEVIATIONS = 0.05, 2.576

COLUMNS = ("true in 50 % of runs", "true in 20 % of runs", "lognormal cost")

TEXT = """\
# How often nothing is found to be something

Two cells drawn from the same distribution, {simulations:,} times for every number of runs, and judged with
{draws:,} draws. Every gap found is a false one, and 5 % is the price agreed to. `rule` is the interval rule alone,
before the minimum of four runs a side; `exact` is the exact companion test at 0.05. Costs are lognormal with sigma {sigma}.
The Monte Carlo error of a share near 5 % is {error:.2f} points; with 99 % certainty a share above {limit:.1f} % is not
chance.

{table}

- With three runs a side the rule alone is wrong more often than agreed, whatever is measured. A verdict
  therefore needs four runs a side, and with three no gap is ever established.
- With four to nine runs the rule finds up to {worst_rule:.1f} % false gaps; from ten runs on at most {late_rule:.1f} %.
- The exact companion stays at or below {worst_exact:.1f} % for every number of runs from 4 to 40. That is why a gap that only the rule
  establishes carries a caution.

Made by `python benchmarks/calibration.py`.
"""


@dataclass(frozen=True)
class Rates:
    """Shares of simulated gaps that the rule and the companion take for real, by column."""

    runs: int
    rule: tuple[float, ...]
    exact: tuple[float, ...]


def simulated(column, runs, rng):
    """Two samples of every simulated gap of one column."""
    shape = (SIMULATIONS, 2, runs)
    if column == "lognormal cost":
        return rng.lognormal(9, SIGMA, shape), verdict.median
    return rng.random(shape) < (0.5 if "50" in column else 0.2), verdict.mean


def measured(runs):
    """The false positives at one number of runs."""
    rng = np.random.default_rng([20260729, runs])
    rule, exact = [], []
    for column in COLUMNS:
        values, stat = simulated(column, runs, rng)
        found = companion = 0
        for start in range(0, SIMULATIONS, BATCH):
            judged = verdict.judge_all([(*pair.tolist(), stat) for pair in values[start : start + BATCH]])
            found += sum(verdict.excludes_zero(each.low, each.high) for each in judged)
            companion += sum(each.exact <= LEVEL for each in judged)
        rule.append(found / SIMULATIONS)
        exact.append(companion / SIMULATIONS)
    return Rates(runs, tuple(rule), tuple(exact))


def page(results):
    """The page, from the results in order of size."""
    error = (LEVEL * (1 - LEVEL) / SIMULATIONS) ** 0.5
    head = ["runs a side", *(f"{column}: {test}" for column in COLUMNS for test in ("rule", "exact"))]
    lines = [head, ["---:"] * len(head)]
    for each in results:
        shares = [share for pair in zip(each.rule, each.exact, strict=True) for share in pair]
        lines.append([str(each.runs), *(f"{100 * share:.1f} %" for share in shares)])
    judged = [each for each in results if each.runs >= verdict.MINIMUM]
    return TEXT.format(
        simulations=SIMULATIONS,
        draws=verdict.DRAWS,
        sigma=SIGMA,
        error=100 * error,
        limit=100 * limit(),
        table="\n".join(f"| {' | '.join(line)} |" for line in lines),
        worst_rule=100 * max(max(each.rule) for each in judged if each.runs < 10),
        late_rule=100 * max(max(each.rule) for each in judged if each.runs >= 10),
        worst_exact=100 * max(max(each.exact) for each in judged),
    )


def limit():
    """The share of false positives that is still compatible with the level."""
    return LEVEL + DEVIATIONS * (LEVEL * (1 - LEVEL) / SIMULATIONS) ** 0.5


def main():
    """Simulate, write the page, and fail when the companion is not what it claims to be."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--workers", type=int, default=2)
    with ProcessPoolExecutor(arguments.parse_args().workers) as pool:
        results = sorted(pool.map(measured, reversed(SIZES)), key=lambda each: each.runs)
    PAGE.write_text(page(results), encoding="utf-8")
    print(f"written: {PAGE}")
    beyond = [str(each.runs) for each in results if each.runs >= verdict.MINIMUM and max(each.exact) > limit()]
    if beyond:
        sys.exit(f"the exact companion exceeds {100 * limit():.1f} % with {', '.join(beyond)} runs a side")


if __name__ == "__main__":
    main()

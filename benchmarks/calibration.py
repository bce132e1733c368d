"""How often the verdict rule and its exact companion find a gap where there is none; writes docs/calibration.md."""

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trysquare import verdict

PAGE = Path(__file__).parents[1] / "docs" / "calibration.md"
SIZES = range(3, 41)
SIMULATIONS = 1_000
BATCH = 100
SIGMA = 0.5
LEVEL, DEVIATIONS = 0.05, 2.576

COLUMNS = ("true in 50 % of runs", "true in 20 % of runs", "lognormal cost")

TEXT = """\
# How often nothing is found to be something

Two cells drawn from the same distribution, {simulations} times for every number of runs, and judged with {draws} draws.
Every gap found is a false one, and 5 % of them is the price agreed to. `rule` is the interval rule alone, before the
minimum of four runs a side; `exact` is the exact companion test at 0.05. Costs are lognormal with sigma {sigma}.
A true share of 5 % shows here with a standard error of {error:.2f} points, and up to {limit:.1f} % in 99 cases of 100.

{table}

- With three runs a side the rule alone finds up to {three:.1f} % false gaps. A verdict therefore needs four runs.
- With four to nine runs the rule finds up to {few:.1f} %, from ten runs on at most {many:.1f} %.
- The exact companion finds at most {exact:.1f} % with any number of runs from 4 to 40, no more than a true 5 % may
  show here. That is why a gap that the rule alone establishes carries a caution.

Made by `python benchmarks/calibration.py`, in a few minutes on two cores.
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
    rules = {each.runs: max(each.rule) for each in results}
    return TEXT.format(
        simulations=verdict.plain(SIMULATIONS),
        draws=verdict.plain(verdict.DRAWS),
        sigma=SIGMA,
        error=100 * error,
        limit=100 * limit(),
        table="\n".join(f"| {' | '.join(line)} |" for line in lines),
        three=100 * rules[3],
        few=100 * max(share for runs, share in rules.items() if 4 <= runs < 10),
        many=100 * max(share for runs, share in rules.items() if runs >= 10),
        exact=100 * max(max(each.exact) for each in results if each.runs >= verdict.MINIMUM),
    )


def limit():
    """The share of false positives that is still compatible with the level."""
    return LEVEL + DEVIATIONS * (LEVEL * (1 - LEVEL) / SIMULATIONS) ** 0.5


def main():
    """Simulate, write the page, and fail when the companion is not what it claims to be."""
    with ProcessPoolExecutor() as pool:
        results = sorted(pool.map(measured, reversed(SIZES)), key=lambda each: each.runs)
    PAGE.write_text(page(results), encoding="utf-8")
    print(f"written: {PAGE}")
    beyond = [str(each.runs) for each in results if each.runs >= verdict.MINIMUM and max(each.exact) > limit()]
    if beyond:
        sys.exit(f"the exact companion exceeds {100 * limit():.1f} % with {', '.join(beyond)} runs a side")


if __name__ == "__main__":
    main()

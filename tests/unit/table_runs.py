"""Runs of a table, by cell, and their criterion."""

from trysquare import table
from trysquare.measure import Run

DRAWS = 400


def run(cell, repetition, state="valid", usage=None, **metrics):
    cost = {"input": 1000 + 37 * repetition % 50, "output": 200, "turns": 5, "retries": 0, "cost": 0, "cacheRead": 0}
    return Run(f"{cell}-{repetition}", cell, repetition, cost | (usage or {}), 30.0 + repetition, metrics, state=state)


def cells(**values):
    """Ten runs or so per cell; each value is the criterion of one run, None for one that could not be judged."""
    return {
        cell: [run(cell, i, **({} if value is None else {"passed": value})) for i, value in enumerate(of_cell, 1)]
        for cell, of_cell in values.items()
    }


def criterion(by_cell, name="passed"):
    return table.criterion_measure(name, table.criterion_values(by_cell, name))

"""The gap table against its definition in plain Python, in one process: python benchmarks/verdict.py"""

import resource
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from trysquare import table, verdict
from trysquare.measure import Run

sys.path.append(str(Path(__file__).parents[1] / "tests" / "reference"))
import definition

SHAPES = ((6, 10), (200, 20))
REPEATS = 3
TIMED_CELLS = 20
"""The definition is timed on at most this many cells; its time is linear in them."""


def matrix(cells, repetitions):
    rng = np.random.default_rng(7)
    runs = []
    for number in range(cells):
        for repetition in range(1, repetitions + 1):
            usage = {"input": int(rng.lognormal(9.5, 0.4)), "output": int(rng.lognormal(7, 0.4))}
            usage |= {"turns": int(rng.integers(3, 15)), "retries": 0, "cost": float(rng.lognormal(-4, 0.4))}
            metrics = {"passed": bool(rng.random() < 0.3 + 0.4 * (number % 2))}
            duration = float(rng.lognormal(4, 0.3))
            runs.append(Run(f"{number}-{repetition}", f"cell {number}", repetition, usage, duration, metrics))
    return table.group(runs)


def timed(call):
    """A result, and the processor time it took, which other programs on the machine leave alone."""
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def compare(cells, repetitions):
    by_cell = matrix(cells, repetitions)
    measures = (*table.cost_measures(), table.criterion_measure("passed"))
    samples = {cell: {each.name: table.sample(runs, each) for each in measures} for cell, runs in by_cell.items()}
    reference, *others = samples
    some = {cell: samples[cell] for cell in (reference, *others[:TIMED_CELLS])}
    stats = {each.name: definition.mean if each.stat is verdict.mean else statistics.median for each in measures}
    expected, slow = timed(lambda: definition.gap_table(some, reference, stats))
    slow *= len(others) / len(some.keys() - {reference})

    pairs = [
        (tuple(samples[reference][each.name]), tuple(samples[cell][each.name]), each.stat)
        for cell in others
        for each in measures
    ]
    _, companion = timed(lambda: verdict.companions(pairs, verdict.SEED))
    again = min(timed(lambda: verdict.companions(pairs, verdict.SEED))[1] for _ in range(REPEATS))
    whole = min(timed(lambda: table.gap_rows(by_cell, reference, measures))[1] for _ in range(REPEATS))
    rows, _ = timed(lambda: table.gap_rows(by_cell, reference, measures))
    fast = whole - again
    found = {(row.cell, name): (case.low, case.high) for row in rows for name, case in row.cases.items()}
    assert all(found[place] == bounds[:2] for place, bounds in expected.items())

    levels = table.spend_measures(run for runs in by_cell.values() for run in runs)
    _, others_time = timed(lambda: (table.score_rows(by_cell, ["passed"]), table.spend_rows(by_cell, levels)))
    return slow, fast, companion, whole + others_time


def report():
    """The result as a table in markdown."""
    lines = [
        "| matrix | gaps | definition | gap table | ratio | exact companion, first time | three tables |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    import scipy.stats  # noqa: F401  its import is no part of what is timed

    for cells, repetitions in SHAPES:
        slow, fast, companion, whole = compare(cells, repetitions)
        lines.append(
            f"| {cells} x {repetitions} | {5 * (cells - 1)} | {slow:.2f} s | {fast:.3f} s | {slow / fast:.0f} | "
            f"{companion:.2f} s | {whole:.2f} s |"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return "\n".join(lines) + f"\n\nPeak memory of the whole process: {peak:.0f} MB.\n"


if __name__ == "__main__":
    print(report())

import dataclasses

import numpy as np
import pytest

from trysquare import power, table, verdict
from trysquare.errors import TrysquareError
from trysquare.measure import Run


def by_simulation(draw, stat, gap, repetitions, simulations=400):
    """The same share by judging simulated samples one by one, with its standard error."""
    rng = np.random.default_rng(99)
    found = 0
    for _ in range(simulations):
        reference, cell = draw(rng, 0, repetitions), draw(rng, gap, repetitions)
        found += verdict.judge(reference, cell, stat, power.DRAWS).established
    share = found / simulations
    return share, (0.25 / simulations) ** 0.5


def within_four_errors(found, expected, error):
    return abs(found - expected) < 4 * (error**2 + 0.25 / power.SIMULATIONS) ** 0.5


@pytest.mark.parametrize("repetitions", [5, 10])
def test_the_power_for_a_number_is_what_judging_simulated_matrices_gives(repetitions):
    expected, error = by_simulation(
        lambda rng, gap, n: (rng.normal(0, 1, n) + gap).tolist(), verdict.median, 1.3, repetitions
    )
    found = power.power(power.stated_median(0, 1), 1.3, repetitions)
    assert 0.2 < found < 0.95
    assert within_four_errors(found, expected, error)


def test_the_power_for_a_rate_is_what_judging_simulated_matrices_gives():
    expected, error = by_simulation(lambda rng, gap, n: (rng.random(n) < 0.3 + gap).tolist(), verdict.mean, 0.4, 12)
    found = power.power(power.stated_rate(0.3), 0.4, 12)
    assert 0.2 < found < 0.95
    assert within_four_errors(found, expected, error)


@pytest.mark.parametrize(
    ("population", "gap"),
    [(power.stated_rate(0.5), 0.3), (power.stated_rate(0.9), -0.4), (power.stated_median(50, 9), 10)],
)
def test_the_needed_repetitions_reach_the_target_and_fewer_do_not(population, gap):
    plan = power.needed_repetitions(population, gap)
    assert plan.power == power.power(population, gap, plan.repetitions) >= 0.8
    assert power.power(population, gap, plan.repetitions - 1) < 0.8


@pytest.mark.parametrize("population", [power.stated_rate(0.2), power.stated_rate(0.8), power.stated_median(50, 9)])
def test_the_smallest_gap_reaches_the_target_and_a_smaller_one_does_not(population):
    plan = power.smallest_gap(population, 12)
    step = plan.gap - np.sign(plan.gap) * (population.spread / 20 if population.residuals else 0.01)
    assert plan.power == power.power(population, plan.gap, 12) >= 0.8
    assert power.power(population, step, 12) < 0.8


def test_a_higher_target_needs_more_repetitions():
    population = power.stated_rate(0.5)
    needed = [power.needed_repetitions(population, 0.4, target).repetitions for target in (0.5, 0.8, 0.95)]
    assert needed == sorted(set(needed))


def test_fewer_than_four_repetitions_have_no_power():
    assert power.power(power.stated_rate(0), 1, 3) == 0
    assert power.power(power.stated_rate(0), 1, 4) == 1
    assert power.smallest_gap(power.stated_median(0, 1), 3).gap is None


def test_a_gap_beyond_the_limit_of_repetitions_is_said_to_be_out_of_reach():
    plan = power.needed_repetitions(power.stated_rate(0.5), 0.02)
    assert plan.repetitions is None
    assert plan.power < 0.8


def test_a_curve_rises_with_repetitions_and_is_frozen():
    curve = power.power_curve(power.stated_rate(0.5), 0.4, (4, 10, 20, 40))
    assert list(curve.power) == sorted(curve.power)
    assert curve.power[2] == power.power(power.stated_rate(0.5), 0.4, 20)
    with pytest.raises(dataclasses.FrozenInstanceError):
        curve.gap = 0


def test_a_plan_is_the_same_every_time_and_another_with_another_seed():
    population = power.stated_median(1000, 300)
    assert power.power(population, 300, 11) == power.power(population, 300, 11)
    assert len({power.power(population, 300, 11, seed=seed) for seed in (-1, 1, 2, 3)}) > 1


def runs(cell, values, name="passed"):
    return [Run(f"{cell}{i}", cell, i, {"input": value}, metrics={name: value}) for i, value in enumerate(values)]


def test_an_archived_rate_is_never_taken_for_a_certainty():
    by_cell = {"base": runs("base", [True] * 10)}
    found = power.archived(by_cell, "base", table.criterion_measure("passed"))
    assert found.center == pytest.approx(10.5 / 11)
    assert found.stat is verdict.mean


def test_an_archived_number_has_the_spread_of_every_cell_around_its_own_median():
    rng = np.random.default_rng(4)
    by_cell = {cell: runs(cell, rng.normal(center, 40, 60).tolist()) for cell, center in (("base", 500), ("far", 9000))}
    found = power.archived(by_cell, "base", table.cost_measures()[0])
    assert found.center == pytest.approx(500, abs=25)
    assert found.spread == pytest.approx(40, rel=0.25)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: power.stated_rate(1.2), "not between 0 and 1"),
        (lambda: power.stated_median(10, 0), "not above 0"),
        (
            lambda: power.power(power.stated_rate(0.9), 0.2, 10),
            "ends beyond 0 or 100 %: state one between -90 and .10 pts",
        ),
        (lambda: power.archived({"a": runs("a", [3, 3])}, "a", table.cost_measures()[0]), "does not vary"),
        (lambda: power.archived({"a": []}, "a", table.cost_measures()[0]), "No run of 'a'"),
        (lambda: power.archived({"a": []}, "b", table.cost_measures()[0]), "No run of 'b'"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_a_sentence(call, message):
    with pytest.raises(TrysquareError, match=message):
        call()

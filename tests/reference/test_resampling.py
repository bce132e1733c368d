"""The verdict library against its definition, draw by draw."""

import statistics
from math import comb

import definition
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from trysquare import verdict

integers = st.integers(-10_000, 10_000)
finite = st.floats(-1e9, 1e9, allow_nan=False)
seeds = st.integers(-(2**70), 2**70)
draws = st.integers(1, 300)


def samples(elements):
    return st.lists(elements, min_size=1, max_size=25)


def largest(values):
    return max(values)


PAIRS = st.one_of(
    st.tuples(samples(integers), samples(integers), st.just(statistics.median)),
    st.tuples(samples(finite), samples(finite), st.just(statistics.median)),
    st.tuples(samples(st.booleans()), samples(st.booleans()), st.just(statistics.median)),
    st.tuples(samples(st.booleans()), samples(st.booleans()), st.just(verdict.mean)),
    st.tuples(samples(integers), samples(integers), st.just(verdict.mean)),
    st.tuples(samples(finite), samples(finite), st.just(verdict.mean)),
    st.tuples(
        samples(st.integers(2**50, 2**52)), samples(integers), st.sampled_from([verdict.mean, statistics.median])
    ),
    st.tuples(samples(finite), samples(integers), st.sampled_from([largest, statistics.fmean, len])),
)


@settings(max_examples=300, deadline=None)
@given(PAIRS, draws, seeds)
def test_every_draw_of_a_gap_is_the_one_of_the_definition(pair, draws, seed):
    reference, cell, stat = pair
    expected = definition.gap_draws(reference, cell, stat, draws, seed)
    assert verdict.gap_draws(reference, cell, stat, draws, seed) == expected
    assert verdict.gap_interval(reference, cell, stat, draws, seed) == definition.bounds(expected)
    assert list(verdict.judge(reference, cell, stat, draws, seed).draws) == expected


@settings(max_examples=100, deadline=None)
@given(samples(finite), st.sampled_from([statistics.median, verdict.mean, largest]), draws, seeds)
def test_the_interval_of_a_level_is_the_one_of_the_definition(values, stat, draws, seed):
    assert verdict.interval(values, stat, draws, seed) == definition.bounds(
        definition.level_draws(values, stat, draws, seed)
    )


def test_the_published_sizes_agree_at_the_published_draws_and_seed():
    rng = np.random.default_rng(5)
    for n, m in ((10, 10), (7, 10), (20, 20)):
        costs = rng.lognormal(9, 0.5, n).tolist(), rng.lognormal(9, 0.5, m).tolist()
        tests = (rng.random(n) < 0.5).tolist(), (rng.random(m) < 0.5).tolist()
        assert verdict.gap_draws(*costs) == definition.gap_draws(*costs)
        assert verdict.gap_draws(*tests, verdict.mean) == definition.gap_draws(*tests, definition.mean)


def test_a_sample_too_large_for_one_block_draws_the_same_as_the_definition():
    rng = np.random.default_rng(6)
    reference, cell = rng.normal(0, 1, 700).tolist(), rng.normal(0.1, 1, 901).tolist()
    assert verdict.gap_draws(reference, cell, draws=1_500) == definition.gap_draws(reference, cell, draws=1_500)


@settings(max_examples=60, deadline=None)
@given(st.lists(PAIRS, min_size=1, max_size=6), seeds)
def test_a_table_judged_at_once_has_the_draws_of_each_gap_judged_alone(pairs, seed):
    for pair, found in zip(pairs, verdict.judge_all(pairs, 50, seed), strict=True):
        assert list(found.draws) == definition.gap_draws(*pair, 50, seed)


@settings(max_examples=100, deadline=None)
@given(PAIRS, draws, seeds)
def test_p_is_the_share_of_draws_at_or_beyond_zero_raised_to_the_floor(pair, draws, seed):
    reference, cell, stat = pair
    found = verdict.judge(reference, cell, stat, draws, seed)
    assert found.p == max(found.floor, definition.p(definition.gap_draws(reference, cell, stat, draws, seed)))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=6),
    st.lists(st.integers(-50, 50), min_size=1, max_size=6),
    st.sampled_from([statistics.median, largest]),
)
def test_the_permutation_companion_counts_every_split(reference, cell, stat):
    expected = definition.permutation_p(reference, cell, stat)
    assert verdict.companions([(tuple(reference), tuple(cell), stat)], 1) == [expected]


def test_the_drawn_permutation_companion_is_near_the_one_over_every_split():
    rng = np.random.default_rng(7)
    for shift in (0, 0.5, 1):
        reference, cell = tuple(rng.normal(0, 1, 9).tolist()), tuple(rng.normal(shift, 1, 9).tolist())
        exact = definition.permutation_p(reference, cell)
        [drawn] = verdict.companions([(reference, cell, statistics.median)], 1)
        assert abs(drawn - exact) < 4 * (0.25 / 10_000) ** 0.5


def _binomial(n, rate):
    return [comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]


def test_the_companion_of_a_rate_keeps_its_level_for_every_true_rate():
    for n, m in ((4, 4), (4, 9), (8, 8)):
        rejected = np.array([[verdict.boschloo(a, n, b, m) <= 0.05 for b in range(m + 1)] for a in range(n + 1)])
        for rate in np.linspace(0.01, 0.99, 99):
            assert np.outer(_binomial(n, rate), _binomial(m, rate))[rejected].sum() <= 0.0501


def test_the_companion_of_a_rate_gives_the_published_p_of_a_survey():
    # Saari and Judge (2004), Human Resource Management 43, 395-407: 74 of 117 against 31 of 63, p = 0.0355 on one side.
    assert 0.0355 <= verdict.boschloo(74, 117, 31, 63) / 2 < 0.0356

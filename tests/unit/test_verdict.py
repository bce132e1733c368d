import dataclasses
import json
import statistics

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from trysquare import verdict
from trysquare.measure import Run
from trysquare.table import spend_measures
from trysquare.verdict import exact

FALSE, TRUE = [False] * 10, [True] * 10
nonzero = st.floats(-1e12, 1e12, allow_subnormal=False).filter(bool)


def spread(n, shift=0):
    return [100 + shift + 7 * i % 11 for i in range(n)]


def read(text):
    return float(text.replace(" pts", "").replace(" ", ""))


def test_ten_false_against_ten_true_is_an_established_gap_of_a_hundred_points():
    found = verdict.judge(FALSE, TRUE, verdict.mean)
    assert (found.gap, found.low, found.high, found.state) == (1.0, 1.0, 1.0, "established")
    assert verdict.points(found.gap) == "+100 pts"


def test_identical_samples_are_inconclusive():
    found = verdict.judge(spread(10), spread(10))
    assert (found.gap, found.state) == (0, "inconclusive")


@pytest.mark.parametrize(("n", "m"), [(3, 3), (3, 5), (5, 3), (3, 40)])
def test_fewer_than_four_runs_on_a_side_establish_nothing(n, m):
    found = verdict.judge(spread(n), spread(m, 1000))
    assert found.low > 0
    assert found.state == "inconclusive"


def test_four_runs_a_side_fully_apart_are_established_with_p_at_the_floor():
    found = verdict.judge(spread(4), spread(4, 1000))
    assert found.state == "established"
    assert found.p == found.floor == 2 / 70


def test_an_interval_that_touches_zero_is_inconclusive():
    found = verdict.judge([0] * 6, [0, 0, 0, 0, 1, 1], verdict.mean)
    assert found.low == 0
    assert found.state == "inconclusive"
    assert not verdict.excludes_zero(0.0, 1.0)
    assert not verdict.excludes_zero(-1.0, -0.0)


@pytest.mark.parametrize(("reference", "cell", "which"), [([], [1], "reference"), ([1], [], "cell")])
def test_an_empty_sample_is_refused_by_name(reference, cell, which):
    for call in (verdict.judge, verdict.gap_draws, verdict.gap_interval):
        with pytest.raises(ValueError, match=f"the {which} sample is empty"):
            call(reference, cell)
    with pytest.raises(ValueError, match="empty"):
        verdict.interval([])


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), "3", None, 10**400])
def test_a_value_that_is_no_finite_number_is_refused(wrong):
    with pytest.raises(ValueError, match="no finite number"):
        verdict.judge([1, 2, 3], [1, wrong])


def test_no_draws_at_all_are_refused():
    with pytest.raises(ValueError, match="at least one"):
        verdict.gap_draws([1], [2], draws=0)


def test_a_verdict_is_frozen_and_reads_by_attribute_and_by_key():
    found = verdict.judge(FALSE, TRUE, verdict.mean)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.state = "inconclusive"
    with pytest.raises(ValueError, match="read-only"):
        found.draws[0] = 0
    assert {name: found[name] for name in found} == {
        part.name: getattr(found, part.name) for part in dataclasses.fields(found)
    }
    assert "caution" not in found
    with pytest.raises(KeyError):
        found["established"]


def test_a_verdict_holds_plain_numbers_whatever_the_samples_are():
    arrays = np.array(FALSE), np.array(TRUE)
    series = pandas.Series(FALSE, dtype="boolean"), pandas.Series(TRUE, dtype="boolean")
    plain = {key: value for key, value in verdict.judge(FALSE, TRUE, verdict.mean).items() if key != "draws"}
    assert plain == json.loads(json.dumps(plain))
    for reference, cell in (arrays, series):
        found = verdict.judge(reference, cell, verdict.mean)
        assert json.dumps({key: found[key] for key in plain}) == json.dumps(plain)


def test_the_same_samples_give_the_same_verdict_whatever_was_drawn_before():
    np.random.seed(1)
    first = verdict.judge(spread(7), spread(9, 3))
    np.random.seed(2)
    assert verdict.judge(spread(7), spread(9, 3)) == first
    assert verdict.judge(spread(7), spread(9, 3), seed=1).draws.tolist() != first.draws.tolist()


def test_holm_gives_the_published_example():
    assert verdict.holm((0.01, 0.04, 0.03, 0.005)) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert verdict.holm(()) == []


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.randoms())
def test_holm_is_monotone_never_below_p_and_the_same_in_any_order(p, rng):
    adjusted = verdict.holm(p)
    assert all(before <= after <= 1 for before, after in zip(p, adjusted, strict=True))
    pairs = sorted(zip(p, adjusted, strict=True))
    assert [b for _, b in pairs] == sorted(adjusted)
    order = list(range(len(p)))
    rng.shuffle(order)
    assert verdict.holm([p[i] for i in order]) == [adjusted[i] for i in order]


def test_one_gap_of_a_table_is_adjusted_for_the_others_and_alone_for_none():
    pairs = [(spread(10), spread(10, shift), statistics.median) for shift in (0, 2, 9)]
    together, alone = verdict.judge_all(pairs), [verdict.judge(*pair) for pair in pairs]
    assert [each.holm for each in together] == verdict.holm([each.p for each in alone])
    assert [each.holm for each in alone] == [each.p for each in alone]
    assert [each.draws.tolist() for each in together] == [each.draws.tolist() for each in alone]


def test_a_gap_established_by_resampling_alone_carries_a_caution():
    found = verdict.judge([False] * 5, [True] * 3 + [False] * 2, verdict.mean)
    assert found.established
    assert found.exact > 0.05
    assert found.caution
    assert not verdict.judge(FALSE, TRUE, verdict.mean).caution
    assert not verdict.judge(TRUE, TRUE, verdict.mean).caution


def test_the_companion_is_symmetric_and_one_for_samples_that_are_alike():
    assert verdict.boschloo(2, 9, 7, 8) == verdict.boschloo(7, 8, 2, 9)
    assert verdict.boschloo(9, 9, 4, 4) == verdict.boschloo(0, 5, 0, 5) == 1
    assert verdict.companions([((1, 1, 1, 1), (1, 1, 1), statistics.median)], 0) == [1]


def test_a_drawn_companion_is_never_zero():
    pair = tuple(range(20)), tuple(range(1000, 1020)), statistics.median
    assert verdict.companions([pair], 3) == [1 / 10_000]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "+0"),
        (-0.0, "+0"),
        (0.5, "+0.5"),
        (-0.5, "-0.5"),
        (0.04, "+0.04"),
        (-0.0004, "-0.0004"),
        (0.96, "+1.0"),
        (1.4, "+1"),
        (-4, "-4"),
        (11502, "+11 502"),
        (-1234567.8, "-1 234 568"),
    ],
)
def test_a_signed_number_shows_its_sign_and_its_thousands(value, text):
    assert verdict.signed(value) == text
    assert verdict.plain(abs(value)) == text[1:]


def test_the_numbers_of_one_column_have_the_same_decimals():
    one = verdict.fixed(1)
    assert [one(x) for x in (0, 0.96, 1.4, -12, 11502.24, 0.04)] == ["0.0", "1.0", "1.4", "-12.0", "11 502.2", "0.04"]
    assert [verdict.decimals_of(x) for x in (0, 12.0, 12.5, 0.25, 1 / 3, 1e15 + 0.5)] == [0, 0, 1, 2, 3, 1]


@settings(deadline=None)
@given(nonzero)
def test_no_value_other_than_zero_renders_as_zero_or_on_the_other_side(x):
    price = spend_measures([Run("r", "c", 1, {"cost": 1.0})])[-1].render
    for render in (verdict.signed, verdict.plain, verdict.points, price, verdict.fixed(0), verdict.fixed(3)):
        assert np.sign(read(render(x))) == np.sign(x)
    assert verdict.signed(x)[0] in "+-"
    assert verdict.plain(x)[0] != "+"


@settings(deadline=None)
@given(nonzero, nonzero)
def test_rounding_never_moves_an_interval_onto_zero_or_off_it(a, b):
    low, high = sorted((a, b))
    for render in (verdict.signed, verdict.points):
        assert verdict.excludes_zero(read(render(low)), read(render(high))) == verdict.excludes_zero(low, high)


@settings(deadline=None)
@given(nonzero, nonzero)
def test_rendering_keeps_the_order_of_values(a, b):
    low, high = sorted((a, b))
    assert read(verdict.signed(low)) <= read(verdict.signed(high))


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.012, "p=0.012"),
        (0.0009, "p<0.001"),
        (1e-12, "p<0.001"),
        (0.0504, "p=0.0504"),
        (0.04996, "p=0.04996"),
        (0.05, "p=0.050"),
        (1, "p=1.000"),
    ],
)
def test_a_p_value_never_reads_zero_and_keeps_its_side_of_five_percent(p, text):
    assert verdict.p_text(p) == text


def test_beyond_many_outcomes_the_companion_of_a_rate_is_the_test_that_boschloos_improves_on(monkeypatch):
    cases = [(3, 20, 9, 20), (1, 12, 7, 15), (8, 16, 8, 16)]
    close = [verdict.boschloo(*case) for case in cases]
    exact._boschloo.cache_clear()
    monkeypatch.setattr(exact, "TABLES", 0)
    coarse = [verdict.boschloo(*case) for case in cases]
    exact._boschloo.cache_clear()
    assert coarse == [fisher_exact([[a, b], [n - a, m - b]]).pvalue for a, n, b, m in cases]
    assert all(fisher >= boschloo for fisher, boschloo in zip(coarse, close, strict=True))

"""Cohen's kappa against published examples, and its standard error against the delta method from its definition."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from trysquare.agreement import AgreementError, agreement, cohen, describe
from trysquare.measure import Run


def test_the_example_of_fleiss_levin_and_paik() -> None:
    """Statistical Methods for Rates and Proportions (2003), table 18.1: kappa 0.676, standard error 0.087 or 0.088."""
    kappa, error = cohen([[75, 1, 4], [5, 4, 1], [0, 0, 10]])
    assert kappa == pytest.approx(0.676, abs=5e-4)
    assert error == pytest.approx(0.0877, abs=1e-3)


def test_the_example_of_cohen() -> None:
    """Cohen (1960) and (1968): 200 cases, kappa .492."""
    kappa, _ = cohen([[88, 10, 2], [14, 40, 6], [18, 10, 12]])
    assert kappa == pytest.approx(0.492, abs=5e-4)


def defined(shares: list[list[float]]) -> float:
    size = range(len(shares))
    expected = sum(sum(shares[i]) * sum(row[i] for row in shares) for i in size)
    return (sum(shares[i][i] for i in size) - expected) / (1 - expected)


def by_delta_method(table: list[list[int]]) -> float:
    """The standard error of kappa from its derivatives, taken numerically, and the multinomial covariance."""
    total, size = sum(map(sum, table)), len(table)
    shares = [[count / total for count in row] for row in table]
    cells, step = [(i, j) for i in range(size) for j in range(size)], 1e-6
    slopes = []
    for i, j in cells:
        above, below = ([list(row) for row in shares] for _ in range(2))
        above[i][j] += step
        below[i][j] -= step
        slopes.append((defined(above) - defined(below)) / (2 * step))
    average = sum(shares[i][j] * slope for (i, j), slope in zip(cells, slopes, strict=True))
    squares = sum(shares[i][j] * slope**2 for (i, j), slope in zip(cells, slopes, strict=True))
    return math.sqrt(max(0.0, squares - average**2) / total)


@given(st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=3, max_size=3))
def test_kappa_and_its_error_are_those_of_the_definition(table: list[list[int]]) -> None:
    assume(sum(sum(row) > 0 for row in table) > 1 and sum(any(column) for column in zip(*table, strict=True)) > 1)
    kappa, error = cohen(table)
    total = sum(map(sum, table))
    assert kappa == pytest.approx(defined([[count / total for count in row] for row in table]))
    assert error == pytest.approx(by_delta_method(table), abs=1e-5)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2), st.randoms())
def test_agreement_does_not_depend_on_order_nor_on_who_is_first(pairs: list[tuple[bool, bool]], dice) -> None:
    def found(given_pairs):
        runs = [Run(str(i), "c", i, metrics={"a": one, "b": other}) for i, (one, other) in enumerate(given_pairs)]
        return agreement(runs, "a", "b")

    shuffled = list(pairs)
    dice.shuffle(shuffled)
    one, other, turned = found(pairs), found(shuffled), found([(b, a) for a, b in pairs])
    assert one == other
    assert (one.agreed, one.judged) == (turned.agreed, turned.judged)
    if one.kappa is not None:
        assert one.kappa == pytest.approx(turned.kappa)


def runs(*pairs):
    return [
        Run(str(i), "c", i, metrics={name: value for name, value in zip("ab", pair, strict=True) if value is not None})
        for i, pair in enumerate(pairs)
    ]


def test_what_is_printed() -> None:
    pairs = [(True, True)] * 6 + [(True, False)] + [(False, False)] * 3 + [(True, None), (None, True)]
    assert describe(agreement(runs(*pairs), "a", "b")) == [
        "10 runs with both a and b, 2 left out",
        "raw agreement: 9 of 10 (90%)",
        "Cohen's kappa: 0.78, 95 % interval 0.39 to 1.00",
        "answers, a in rows and b in columns:",
        "       yes  no",
        "  yes    6   1",
        "   no    0   3",
    ]


def test_where_there_is_no_kappa_or_no_interval_it_says_so() -> None:
    assert "undefined" in describe(agreement(runs((True, True), (True, True)), "a", "b"))[2]
    assert "1.00, without an interval" in describe(agreement(runs((True, True), (False, False)), "a", "b"))[2]


def test_true_is_not_one_and_invalid_runs_are_not_counted() -> None:
    with pytest.raises(AgreementError, match="different types"):
        agreement(runs((True, 1)), "a", "b")
    failed = runs((True, False))
    failed[0].state = "validator_failed"
    assert agreement([*failed, *runs(("x", "x"), ("y", "y"))], "a", "b").judged == 2


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([(True, None), (True, None)], "no valid run has a value of b; the metrics are a."),
        ([(True, None), (None, True)], "nothing to compare yet"),
        ([([1], [1])], "no category"),
        ([(float(i), float(i)) for i in range(13)], "13 different answers"),
    ],
)
def test_what_cannot_be_compared_is_refused(pairs, said: str) -> None:
    with pytest.raises(AgreementError) as refusal:
        agreement(runs(*pairs), "a", "b")
    assert said in str(refusal.value)

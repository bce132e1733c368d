import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trysquare.assay import Metric, plain, report
from trysquare.errors import TrysquareError

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text()
VALUES = st.recursive(
    SCALARS | st.frozensets(SCALARS),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@settings(deadline=None)
@given(VALUES)
def test_every_plain_value_is_strict_json_and_plain_again(value: Any) -> None:
    reduced = plain(value)
    assert json.loads(json.dumps(reduced, allow_nan=False)) == reduced
    assert plain(reduced) == reduced


@settings(deadline=None)
@given(st.lists(SCALARS, unique=True))
def test_the_order_of_a_set_does_not_depend_on_how_it_was_built(items: list[Any]) -> None:
    assert repr(plain(dict.fromkeys(items).keys())) == repr(plain(dict.fromkeys(reversed(items)).keys()))


def test_a_set_of_strings_is_sorted_as_strings_are() -> None:
    assert plain({"b", "a c", "a", "B"}) == ["B", "a", "a c", "b"]


def test_a_boolean_stays_a_boolean_and_a_number_a_number() -> None:
    assert plain(True) is True
    assert plain(1) == 1 and plain(1) is not True


def test_a_path_becomes_a_string() -> None:
    assert plain((Path("a/b"),)) == ["a/b"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_cannot_hold_is_refused_by_name_wherever_it_is(value: float) -> None:
    with pytest.raises(ValueError, match=r"metric 'rate': .* is not a measurement"):
        report({"rate": {"deep": [value]}})


@pytest.mark.parametrize("value", [b"bytes", object(), {1: "a"}, [Metric(True)], 1j])
def test_a_value_without_a_json_form_is_refused_by_name(value: Any) -> None:
    with pytest.raises(TypeError, match="metric 'odd': "):
        report({"odd": value})


def test_a_report_splits_values_reasons_and_what_could_not_be_judged() -> None:
    returned = {
        "bare": True,
        "silent": Metric(2),
        "explained": Metric(7, "seven paths"),
        "unknown": Metric.unjudged("no game in the clone"),
        "files": {"b", "a"},
    }
    assert report(returned) == {
        "metrics": {"bare": True, "silent": 2, "explained": 7, "files": ["a", "b"]},
        "reasons": {"explained": "seven paths"},
        "unjudged": {"unknown": "no game in the clone"},
    }


def test_a_validator_that_judges_everything_reports_two_keys() -> None:
    assert report({"a": 1}) == {"metrics": {"a": 1}, "reasons": {}}


@pytest.mark.parametrize("returned", [None, [("a", 1)], True])
def test_only_a_dictionary_can_be_reported(returned: Any) -> None:
    with pytest.raises(TypeError, match="a dictionary of metrics, not"):
        report(returned)


def test_a_reason_is_text() -> None:
    with pytest.raises(TypeError, match="metric 'a'"):
        report({"a": Metric(True, reason=3)})  # type: ignore[arg-type]


def test_a_metric_is_neither_true_nor_false() -> None:
    with pytest.raises(TypeError, match=r"read its \.value"):
        bool(Metric(False))


def test_a_metric_is_frozen() -> None:
    with pytest.raises(AttributeError):
        Metric(True).value = False  # type: ignore[misc]


def test_refusing_to_judge_is_an_error_a_user_can_act_on() -> None:
    from trysquare.assay import CannotJudge, ProbeTimeout

    assert issubclass(ProbeTimeout, CannotJudge) and issubclass(CannotJudge, TrysquareError)

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trysquare.errors import ArchiveError
from trysquare.measure import Run, fill_manual, kind, merge, metric_kind, rate, tally, valid_runs


def run(repetition=1, state="valid", **metrics):
    return Run(f"r{repetition}", "cell", repetition, metrics=metrics, state=state)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, "rate"),
        (False, "rate"),
        (0, "median"),
        (1.5, "median"),
        (float("nan"), "diagnostic"),
        (float("-inf"), "diagnostic"),
        (10**400, "diagnostic"),
        ("3", "diagnostic"),
        (None, "diagnostic"),
        (["#1"], "diagnostic"),
        ({"a": 1}, "diagnostic"),
    ],
)
def test_the_type_of_a_value_decides_how_it_aggregates(value, expected):
    assert kind(value) == expected


def test_booleans_and_numbers_under_one_name_are_diagnostic():
    assert metric_kind([run(a=True), run(a=False)], "a") == "rate"
    assert metric_kind([run(a=1), run(a=2.5)], "a") == "median"
    assert metric_kind([run(a=True), run(a=1)], "a") == "diagnostic"
    assert metric_kind([run(b=True), run(state="validator_failed", a=3)], "a") is None


def test_answers_of_several_validators_make_one_measurement():
    scope = {"metrics": {"overflow": True, "files": 3}, "reasons": {"overflow": "touched docs/"}}
    suite = {"metrics": {"tests": False}}
    metrics, reasons, state, detail = merge([("scope", scope), ("suite", suite)], ["overflow", "tests"])
    assert metrics == {"overflow": True, "files": 3, "tests": False}
    assert reasons == {"overflow": "touched docs/"}
    assert (state, detail) == ("valid", "")


def test_a_metric_that_could_not_be_judged_has_a_reason_and_no_value():
    merged = merge([("scope", {"metrics": {}, "unjudged": {"overflow": "no game/ in the clone"}})], ["overflow"])
    assert merged.metrics == {}
    assert merged.unjudged == merged.reasons == {"overflow": "no game/ in the clone"}
    assert merged.state == "valid"
    assert rate([run(**merged.metrics), run(overflow=True)], "overflow") == (1, 1)


@pytest.mark.parametrize(
    ("payload", "detail"),
    [
        (None, "scope failed"),
        ([1], "no object with metrics"),
        ({"reasons": {}}, "no object with metrics"),
        ({"metrics": [1]}, "no object with metrics"),
        ({"metrics": {"overflow": True}, "reasons": []}, "reasons that is no object"),
        ({"metrics": {"overflow": True}, "unjudged": ["overflow"]}, "unjudged that is no object"),
        ({"metrics": {"overflow": True}, "unjudged": {"overflow": "?"}}, "both with a value and as unjudged"),
        ({"metrics": {"overflow": float("nan")}}, "not finite: overflow"),
        ({"metrics": {"overflow": True, "sizes": [{"a": float("inf")}]}}, "not finite: sizes"),
        ({"metrics": {"overflw": True}}, "returned: overflow; 'overflw' is not declared, did you mean 'overflow'?"),
    ],
)
@pytest.mark.parametrize("declared", [["overflow"], {"scope": ["overflow"]}])
def test_an_answer_that_is_no_verdict_makes_the_run_invalid_and_not_false(payload, detail, declared):
    merged = merge([("scope", payload)], declared)
    assert merged.state == "validator_failed"
    assert detail in merged.detail
    assert "overflow" not in merged.metrics or payload["metrics"]["overflow"] is merged.metrics["overflow"]


def test_a_declared_name_is_taken_from_its_declaring_validator_alone():
    results = [("other", {"metrics": {"passed": True, "x": 1}}), ("mine", {"metrics": {"passed": False}})]
    merged = merge(results, {"other": ["x"], "mine": ["passed"]})
    assert merged.metrics == {"x": 1, "passed": False}
    assert merged.state == "valid"
    assert merged.detail == "passed of other ignored, passed is declared elsewhere"


def test_a_name_its_own_validator_did_not_return_is_not_taken_from_another():
    results = [("other", {"metrics": {"passed": True}}), ("mine", {"metrics": {}})]
    merged = merge(results, {"mine": ["passed"]})
    assert merged.metrics == {}
    assert merged.state == "validator_failed"


def test_equal_extras_of_two_validators_are_kept_apart():
    results = [("a", {"metrics": {"size": 1, "only": 5}}), ("b", {"metrics": {"size": 2}})]
    merged = merge(results, {})
    assert merged.metrics == {"a.size": 1, "only": 5, "b.size": 2}


def test_an_extra_never_takes_the_place_of_a_declared_metric():
    results = [("a", {"metrics": {"size": 1}}), ("b", {"metrics": {"size": 2, "a.size": True}})]
    merged = merge(results, {"b": ["a.size"]})
    assert merged.metrics == {"a.size": True, "b.size": 2}


def test_a_hand_filled_value_fills_a_hole_and_never_overwrites():
    filled = Run("r1", "cell", 1, metrics={"tests": True}, unjudged={"clear": "later"})
    refusals = fill_manual(filled, {"tests": False, "clear": True})
    assert filled.metrics == {"tests": True, "clear": True}
    assert filled.unjudged == {}
    assert len(refusals) == 1
    assert "tests of run r1 is already measured" in refusals[0]


def test_a_run_counts_when_valid_and_every_validity_metric_is_true():
    counted = run(1, delivered=True)
    runs = [counted, run(2, delivered=False), run(3), run(4, delivered=1), run(5, "validator_failed", delivered=True)]
    assert valid_runs(runs, ["delivered"]) == [counted]
    assert len(valid_runs(runs)) == 4


def test_the_tally_counts_what_was_not_true_apart_from_what_was_not_judged():
    runs = [run(1, delivered=True), run(2, delivered=False), run(3), run(4, "empty")]
    found = tally(runs, ["delivered"])
    assert (found.runs, found.valid, found.kept) == (4, 3, 1)
    assert (found.untrue, found.unjudged) == ({"delivered": 1}, {"delivered": 1})
    assert found.sentence() == "4 runs, 3 valid, 1 counted: delivered was not true in 1, delivered was not judged in 1"


def test_a_rate_counts_booleans_alone():
    assert rate([run(a=True), run(a=False), run(a=1), run(), run(a=None)], "a") == (1, 2)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(), json_values, max_size=4), st.booleans(), st.none() | st.text())
def test_a_row_of_measures_gives_the_run_back(metrics, rehearsed, launch):
    before = Run("r1", "a / b", 2, {"input": 3, "retries": None}, 1.5, metrics, launch=launch, rehearsed=rehearsed)
    row = json.loads(json.dumps(before.row()))
    assert Run.from_row(row) == before
    assert ("rehearsed" in row) == rehearsed


def test_a_row_has_the_columns_of_the_archive_in_their_order():
    measured = "id cell repetition usage duration metrics reasons unjudged state detail attempts"
    assert list(run().row()) == [*measured.split(), "agent_version", "isolation", "launch"]


def test_a_row_of_an_older_archive_lacks_columns_and_a_damaged_one_is_named():
    assert Run.from_row({"id": "r", "cell": "c", "repetition": 1, "carried": True}).isolation is None
    with pytest.raises(ArchiveError, match="lacks cell, repetition"):
        Run.from_row({"id": "r"})


def test_importing_measure_loads_none_of_the_slow_libraries():
    code = "import sys, trysquare.measure; print([m for m in ('numpy', 'scipy', 'pandas') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"

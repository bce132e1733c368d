from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trysquare.agent import Outcome
from trysquare.errors import TrysquareError
from trysquare.holding import NOT_STARTED, held, note, refuse_held
from trysquare.layout import Layout

USAGE = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "turns": 0, "retries": 3, "cost": 0}
REFUSED = Outcome(Path(), "", "503 upstream overloaded", "", 1, 1.0, False, USAGE)
SERVED = replace(REFUSED, error="", code=0, usage={**USAGE, "input": 5, "output": 5, "turns": 1})
UNKNOWN = replace(REFUSED, error="401 invalid key")
LAUNCH = {"id": "20260101T000000-1", "concurrency": 3}


def after(place, outcomes, launch=LAUNCH):
    layout = Layout(place)
    for number, outcome in enumerate(outcomes):
        note(layout, launch, f"{number:08x}", outcome)
    return held(layout, launch)


def test_as_many_refusals_in_a_row_as_run_at_once_hold_the_rest_back(tmp_path):
    assert after(tmp_path, [SERVED, REFUSED, REFUSED]) == ""
    sentence = after(tmp_path, [REFUSED])
    assert sentence.startswith(NOT_STARTED) and "503 upstream overloaded" in sentence and "\n" not in sentence
    with pytest.raises(TrysquareError, match="launch again later"):
        refuse_held(Layout(tmp_path), LAUNCH)


def test_a_run_that_was_served_clears_the_way(tmp_path):
    assert after(tmp_path, [REFUSED, REFUSED, SERVED, REFUSED, REFUSED]) == ""


def test_one_refusal_alone_never_holds_anything_back(tmp_path):
    assert after(tmp_path, [REFUSED], {**LAUNCH, "concurrency": 1}) == ""


def test_the_next_launch_tries_again(tmp_path):
    assert after(tmp_path, [REFUSED] * 3)
    assert after(tmp_path, [], {**LAUNCH, "id": "20260101T000001-1"}) == ""


def test_a_wrong_key_is_no_refusal_and_leaves_nothing_behind(tmp_path):
    assert after(tmp_path, [UNKNOWN] * 5) == ""
    assert not Layout(tmp_path).live.exists()


@pytest.mark.parametrize(
    "said", ["429 Too Many Requests", "Error: rate_limit_error", "Overloaded", "529", "Service Unavailable"]
)
def test_what_providers_say_when_they_serve_nobody_is_understood(tmp_path, said):
    assert after(tmp_path, [replace(REFUSED, error=said)] * 3)


@given(st.lists(st.booleans(), max_size=12), st.integers(1, 5))
def test_it_is_the_last_runs_that_decide(tmp_path_factory, served, concurrency):
    outcomes = [SERVED if each else REFUSED for each in served]
    enough = max(2, concurrency)
    expected = len(served) >= enough and not any(served[-enough:])
    assert bool(after(tmp_path_factory.mktemp("m"), outcomes, {**LAUNCH, "concurrency": concurrency})) == expected

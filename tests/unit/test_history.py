"""What launches.jsonl says was done to a matrix."""

from trysquare import history

LAUNCH = {"kind": "launch", "id": "own", "concurrency": 2, "timeout": 60.0}
FOREIGN = {"kind": "launch", "id": "before", "concurrency": 5, "timeout": 900.0}
CARRY = {
    "kind": "carry",
    "launch": "own",
    "directory": "x_n5",
    "repetitions": 5,
    "runs": ["a", "b"],
    "launches": [FOREIGN],
}


def test_a_run_was_carried_when_no_launch_of_the_matrix_measured_it() -> None:
    assert set(history.carried([LAUNCH, CARRY], {"a": "before", "b": "own", "c": "before"})) == {"a"}
    assert history.carried([LAUNCH], {"a": "before"}) == {}


def test_carried_runs_are_counted_by_where_they_come_from_and_their_load() -> None:
    [entry] = history.carries([LAUNCH, CARRY], {"a": "before", "b": "before"})
    assert entry == {"directory": "x_n5", "repetitions": 5, "concurrency": 5, "timeout": 900.0, "runs": 2}


def test_launches_of_carried_runs_are_known_beside_the_own_ones() -> None:
    assert history.loads([LAUNCH, CARRY]) == {"own": LAUNCH, "before": FOREIGN}


def test_lines_of_an_unknown_kind_are_passed_over() -> None:
    lines = [{"kind": "later"}, {}, {"kind": "discard", "cell": "x", "runs": {"a": "d"}}]
    assert history.discarded(lines) == {"a"} and history.carries(lines, {"a": None}) == []

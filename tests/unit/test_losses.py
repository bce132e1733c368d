"""Metrics that lost their value: one line a reason, however many runs it is of."""

from trysquare.losses import lost
from trysquare.measure import Run


def rows(values, cells=("plain", "rule")):
    """A row for each value, the cells in turn."""
    return [
        Run(f"{number:08x}", cells[number % len(cells)], number, metrics={"tests": value})
        for number, value in enumerate(values)
    ]


def losing(before, why, declared=("tests",)):
    """What is said once every run fails for its reason, or answers nothing where there is none."""
    after = [
        Run(run.id, run.cell, run.repetition, state="validator_failed" if why(run) else "valid", detail=why(run))
        for run in before
    ]
    return lost([run.row() for run in before], after, declared)


def test_one_run_is_named_with_its_cell_and_its_value():
    assert losing(rows([True]), lambda run: "script: exited 1") == [
        "lost: tests of run 00000000 (plain, repetition 0) had the value true and has none now: script: exited 1"
    ]


def test_many_runs_with_one_reason_are_one_line_for_each_metric():
    before = rows([True] * 40)
    for run in before:
        run.metrics["delivered"] = run.repetition % 2 == 0
    assert losing(before, lambda run: "script: exited 1", ("tests", "delivered")) == [
        "lost: tests of 40 runs of 2 cells (00000000, 00000001, 00000002 and 37 more) had the value true and has none "
        "now: script: exited 1",
        "lost: delivered of 40 runs of 2 cells (00000000, 00000001, 00000002 and 37 more) had values and has none "
        "now: script: exited 1",
    ]


def test_where_only_one_cell_lost_a_metric_it_is_named():
    [line] = losing(rows([True] * 2, ["rule"]), lambda run: "script: exited 1")
    assert line.startswith("lost: tests of 2 runs of rule (00000000, 00000001) had the value true")


def test_reasons_that_differ_from_run_to_run_are_told_up_to_three_and_then_counted():
    lines = losing(rows([True] * 30), lambda run: f"script: crashed at {run.id}")
    assert [line.rpartition(": ")[2] for line in lines[:3]] == [f"crashed at 0000000{number}" for number in range(3)]
    assert lines[3:] == [
        "lost: tests of 27 runs of 2 cells (00000003, 00000004, 00000005 and 24 more) had the value true and has none "
        "now, for 27 other reasons: measures.json holds each"
    ]


def test_a_metric_that_is_declared_no_more_is_not_called_lost():
    before = rows([True] * 10)
    assert losing(before, lambda run: "", ()) == [
        "not declared, and no longer returned: tests; it had the value true in 10 runs of 2 cells "
        "(00000000, 00000001, 00000002 and 7 more)"
    ]
    assert losing(before, lambda run: "", ("tests",))[0].endswith("has none now: it is no longer returned")
    assert losing(before, lambda run: "script: exited 1", ())[0].startswith("lost: tests of 10 runs")

"""Setting runs aside: whole, once, and never what was measured since."""

import json
from pathlib import Path

import pytest

from tests.matrices import CELLS, matrix
from trysquare.discarding import discard, refuse_interrupted, refuse_unfinished
from trysquare.errors import ArchiveError
from trysquare.layout import Layout, RunLayout

PLAN = matrix(CELLS[:2], repetitions=2)
RUNS = [run for run in PLAN.runs.values() if run.cell == CELLS[0]]


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path / PLAN.name)
    for run in PLAN.runs.values():
        record(made, run, "first")
    return made


def record(layout: Layout, run, launch: str) -> RunLayout:
    found = layout.run(run.directory)
    found.session.mkdir(parents=True)
    found.record.write_text(json.dumps({"id": run.id, "launch": {"id": launch}}))
    return found


def aside(layout: Layout) -> list[str]:
    return sorted(path.name for path in layout.discarded.iterdir())


def test_a_run_takes_its_attempts_along_and_leaves_none_behind(layout: Layout) -> None:
    first, second = RUNS
    layout.attempt_sessions(first.id).mkdir(parents=True)
    (layout.attempt_sessions(first.id) / "attempt-01.jsonl").write_text("{}")
    layout.attempts(first.id).write_text("{}\n")
    assert "2 runs of" in discard(layout, PLAN, [CELLS[0]])[0]
    assert aside(layout) == [f"{first.id}.0", f"{second.id}.0"]
    moved = layout.discarded / f"{first.id}.0"
    assert (moved / "run.json").exists() and (moved / "attempts" / "attempt-01.jsonl").exists()
    assert (moved / "attempts.jsonl").exists() and not layout.attempts(first.id).exists()
    assert not layout.run(first.directory).root.exists()


def test_what_was_staged_for_a_run_does_not_come_back(layout: Layout) -> None:
    for name in (f"{RUNS[0].id}-killed", f"judge-{RUNS[0].id}-judge-killed"):
        (layout.incoming / name).mkdir(parents=True)
    discard(layout, PLAN, [CELLS[0]])
    assert list(layout.incoming.iterdir()) == []
    assert [name for name in aside(layout) if name.startswith(RUNS[0].id)] == [f"{RUNS[0].id}.{k}" for k in range(3)]


def test_an_act_cut_in_two_is_finished_and_spares_what_was_measured_since(layout: Layout) -> None:
    discard(layout, PLAN, [CELLS[0]])
    first, second = RUNS
    record(layout, first, "second")
    (layout.discarded / f"{second.id}.0").rename(layout.run(second.directory).root)
    with pytest.raises(ArchiveError, match="interrupted half way"):
        refuse_interrupted(layout, PLAN)
    assert "1 run of" in discard(layout, PLAN, [CELLS[0]])[0]
    assert layout.run(first.directory).record.exists()
    refuse_interrupted(layout, PLAN)


def test_a_second_act_waits_for_the_runs_of_the_first(layout: Layout) -> None:
    discard(layout, PLAN, [CELLS[0]])
    record(layout, RUNS[0], "second")
    with pytest.raises(ArchiveError, match="1 of 2 are not measured again yet"):
        discard(layout, PLAN, [CELLS[0]])
    refuse_unfinished(layout, PLAN, [CELLS[1]])
    record(layout, RUNS[1], "second")
    discard(layout, PLAN, [CELLS[0]])
    assert aside(layout) == [f"{run.id}.{k}" for run in RUNS for k in range(2)]

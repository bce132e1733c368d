"""What planning says and refuses of an archive: runs that were measured, and whose cell, tag or tree changed."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from plans import here, origin, planned, refusal
from scenarios import git, scenario, small, write

from trysquare import runner
from trysquare.errors import TrysquareError
from trysquare.files import write_bytes, write_json

__all__ = ["here", "origin"]


def record(plan: runner.Plan, *runs: runner.plan.RunPlan, **usage: Any) -> None:
    """Archive runs as a measure job does, as far as planning reads it, and freeze the plan."""
    for run in runs or plan.matrix.runs.values():
        cell = plan.matrix.cells[run.cell]
        place = plan.output.run(run.directory)
        place.root.mkdir(parents=True)
        tokens = {"input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0, "cost": 0, **usage}
        data = {"cell": run.cell, "fingerprint": cell.fingerprint, "parts": dict(cell.parts), "usage": tokens}
        place.record.write_text(json.dumps(data))
        source = plan.matrix.source
        place.configuration.write_text(json.dumps({"etalon_commit": source.commit, "repo": source.repo}))
        place.session.mkdir()
        for file in (place.prompt, place.response, place.patch, place.session / "attempt-01.jsonl"):
            file.touch()
    for name, data in plan.bricks.items():
        write_bytes(plan.output.brick(name), data)
    plan.matrix.save(plan.output.plan)


def measured(path: Path, **settings: Any) -> str:
    """The refusal about measured runs."""
    with pytest.raises(TrysquareError) as found:
        runner.refuse_measured(planned(path, **settings))
    return str(found.value)


def test_a_tree_never_mixes_layouts(here: Path) -> None:
    path = write(here, small())
    record(planned(path))
    found = refusal(path, layout="blind")
    assert "are grouped and would become blind" in found and "layout=grouped" in found


@pytest.mark.parametrize(
    ("change", "what"),
    [({"etalon": "release/1"}, "the etalon"), ({"provider": "a b"}, "the provider"), ({"model": "x/y"}, "the model")],
)
def test_a_directory_of_another_experiment_is_refused(here: Path, change: dict[str, str], what: str) -> None:
    git(here / "repo", "tag", "release/1")
    git(here / "repo", "tag", "release-1")
    before, after = small(), small()
    for raw, slash in ((before, False), (after, True)):
        for key, value in change.items():
            clash = value if slash else value.replace("/", "-").replace(" ", "-")
            raw["task" if key == "etalon" else "agent"][key] = clash
    record(planned(write(here, before)))
    plan = planned(write(here, after))
    with pytest.raises(TrysquareError) as found:
        runner.refuse_foreign(plan)
    assert f"holds another experiment: {what} is" in str(found.value)
    runner.refuse_foreign(planned(write(here, before)))


def test_a_changed_cell_with_measured_runs_is_refused_with_what_changed_and_both_ways_out(here: Path) -> None:
    path = write(here, scenario())
    plan = planned(path)
    record(plan)
    runner.refuse_measured(planned(path))
    (here / "context/rule.md").write_text("Touch anything.\n")
    found = measured(path)
    assert 'the cell "rule / high"' in found and "its context changed" in found
    assert "rename the cell" in found and f'(trysquare run {path} --overwrite "rule / high")' in found
    assert len(found.splitlines()) == 1


def test_a_changed_cell_of_a_rehearsal_is_not_sent_to_a_launch_that_is_paid_for(here: Path) -> None:
    path = write(here, scenario())
    record(planned(path, rehearse=True))
    (here / "context/rule.md").write_text("Touch anything.\n")
    assert f'(trysquare rehearse {path} --overwrite "rule / high")' in measured(path, rehearse=True)


def test_a_brick_a_cell_got_or_lost_is_named(here: Path) -> None:
    path = write(here, scenario())
    record(planned(path))
    raw = scenario()
    raw["variants"]["probed"]["harness"] = ["probe", "crew"]
    found = measured(write(here, raw))
    assert '"probed"' in found and "skills" in found and "extensions" in found and "files" not in found


def test_a_cell_without_measured_runs_may_change(here: Path) -> None:
    path = write(here, small())
    plan = planned(path)
    record(plan, *[run for run in plan.matrix.runs.values() if run.cell == "plain"])
    raw = small()
    raw["variants"]["deep"]["thinking"] = "max"
    runner.refuse_measured(planned(write(here, raw)))


def test_a_cell_that_is_measured_again_may_change(here: Path) -> None:
    record(planned(write(here, small())))
    raw = small()
    raw["variants"]["deep"]["thinking"] = "max"
    plan = planned(write(here, raw), overwrite="deep")
    runner.refuse_measured(plan)
    assert {run.cell for run in plan.todo} == {"deep"}
    assert "set aside first: deep" in "\n".join(runner.header(plan))


def test_a_moved_tag_is_refused_once_runs_were_measured(here: Path) -> None:
    path = write(here, small())
    record(planned(path))
    git(here / "repo", "commit", "--quiet", "--allow-empty", "--message=more")
    git(here / "repo", "tag", "--force", "v1")
    found = measured(path)
    assert "the tag was moved" in found and "4 recorded runs" in found


def test_a_damaged_record_is_named(here: Path) -> None:
    path = write(here, small())
    plan = planned(path)
    record(plan)
    broken = plan.output.run(plan.todo[0].directory).record
    for text in ("{", "[]", "{}"):
        broken.write_text(text)
        assert str(broken) in measured(path)


def test_what_was_frozen_and_removed_since_is_announced(here: Path) -> None:
    path = write(here, small())
    assert planned(path).notes == ()
    plan = planned(path)
    record(plan)
    (here / "validator.py").write_text("print('{ }')\n")
    assert planned(path).notes == (), "what was never frozen cannot have been removed"
    frozen = sorted(plan.output.bricks.iterdir())
    for brick in frozen:
        brick.unlink()
    [note] = planned(path).notes
    assert note.startswith("GONE: 1 frozen file of ") and "`run` writes them again" in note
    plan.output.plan.unlink()
    [note] = planned(path).notes
    assert note.startswith(f"GONE: {plan.output.plan} was removed; `run` writes it again")


def test_a_run_that_was_measured_and_removed_is_announced_before_it_is_paid_for_again(here: Path) -> None:
    path = write(here, small())
    plan = planned(path)
    record(plan)
    states = ["valid", "validator_failed", "valid", "empty"]
    rows = [{"id": run.id, "cell": run.cell, "state": state} for run, state in zip(plan.todo, states, strict=True)]
    write_json(plan.output.measures, rows)
    first, second, _, never = plan.todo
    for run in (first, second, never):
        shutil.rmtree(plan.output.run(run.directory).root)
    again = planned(path)
    assert [run.id for run in again.todo] == [first.id, second.id, never.id]
    [note] = again.notes
    assert note.startswith(f"GONE: 2 runs of {plan.directory} ({first.id}, {second.id}) had been measured")
    assert "measured, and paid for, again" in note
    assert runner.measured_before(again) == {first.id: first.cell, second.id: second.cell}
    assert not planned(path, overwrite=[first.cell, second.cell]).notes, "what is set aside is no loss"


def test_a_larger_matrix_that_holds_runs_to_be_paid_for_is_named(here: Path) -> None:
    path = write(here, small())
    larger = planned(path, repetitions=3)
    record(larger)
    [note] = planned(path).notes
    assert note.startswith(f"LARGER: {larger.directory} holds 4 of the runs to perform")
    assert note.endswith("launch with 3 repetitions to read what is there")


def test_cells_that_came_and_went_are_announced(here: Path) -> None:
    record(planned(write(here, small())))
    raw = small(variants={"plain": {}, "new": {"thinking": "low"}})
    notes = planned(write(here, raw)).notes
    assert notes == (
        'STALE: the scenario no longer declares "deep"; its 2 runs stay in every table',
        'ADDED: "new"; the runs of the other cells are kept',
    )
    assert planned(write(here, small())).notes == ()


def test_what_is_recorded_is_kept_and_the_rest_is_to_do(here: Path) -> None:
    path = write(here, small())
    plan = planned(path)
    record(plan, plan.todo[0])
    again = planned(path)
    assert again.todo == plan.todo[1:]
    assert "4 runs: 3 to perform, 1 kept" in "\n".join(runner.header(again))


def test_the_spend_is_estimated_from_what_this_experiment_has_archived(here: Path) -> None:
    path = write(here, small())
    plan = planned(path)
    record(plan, *plan.todo[:3], cost=0.5)
    assert "spend: about 0.50 " in "\n".join(runner.header(planned(path)))
    shutil.rmtree(plan.directory)
    record(plan, *plan.todo[:3])
    assert "about 15 tokens (median of 3 archived runs x 1); no archived run has a price" in "\n".join(
        runner.header(planned(path))
    )


def test_a_smaller_matrix_is_offered_and_carried_when_asked_for(here: Path) -> None:
    path = write(here, small())
    smaller = planned(path)
    record(smaller)
    larger = planned(path, repetitions=5)
    assert larger.carried is None and len(larger.todo) == 10
    assert larger.notes == (
        f"AVAILABLE: 4 of these runs are in {smaller.directory} already; extend=true carries them instead of "
        "paying again",
    )
    extended = planned(path, repetitions=5, extend=True)
    assert extended.carried is not None
    assert set(extended.carried.trees) == set(smaller.matrix.runs) and len(extended.todo) == 6
    text = "\n".join(runner.header(extended))
    assert "10 runs: 6 to perform, 0 kept, 4 carried" in text and "CARRIED: 4 runs come from" in text


def test_the_largest_smaller_matrix_that_agrees_is_the_one_source(here: Path) -> None:
    path = write(here, small())
    for count in (2, 3):
        record(planned(path, repetitions=count))
    found = planned(path, repetitions=5, extend=True).carried
    assert found is not None and found.repetitions == 3 and len(found.entries) == 6
    other = planned(path, repetitions=3)
    for run in other.matrix.runs.values():
        configuration = other.output.run(run.directory).configuration
        configuration.write_text(json.dumps({"etalon_commit": "f" * 40, "repo": "counter"}))
    found = planned(path, repetitions=5, extend=True).carried
    assert found is not None and found.repetitions == 2


def test_an_extension_that_disagrees_is_refused_by_name(here: Path) -> None:
    record(planned(write(here, small())))
    raw = small()
    raw["variants"]["deep"]["thinking"] = "max"
    path = write(here, raw)
    found = refusal(path, repetitions=5, extend=True)
    assert "cannot be carried" in found and "the cell 'deep' had another thinking" in found
    assert "they cannot be carried" in planned(path, repetitions=5).notes[-1]


def test_an_extension_without_a_smaller_matrix_is_refused_and_one_that_is_done_is_not(here: Path) -> None:
    path = write(here, small())
    found = refusal(path, extend=True)
    assert "with fewer than 2 repetitions" in found and "leave extend out" in found
    record(planned(path))
    larger = planned(path, repetitions=3)
    record(larger)
    again = planned(path, repetitions=3, extend=True)
    assert again.carried is None and again.todo == ()

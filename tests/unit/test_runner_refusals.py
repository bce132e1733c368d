"""Refusals that look beyond the scenario file: the archive, the repository, the machine."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from scenarios import git, place, repository, scenario, small, write

from trysquare import runner
from trysquare.errors import TrysquareError
from trysquare.files import write_bytes
from trysquare.layout import Layout


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("origin") / "repo")


@pytest.fixture
def here(tmp_path: Path, origin: Path) -> Path:
    shutil.copytree(origin, tmp_path / "repo", symlinks=True)
    return place(tmp_path)


def planned(path: Path, **settings: Any) -> runner.Plan:
    output = str(path.parent / "results")
    return runner.resolve_all(runner.Settings.of({"scenario": str(path), "output": output, **settings}))[0]


def refusal(path: Path, **settings: Any) -> str:
    with pytest.raises(TrysquareError) as found:
        planned(path, **settings)
    return str(found.value)


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


def test_an_unknown_cell_is_refused_with_the_list_of_cells_whichever_key_named_it(here: Path) -> None:
    path = write(here, small())
    for key in ("only", "overwrite", "reference"):
        found = refusal(path, **{key: "dep"})
        assert found.startswith(f'{key}: there is no cell "dep" (did you mean "deep"?)')
        assert '"plain", "deep"' in found


def test_problems_of_the_scenario_and_of_the_machine_are_shown_together(here: Path) -> None:
    (here / "trysquare.toml").write_text("[repos]\ncounter = 3\n")
    found = refusal(write(here, small(agent={"provider": "a", "model": "b", "thinking": "loud"})))
    assert "[agent] thinking" in found and "[repos] counter" in found


def test_problems_of_every_scenario_are_shown_together(here: Path) -> None:
    paths = [str(write(here, small(verdict=None), name)) for name in ("a.toml", "b.toml")]
    with pytest.raises(TrysquareError) as found:
        runner.resolve_all(runner.Settings.of({"scenario": paths}))
    assert [row.partition(": ")[0] for row in str(found.value).splitlines()] == paths


def test_what_only_planning_sees_is_shown_together(here: Path) -> None:
    (here / "agents/coder.md").write_text("no model\n")
    raw = scenario()
    del raw["harness"]["crew"]["model"]
    raw["validation"][0]["inputs"] = ["none/*.json"]
    raw["task"]["etalon"] = "v2"
    found = refusal(write(here, raw))
    assert all(part in found for part in ("coder.md", "none/*.json", "etalon 'v2'")), found


def test_a_repository_nobody_knows_is_refused_with_the_lines_to_write(here: Path) -> None:
    (here / "trysquare.toml").write_text("[repos]\nother = 'repo'\n")
    found = refusal(write(here, small()))
    assert '[repos] does not name "counter"' in found and 'counter = "/path/to/counter"' in found


@pytest.mark.parametrize(
    ("etalon", "said"),
    [("main", "only a tag or a full commit"), ("v2", "write a tag, or a commit in full"), ("0" * 40, "no commit")],
)
def test_an_etalon_that_pins_nothing_is_refused(here: Path, etalon: str, said: str) -> None:
    raw = small()
    raw["task"]["etalon"] = etalon
    found = refusal(write(here, raw))
    assert f"{here / 'rule.toml'}: [task] etalon" in found and said in found


def test_a_short_hash_is_refused_with_the_full_one(here: Path) -> None:
    raw, commit = small(), git(here / "repo", "rev-parse", "HEAD")
    raw["task"]["etalon"] = commit[:10]
    assert commit in refusal(write(here, raw))
    raw["task"]["etalon"] = commit
    assert planned(write(here, raw)).matrix.source.commit == commit


def test_a_repository_that_is_no_directory_is_refused(here: Path) -> None:
    (here / "trysquare.toml").write_text("[repos]\ncounter = 'nowhere'\n")
    found = refusal(write(here, small()))
    assert "[repos] counter" in found and "is no directory; correct the path" in found


@pytest.mark.parametrize(
    ("destination", "tracked"),
    [("counter.py", "counter.py"), ("counter.py/x", "counter.py"), ("src", "src/"), ("link/x.py", "link")],
)
def test_a_given_file_never_replaces_or_passes_through_what_the_etalon_tracks(
    here: Path, destination: str, tracked: str
) -> None:
    (here / "repo/link").symlink_to("src")
    git(here / "repo", "add", ".")
    git(here / "repo", "commit", "--quiet", "--message=link")
    git(here / "repo", "tag", "--force", "v1")
    raw = scenario()
    raw["harness"]["probe"]["files"] = {destination: "probe.py"}
    found = refusal(write(here, raw))
    assert f'"{destination}" would replace "{tracked}"' in found and "choose another destination" in found


def test_two_bricks_of_a_cell_that_give_one_file_are_refused(here: Path) -> None:
    raw = scenario()
    raw["harness"]["again"] = {"kind": "files", "files": {"./tests//test_probe.py": "probe.py"}}
    raw["variants"]["probed"]["harness"].append("again")
    found = refusal(write(here, raw))
    assert '"probed" gets "tests/test_probe.py" twice' in found and "load one brick only" in found


def test_an_injected_agent_without_a_model_is_refused_by_its_file(here: Path) -> None:
    (here / "agents/coder.md").write_text("---\nname: coder\n---\n")
    raw = scenario()
    del raw["harness"]["crew"]["model"]
    found = refusal(write(here, raw))
    assert "[harness.crew] paths" in found and "coder.md" in found and "model" in found


@pytest.mark.parametrize("place", ["brick", "frontmatter"])
def test_an_agent_that_would_think_at_another_level_than_its_cell_is_refused(here: Path, place: str) -> None:
    raw = scenario()
    raw["harness"]["crew"]["model"] = "small:high"
    if place == "frontmatter":
        del raw["harness"]["crew"]["model"]
        (here / "agents/coder.md").write_text("---\nname: coder\nmodel: small:high\n---\n")
    found = refusal(write(here, raw))
    assert 'the cell "probed" injects agents: its agents would think at high and the cell declares off' in found
    raw["variants"]["probed"]["thinking"] = "high"
    assert planned(write(here, raw)).matrix.cells["probed"].thinking == "high"


def test_a_brick_of_agents_without_an_agent_file_is_refused(here: Path) -> None:
    raw = scenario()
    raw["harness"]["crew"]["paths"] = ["data"]
    assert "holds no agent file" in refusal(write(here, raw))


@pytest.mark.parametrize("kind", ["empty", "link", "pipe"])
def test_a_brick_that_would_be_frozen_short_is_refused(here: Path, kind: str) -> None:
    import os

    directory = here / "skills/review"
    if kind == "empty":
        shutil.rmtree(directory)
        directory.mkdir()
    elif kind == "link":
        (directory / "more").symlink_to(here / "data")
    else:
        os.mkfifo(directory / "pipe")
    found = refusal(write(here, scenario()))
    assert "[harness.skills] paths" in found and found.rstrip().endswith(".")


def test_a_script_that_cannot_be_played_is_refused(here: Path) -> None:
    (here / "rehearsal.toml").write_text("nonsense = 1\n")
    assert "rehearsal.toml" in refusal(write(here, small()), rehearse=True)
    assert planned(write(here, small())).matrix.rehearsal is None


@pytest.mark.parametrize(
    ("script", "parts"),
    [
        ('[[play]]\nname = "a"\ncells = ["dep"]\n', ("play #1", "fits no cell", "plain, deep")),
        ('[[play]]\nname = "a"\ncells = ["plain"]\n', ("no [[play]] fits repetition 0 of cell 'deep'",)),
        ('[model]\nid = "small"\n[[play]]\nname = "a"\n', ("model.id", "'large'", "leave `id` out")),
    ],
)
def test_a_script_that_is_for_another_experiment_is_refused_at_plan_time(
    here: Path, script: str, parts: tuple[str, ...]
) -> None:
    (here / "rehearsal.toml").write_text(f'{script}[[play.turn]]\ntext = "Done."\n')
    found = refusal(write(here, small()), rehearse=True)
    assert str(here / "rehearsal.toml") in found and all(part in found for part in parts), found


def test_two_runs_with_one_id_are_refused(here: Path) -> None:
    # Repetition 0 of one and 1 of the other have equal ids; found by trying names.
    found = refusal(write(here, small(variants={"plain": {}, "c25623": {}, "c27990": {}}), "s.toml"))
    assert "get one run id" in found and "rename one of the cells" in found


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
    assert "rename the cell" in found and '--overwrite "rule / high"' in found
    assert len(found.splitlines()) == 1


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


@pytest.mark.parametrize("name", ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"])
@pytest.mark.parametrize("level", [".", "work"])
def test_a_context_that_would_be_inherited_is_refused_where_a_cell_has_one(here: Path, name: str, level: str) -> None:
    (here / "work").mkdir()
    plain, context = planned(write(here, small())), planned(write(here, scenario()))
    runner.refuse_inherited_context(context)
    (here / level / name).write_text("be kind")
    runner.refuse_inherited_context(plain)
    with pytest.raises(TrysquareError) as found:
        runner.refuse_inherited_context(context)
    assert str(here / level / name) in str(found.value) and "[defaults] workdir" in str(found.value)


def test_a_context_above_the_work_directory_is_refused_where_a_cell_injects_agents(here: Path) -> None:
    raw = small(harness={"crew": {"paths": ["agents"], "kind": "agents"}})
    raw["variants"]["deep"] = {"harness": ["crew"]}
    plan = planned(write(here, raw))
    runner.refuse_inherited_context(plan)
    (here / "AGENTS.md").write_text("be kind")
    with pytest.raises(TrysquareError, match='the cell "deep" injects agents, and an agent would also read'):
        runner.refuse_inherited_context(plan)


def test_the_names_of_context_files_are_those_the_agent_looks_for() -> None:
    import sys

    from trysquare.runner.refusing import CONTEXT_NAMES

    agent = Path(sys.prefix) / "share/trysquare/agent/node_modules/@earendil-works/pi-coding-agent"
    loader = (agent / "dist/core/resource-loader.js").read_text()
    assert json.dumps(list(CONTEXT_NAMES)) in loader


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


def test_a_plan_knows_its_tree(here: Path) -> None:
    plan = planned(write(here, small()))
    assert plan.output == Layout(plan.directory) and plan.repo_path == here / "repo" and plan.repo_source == "repo"

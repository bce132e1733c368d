"""Resolving a scenario into the frozen plan."""

from pathlib import Path
from typing import Any

import pytest
from plans import here, origin, planned
from scenarios import git, scenario, small, write

from trysquare import runner
from trysquare.config import Config, load
from trysquare.errors import TrysquareError
from trysquare.files import digest
from trysquare.matrix import Matrix
from trysquare.outputs import experiment_name
from trysquare.scenario import load as load_scenario

__all__ = ["here", "origin"]


def test_a_plan_is_frozen_down_to_bytes_and_survives_its_file(here: Path) -> None:
    plan = planned(write(here, scenario()))
    matrix = plan.matrix
    assert matrix.name == "rule_v1_acme_large_n2" == plan.directory.name
    assert matrix.source.commit == git(here / "repo", "rev-parse", "HEAD")
    assert matrix.source.checkout == str(here / "repo") and matrix.source.origin == "repo"
    assert matrix.experiment.hypothesis == "The rule helps.\n"
    assert (matrix.protocol.concurrency, matrix.protocol.timeout, matrix.protocol.attempts) == (3, 60.0, 2)
    assert (matrix.protocol.stream_limit, matrix.protocol.max_cost) == (50_000_000, 5.0)
    assert matrix.task.collect == ("report.json", "out/metrics.json")
    assert matrix.workdir == str(here / "work")
    matrix.save(here / "plan.json")
    assert Matrix.load(here / "plan.json") == matrix


def test_every_digest_of_a_plan_has_its_bytes(here: Path) -> None:
    plan = planned(write(here, scenario()))
    wanted = set()
    for cell in plan.matrix.cells.values():
        wanted |= {cell.prompt, cell.context, cell.system, cell.setup.digest}
        for tree in (cell.files, cell.agents, cell.skills, *(extension.tree for extension in cell.extensions)):
            wanted |= {blob.digest for blob in tree.values()}
    for validator in plan.matrix.validators.values():
        wanted |= {blob.digest for blob in validator.tree.values()} | {validator.settings.get("rubric")}
    wanted.discard(None)
    assert wanted <= set(plan.bricks)
    assert all(digest(data) == name for name, data in plan.bricks.items())


def test_a_cell_holds_what_its_bricks_are(here: Path) -> None:
    plan = planned(write(here, scenario()))
    cell = plan.matrix.cells["probed"]
    assert list(cell.files) == ["tests/test_probe.py"]
    assert list(cell.skills) == ["review/SKILL.md"]
    assert [(extension.brick, extension.load, list(extension.tree)) for extension in cell.extensions] == [
        ("hook", "hook.ts", ["hook.ts"])
    ]
    assert (
        plan.bricks[cell.agents["coder.md"].digest]
        == b"---\nname: coder\ndescription: codes\nmodel: small\n---\nCode.\n"
    )
    assert cell.agent_model == "small" and cell.history is False
    assert plan.matrix.cells["rule / high"].description == "the rule"


def test_a_directory_of_several_skills_gives_each_its_place(here: Path) -> None:
    (here / "skills/second").mkdir()
    (here / "skills/second/SKILL.md").write_text("---\nname: second\ndescription: x\n---\n")
    (here / "skills/second/tool.sh").write_text("#!/bin/sh\n")
    (here / "skills/second/tool.sh").chmod(0o755)
    raw = scenario()
    raw["harness"]["skills"]["paths"] = ["skills"]
    skills = planned(write(here, raw)).matrix.cells["+terse"].skills
    assert {name: blob.executable for name, blob in skills.items()} == {
        "review/SKILL.md": False,
        "second/SKILL.md": False,
        "second/tool.sh": True,
    }


def test_runs_are_ordered_by_repetition_then_cell_and_placed_by_cell(here: Path) -> None:
    plan = planned(write(here, small()))
    assert [(run.repetition, run.cell) for run in plan.matrix.runs.values()] == [
        (0, "plain"),
        (0, "deep"),
        (1, "plain"),
        (1, "deep"),
    ]
    assert all(run.directory == f"{run.cell}/{name}" for name, run in plan.matrix.runs.items())
    assert plan.todo == tuple(plan.matrix.runs.values())
    assert runner.interleave(reversed(plan.todo)) == [plan.todo[at] for at in (1, 0, 3, 2)]


def test_a_run_keeps_its_id_when_there_are_more_repetitions(here: Path) -> None:
    path = write(here, small())
    few, many = planned(path).matrix, planned(path, repetitions=7).matrix
    assert list(many.runs)[:4] == list(few.runs) and many.name.endswith("_n7")


def test_a_form_or_a_wish_makes_a_tree_blind(here: Path) -> None:
    raw = small()
    assert planned(write(here, raw), layout="blind").matrix.blind
    raw["validation"].append({"mode": "form", "metrics": ["clear"]})
    plan = planned(write(here, raw))
    assert plan.matrix.blind and all(run.directory == name for name, run in plan.matrix.runs.items())
    assert not planned(write(here, raw), layout="grouped").matrix.blind


def test_load_comes_from_the_launch_then_the_scenario_then_the_machine_then_what_is_built_in(here: Path) -> None:
    path = write(here, small())
    found = planned(path).matrix.protocol
    assert (found.concurrency, found.timeout, found.attempts, found.stream_limit) == (5, 900.0, 3, 50_000_000)
    lines = "[defaults]\nconcurrency = 7\ntimeout = 70\nattempts = 1\nstream_limit = 0.5\nworkdir = 'work'\n"
    (here / "trysquare.toml").write_text(f"[repos]\ncounter = 'repo'\n{lines}")
    found = planned(path).matrix.protocol
    assert (found.concurrency, found.timeout, found.attempts, found.stream_limit) == (7, 70.0, 1, 500_000)
    path = write(here, small(protocol={"repetitions": 2, "concurrency": 3, "timeout": 30}))
    plan = planned(path, concurrency=1)
    assert (plan.load("concurrency"), plan.load("timeout"), plan.load("attempts")) == (1, 30.0, 1)
    assert plan.matrix.overrides == ("concurrency 3 -> 1",)


def test_an_override_that_says_what_is_declared_is_none(here: Path) -> None:
    path = write(here, small())
    assert planned(path, repetitions=2).matrix.overrides == ()
    assert planned(path, repetitions=3).matrix.overrides == ("repetitions 2 -> 3",)
    assert planned(path, timeout=5).matrix.overrides == ("timeout unset -> 5",)


def test_the_repositorys_own_context_is_kept_in_force_without_an_injection(here: Path) -> None:
    raw = small(variants={"plain": {}, "own": {"context": "@repository"}})
    cells = planned(write(here, raw)).matrix.cells
    assert cells["own"].keep_context and cells["own"].context is None
    assert cells["own"].fingerprint != cells["plain"].fingerprint


def test_an_archived_text_is_the_file_byte_for_byte(here: Path) -> None:
    (here / "prompts/fix.md").write_bytes(b"one\r\ntwo \xc3\xa9\r\n")
    plan = planned(write(here, scenario()))
    assert plan.bricks[plan.matrix.cells["nothing / off"].prompt] == b"one\r\ntwo \xc3\xa9\r\n"


def test_a_rehearsal_writes_elsewhere_and_its_script_is_part_of_every_fingerprint(here: Path) -> None:
    path = write(here, small())
    plain, played = planned(path), planned(path, rehearse=True)
    assert plain.matrix.rehearsal is None
    assert played.directory == here / "results" / "rehearsals" / plain.directory.name
    assert played.matrix.rehearsal is not None and played.matrix.rehearsal.script in played.bricks
    cells = played.matrix.cells
    assert all(cells[name].fingerprint != cell.fingerprint for name, cell in plain.matrix.cells.items())


def test_the_reserved_provider_always_rehearses(here: Path) -> None:
    raw = small(agent={"provider": "rehearsal", "model": "m", "thinking": "off"})
    assert planned(write(here, raw)).matrix.rehearsal is not None


def test_the_script_named_after_the_scenario_comes_before_the_one_beside_it(here: Path) -> None:
    path = write(here, small())

    def script() -> bytes:
        plan = planned(path, rehearse=True)
        assert plan.matrix.rehearsal is not None
        return plan.bricks[plan.matrix.rehearsal.script]

    default = script().decode()
    for name in ("rehearsal.toml", "rule.rehearsal.toml"):
        (here / name).write_text(f"# {name}\n{default}")
        assert script().startswith(f"# {name}".encode())


def test_a_path_that_is_always_a_path_may_hold_spaces(here: Path) -> None:
    (here / "my rubric.md").write_text("Is it good?\n")
    (here / "why not.md").write_text("Because.\n")
    raw = scenario()
    raw["validation"][1]["rubric"] = "my rubric.md"
    raw["scenario"]["hypothesis"] = "why not.md"
    plan = planned(write(here, raw, "my rule.toml"), rehearse=True)
    assert plan.bricks[plan.matrix.validators["judge"].settings["rubric"]] == b"Is it good?\n"
    assert plan.matrix.experiment.hypothesis == "Because.\n"
    script = plan.bricks[plan.matrix.rehearsal.script].decode()
    (here / "my rule.rehearsal.toml").write_text(f"# mine\n{script}")
    plan = planned(here / "my rule.toml", rehearse=True)
    assert plan.bricks[plan.matrix.rehearsal.script].startswith(b"# mine")


def test_planning_writes_nothing(here: Path) -> None:
    path = write(here, scenario())

    def tree() -> dict[str, Any]:
        return {str(item): (item.stat().st_mtime_ns, item.stat().st_size) for item in sorted(here.rglob("*"))}

    before = tree()
    plan = planned(path)
    runner.refuse_foreign(plan)
    runner.refuse_measured(plan)
    runner.refuse_inherited_context(plan)
    runner.header(plan)
    assert tree() == before


def test_several_scenarios_are_planned_together_but_not_into_one_directory(here: Path) -> None:
    paths = [str(write(here, small(), name)) for name in ("a.toml", "b.toml")]
    plans = runner.resolve_all(runner.Settings.of({"scenario": paths, "output": str(here / "results")}))
    assert [plan.scenario.name for plan in plans] == ["a", "b"]
    with pytest.raises(TrysquareError, match="name it once"):
        runner.resolve_all(runner.Settings.of({"scenario": [paths[0], paths[0]], "output": str(here / "results")}))


def test_resolve_takes_a_scenario_and_a_machine_without_any_settings(here: Path) -> None:
    found = load_scenario(write(here, small()))
    config: Config = load(here / "trysquare.toml")
    plan = runner.resolve(found, config, here / "out", {"repetitions": 3}, only=["deep"])
    assert plan.directory == here / "out" / experiment_name(found, 3)
    assert {run.cell for run in plan.todo} == {"deep"} and len(plan.matrix.runs) == 6


def test_the_bricks_of_a_cell_have_real_paths(here: Path) -> None:
    found = load_scenario(write(here, scenario()))
    paths = runner.brick_paths(found, load(here / "trysquare.toml"), found.cells[-1], here)
    assert paths["hook"] == (here / "hook.ts",) and paths["crew"] == (here / "agents",)
    assert all(path.exists() for group in paths.values() for path in group)


def test_every_referenced_path_is_listed_with_its_place(here: Path) -> None:
    found = load_scenario(write(here, scenario()))
    listed = dict(runner.referenced_paths(found, here))
    assert listed["[values.context.rule] context"] == here / "context/rule.md"
    assert listed["[[validation]] #1 command"] == here / "validator.py"
    runner.preflight(found, here)
    (here / "rubric.md").unlink()
    with pytest.raises(TrysquareError, match="rubric"):
        runner.preflight(found, here)

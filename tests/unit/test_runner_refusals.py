"""Refusals that look beyond the scenario file: the repository, the machine."""

import json
import shutil
from pathlib import Path

import pytest
from plans import here, origin, planned, refusal
from scenarios import git, scenario, small, write

from trysquare import runner
from trysquare.errors import TrysquareError
from trysquare.layout import Layout

__all__ = ["here", "origin"]


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


def test_a_plan_knows_its_tree(here: Path) -> None:
    plan = planned(write(here, small()))
    assert plan.output == Layout(plan.directory) and plan.repo_path == here / "repo" and plan.repo_source == "repo"

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

from trysquare import agent, scenario, verdict
from trysquare.errors import AgentError
from trysquare.rehearsal import Provider, Script, text_for

DEMO = Path(__file__).parents[2] / "examples" / "demo"
ETALON = "70040db22c0a3c9e5fd018d6fbef91a9ad849260"
SUITE = "python3 -m unittest discover -s tests -t ."
CELLS = ("nothing / off", "nothing / high", "rule / off", "rule / high")


def git(repository, *arguments):
    command = ["git", "-c", "safe.directory=*", *arguments]
    return subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True).stdout.strip()


def build(place, **environment):
    """Build the copy of the demo at a place; returns what it printed."""
    command = [sys.executable, str(place / "build.py")]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return done.stdout


def copied(place):
    return Path(shutil.copytree(DEMO, place, ignore=shutil.ignore_patterns("repository", "__pycache__")))


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    place = copied(tmp_path_factory.mktemp("demo") / "with a space")
    build(place)
    return place / "repository"


@pytest.fixture(scope="module")
def script():
    return Script.parse(*text_for(DEMO / "scenario.toml"))


@pytest.fixture(scope="module")
def plays(script):
    """Every run of the demo: its cell and the play it meets."""
    return [(cell, script.play(cell, repetition)) for cell in CELLS for repetition in range(10)]


def test_the_etalon_is_the_same_commit_everywhere(repository):
    assert git(repository, "rev-parse", "etalon-v1^{commit}") == ETALON
    assert git(repository, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "rev-list", "--count", "etalon-v1..main") == "1"


def test_the_settings_of_the_person_who_builds_change_nothing(tmp_path, repository):
    (tmp_path / "config").write_text(
        "[core]\n\tautocrlf = true\n\tfileMode = false\n[user]\n\tname = Someone\n[commit]\n\tgpgSign = true\n"
        "[init]\n\tdefaultObjectFormat = sha256\n\tdefaultBranch = trunk\n"
    )
    other = {"GIT_CONFIG_GLOBAL": str(tmp_path / "config"), "GIT_AUTHOR_DATE": "2001-01-01", "GIT_DIR": "/nowhere"}
    place = copied(tmp_path / "other")
    mask = os.umask(0o077)
    try:
        build(place, HOME=str(tmp_path), TZ="Asia/Tokyo", GIT_DEFAULT_HASH="sha256", **other)
    finally:
        os.umask(mask)
    every = ("rev-list", "--objects", "--all")
    assert git(place / "repository", *every) == git(repository, *every)


DAMAGE = {
    "it is not there": shutil.rmtree,
    "the tag is gone": lambda place: git(place, "tag", "-d", "etalon-v1"),
    "the tag was moved": lambda place: git(place, "tag", "-f", "etalon-v1", "main"),
    "main went on": lambda place: git(
        place, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "more"
    ),
    "a file was edited": lambda place: (place / "README.md").write_text("Nothing.\n"),
    "objects are lost": lambda place: shutil.rmtree(place / ".git" / "objects"),
    "there is no HEAD": lambda place: (place / ".git" / "HEAD").unlink(),
    "it is a plain directory": lambda place: shutil.rmtree(place / ".git"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_repository_that_is_wrong_is_built_again(tmp_path, damage):
    place = copied(tmp_path / "demo")
    (place / ".building-killed").mkdir()
    assert build(place) == "examples/demo/repository built\n"
    damage(place / "repository")
    assert build(place) == "examples/demo/repository built\n"
    assert git(place / "repository", "rev-parse", "etalon-v1^{commit}") == ETALON
    assert not list(place.glob(".building-*"))


def test_a_repository_that_is_right_is_left_alone(repository):
    before = (repository.stat().st_ino, (repository / ".git" / "HEAD").stat().st_mtime_ns)
    (repository / "untracked.txt").write_text("A note of somebody's.\n")
    assert build(repository.parent) == "examples/demo/repository is up to date\n"
    assert ((repository.stat().st_ino, (repository / ".git" / "HEAD").stat().st_mtime_ns)) == before
    (repository / "untracked.txt").unlink()


def test_a_build_that_cannot_be_says_so_without_a_traceback(tmp_path):
    place = copied(tmp_path / "demo")
    command = [sys.executable, str(place / "build.py")]
    done = subprocess.run(command, env={"PATH": ""}, capture_output=True, text=True)
    assert done.returncode == 1 and "cannot be built" in done.stderr and len(done.stderr.splitlines()) == 1


def test_the_suite_is_red_at_the_etalon_for_the_ticket_alone(repository, tmp_path):
    tree = checkout(repository, tmp_path / "tree")
    assert suite(tree).startswith("FAIL: test_the_discount_starts_at_ten_pieces")
    git(tree, "checkout", "-q", "main")
    assert suite(tree) == ""


def checkout(repository, tree):
    git(repository.parent, "clone", "-q", "--branch", "etalon-v1", str(repository), str(tree))
    git(tree, "branch", "-f", "main", "origin/main")
    return tree


def suite(tree):
    """The first line that says what failed; empty when all is well."""
    done = subprocess.run(SUITE.split(), cwd=tree, capture_output=True, text=True)
    failed = [line for line in done.stderr.splitlines() if line.startswith(("FAIL:", "ERROR:"))]
    assert bool(failed) == bool(done.returncode) and len(failed) <= 1
    return "".join(failed)


def test_the_scenario_is_a_two_by_two_grid_that_says_its_model_is_scripted(script):
    loaded = scenario.load(DEMO / "scenario.toml")
    assert tuple(cell.name for cell in loaded.cells) == CELLS
    assert loaded.task.test_command == SUITE and loaded.protocol.repetitions == 10
    assert script.model_id(loaded.agent.model) == "rehearsal-1-large"
    script.check(CELLS, loaded.protocol.repetitions)
    assert "the model is scripted" in loaded.title
    assert "model of this experiment is scripted" in (DEMO / loaded.hypothesis).read_text()


def test_one_gap_in_scope_is_established_and_one_is_inconclusive(plays):
    in_scope = {
        cell: [float(play.name != "helpful") for name, play in plays if name == cell and play.name != "hasty"]
        for cell in CELLS
    }
    reference = in_scope["nothing / off"]
    judged = {cell: verdict.judge(reference, in_scope[cell], verdict.mean) for cell in CELLS[1:]}
    assert {cell: found.state for cell, found in judged.items()} == {
        "nothing / high": "inconclusive",
        "rule / off": "established",
        "rule / high": "established",
    }
    assert 0 < sum(reference) < len(reference) and not any(found.caution for found in judged.values())


def test_thinking_costs_output_tokens_and_the_rule_does_not(plays):
    spent = {
        cell: [float(sum(turn.usage.output for turn in play.turns)) for name, play in plays if name == cell]
        for cell in CELLS
    }
    judged = {cell: verdict.judge(spent["nothing / off"], spent[cell], median).state for cell in CELLS[1:]}
    assert judged == {"nothing / high": "established", "rule / off": "inconclusive", "rule / high": "established"}
    assert all(len(set(values)) > 7 for values in spent.values())


def test_one_run_fails_its_suite_and_one_meets_a_busy_provider(plays):
    assert [cell for cell, play in plays if play.name == "hasty"] == ["rule / high"]
    assert [(cell, fault.answer, fault.times) for cell, play in plays for fault in play.faults] == [
        ("nothing / high", 503, 1)
    ]
    assert {len(play.turns) for _, play in plays} == {3, 4, 5}


EXPECTED = {
    "careful": ({"tally/prices.py"}, ""),
    "thorough": ({"tally/prices.py"}, ""),
    "helpful": ({"tally/prices.py", "tally/stock.py"}, ""),
    "hasty": ({"tally/prices.py"}, "FAIL: test_the_footer_states_the_bulk_discount"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_real_agent_leaves_the_tree_a_play_describes(name, repository, script, tmp_path):
    try:
        agent.command()
    except AgentError as error:
        pytest.skip(f"the agent is not installed: {error}")
    cell, repetition = next((c, r) for c in CELLS for r in range(10) if script.play(c, r).name == name)
    tree = checkout(repository, tmp_path / "tree")
    with Provider(script, cell, repetition, tmp_path / "requests.jsonl", "r1") as provider:
        models = provider.models("rehearsal-1")
        env = agent.environment(agent.home(tmp_path / "home", "off", models), models)
        args = agent.argv((DEMO / "prompt.md").read_text(), "rehearsal", "rehearsal-1", "off", tmp_path / "sessions")
        outcome = agent.run(tree, args, 120, tmp_path / "trace.jsonl", env=env)
    assert outcome.produced_something and outcome.model == "rehearsal-1-large"
    assert b'"isError":true' not in outcome.trace.read_bytes()
    touched, failure = EXPECTED[name]
    changed = git(tree, "diff", "--name-only").splitlines()
    left = git(tree, "ls-files", "--others").splitlines()
    assert set(changed) == touched
    assert all("__pycache__" in path for path in left) and bool(left) == (name != "hasty")
    assert suite(tree).startswith(failure) and bool(suite(tree)) == bool(failure)
    assert scored(tree, [*changed, *left], tmp_path) == {
        "in_scope": touched == {"tally/prices.py"},
        "delivered": True,
        "tests": not failure,
        "touched": sorted(touched),
    }


def scored(tree, touched, place):
    """The metrics of the demo's validator on a tree."""
    loaded = scenario.load(DEMO / "scenario.toml")
    task, [judge] = loaded.task, loaded.validators
    context = {
        "repo": str(tree),
        "touched": sorted(touched),
        "artefacts": list(task.artefacts),
        "test_command": task.test_command,
        "declared": list(judge.metrics),
    }
    (place / "context.json").write_text(json.dumps(context))
    done = subprocess.run(
        [sys.executable, str(DEMO / judge.config["command"]), str(place / "context.json")],
        cwd=place,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["metrics"]


def test_a_run_that_did_nothing_is_not_delivered_and_not_green(repository, tmp_path):
    tree = checkout(repository, tmp_path / "tree")
    metrics = {"in_scope": True, "delivered": False, "tests": False, "touched": []}
    assert scored(tree, [], tmp_path) == metrics

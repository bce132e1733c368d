"""Validators in the frozen plan, and what scores its runs again."""

from pathlib import Path
from typing import Any

import pytest
from plans import here, origin, planned
from scenarios import scenario, small, write

__all__ = ["here", "origin"]


def scored(here: Path, raw: dict[str, Any]) -> dict[str, str]:
    return {name: found.digest for name, found in planned(write(here, raw)).matrix.validators.items()}


@pytest.mark.parametrize("name", ["validator.py", "data/expected.json", "setup.sh"])
def test_editing_what_a_script_reads_scores_it_again(here: Path, name: str) -> None:
    before = scored(here, scenario())
    (here / name).write_text((here / name).read_text() + "\n")
    after = scored(here, scenario())
    assert after["script"] != before["script"] and after["judge"] == before["judge"]


@pytest.mark.parametrize(
    ("key", "value"), [("test_command", "make"), ("prepare", ["make"]), ("artefacts", ["x"]), ("prepare", None)]
)
def test_what_the_task_says_about_scoring_scores_again_but_never_a_judge(here: Path, key: str, value: object) -> None:
    before, raw = scored(here, scenario()), scenario()
    if value is None:
        del raw["task"][key]
    else:
        raw["task"][key] = value
    after = scored(here, raw)
    assert {name for name in before if after[name] != before[name]} == {"script", "custom-metrics"}


def test_metrics_timeouts_and_what_is_measured_score_nothing_again(here: Path) -> None:
    before, raw = scored(here, scenario()), scenario()
    raw["validation"][0] = {**raw["validation"][0], "metrics": ["delivered", "tests", "more"], "timeout": 5}
    raw["agent"]["thinking"] = "low"
    raw["verdict"]["draws"] = 500
    assert scored(here, raw) == before


def test_a_judge_is_never_due_again_but_says_what_it_judges_by(here: Path) -> None:
    path = write(here, scenario())
    before = planned(path).matrix.validators["judge"]
    (here / "rubric.md").write_text("Is it short?\n")
    after = planned(path).matrix.validators["judge"]
    assert after.digest == before.digest and after.settings["criteria"] != before.settings["criteria"]
    assert after.timeout == 60.0


def test_a_validator_keeps_how_its_inputs_lie_around_it(here: Path) -> None:
    (here / "shared").mkdir()
    (here / "shared/score.py").write_text("print('{}')\n")
    raw = small()
    raw["validation"][0] |= {"command": "shared/score.py", "inputs": ["data"]}
    found = planned(write(here, raw)).matrix.validators["script"]
    assert (found.command, sorted(found.tree)) == ("shared/score.py", ["data/expected.json", "shared/score.py"])
    raw["validation"][0]["inputs"] = []
    found = planned(write(here, raw)).matrix.validators["script"]
    assert (found.command, sorted(found.tree)) == ("score.py", ["score.py"])


def test_custom_metrics_carry_their_prefix_and_assertions(here: Path) -> None:
    raw = scenario()
    raw["validation"][2] |= {"name": "perf", "metrics": ["perf.passed", "perf.assert.speed"]}
    found = planned(write(here, raw)).matrix.validators["perf"]
    assert found.settings["prefix"] == "perf." and found.settings["path"] == "out/metrics.json"
    assert found.settings["assertions"][0]["metric"] == "speed" and found.settings["assertions"][0]["min"] == 3

"""Every kind of brick reaches the real agent: proven by the requests it sent to the scripted provider."""

import json
import sys
from pathlib import Path

import pytest

from tests.workflow.bricks import BESIDE, CELLS, KIT, LOOK, PLAYS, Measured, Operated, repository, text
from tests.workflow.conftest import FILES, SCENARIO, VALIDATOR
from trysquare import agent
from trysquare.errors import AgentError

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    try:
        package = next(up for up in Path(agent.command()[-1]).resolve().parents if (up / "package.json").is_file())
    except AgentError as error:
        pytest.skip(f"the agent is not installed: {error}")
    shipped, place = package / "examples/extensions/subagent", tmp_path_factory.mktemp("bricks")
    code = {**FILES, "AGENTS.md": "The repository says: be KIND.\n"}
    addresses = {
        "counter": repository(place / "counter", code, "v1"),
        "kit": repository(place / "kit", KIT, "k1"),
        "crew-tool": repository(
            place / "crew-tool", {name: (shipped / name).read_text() for name in ("index.ts", "agents.ts")}, "c1"
        ),
    }
    bench = Operated(place / "experiment", repetitions=1)
    head, _, tail = SCENARIO.format(python=sys.executable, repetitions=1).partition("[variants.plain]")
    bench.write(
        "scenario.toml", head + CELLS + tail[tail.index("[[validation]]") :].replace('validity = ["delivered"]', "")
    )
    bench.write("validator.py", VALIDATOR)
    bench.write("rehearsal.toml", PLAYS % {"look": json.dumps(LOOK)})
    bench.write("setup.sh", "#!/bin/sh\necho 'SET up' > made-by-setup\n")
    (bench.root / "setup.sh").chmod(0o755)
    bench.write("operator/settings.json", '{"defaultThinkingLevel": "max"}')
    for name, content in BESIDE.items():
        bench.write(name, content)
    lines = [f'{name} = "{address}"' for name, address in addresses.items()]
    bench.write(
        "trysquare.toml", "\n".join(["[repos]", lines[0], "[harness]", *lines[1:], "[defaults]", 'workdir = "../work"'])
    )
    bench.snakemake("run")
    return Measured(bench)


def test_a_baseline_gets_nothing_but_the_prompt(measured):
    system = measured.system("plain")
    assert text(measured.first("plain")["messages"][1]) == "The counter goes down. Fix it."
    assert set(measured.tools("plain")) == {"read", "bash", "edit", "write"}
    assert not any(word in system for word in ("KIND", "ONLY", "MENDED", "SCOUT", "TERSE"))
    assert "reasoning_effort" not in measured.first("plain")
    assert measured.configuration("plain")["injected"] == []


def test_a_context_is_in_the_system_prompt_in_the_place_of_the_repositorys_own(measured):
    assert "Touch counter.py ONLY." in measured.system("context")
    assert "KIND" not in measured.system("context")
    assert measured.configuration("context")["base"]["replaced"].keys() == {"AGENTS.md"}
    assert measured.configuration("context")["touched"] == []


def test_the_repositorys_own_context_is_in_force_where_a_cell_keeps_it(measured):
    assert "The repository says: be KIND." in measured.system("kept")
    assert measured.configuration("kept")["injected"] == []


def test_a_system_text_takes_the_place_of_the_agents_own(measured):
    assert measured.system("system").startswith("You are a TERSE counter mender.")
    assert "coding assistant" not in measured.system("system")


def test_a_skill_is_listed_by_name_and_description_with_where_to_read_it(measured):
    system = measured.system("skilled")
    assert "how counters are MENDED" in system and "Look twice." not in system
    assert ".pi/skills/mending/SKILL.md" in system


def test_a_single_extension_offers_its_tool(measured):
    assert measured.tools("hooked").keys() - measured.tools("plain").keys() == {"lamp"}
    assert measured.tools("hooked")["lamp"] == "lights up"


def test_a_pinned_extension_offers_its_tool_with_its_dependencies_installed_once(measured):
    assert measured.tools("kitted")["kit_lamp"] == "from a DEPENDENCY"
    assert measured.tools("kitted-again").keys() >= {"lamp", "kit_lamp"}
    [installed] = (measured.bench.root.parent / "work" / "harness").glob("kit-*/installed")
    assert installed.read_text() == "x"


def test_given_files_are_in_the_tree_and_committed_above_the_etalon(measured):
    seen = measured.seen("probed")
    assert "PROBE = 'given to the task'" in seen and "All of it\nEarlier\n3\n" in seen
    assert "??" not in seen
    assert measured.configuration("probed")["given"] == ["tests/test_probe.py"]
    assert measured.configuration("probed")["touched"] == []


def test_a_setup_has_run_and_is_committed(measured):
    seen = measured.seen("ready")
    assert "SET up" in seen and "All of it\nEarlier\n3\n" in seen
    assert measured.configuration("ready")["touched"] == []


def test_without_history_there_is_one_commit(measured):
    seen = measured.seen("alone")
    assert "Earlier" not in seen and "\n1\n" in seen


def test_a_thinking_level_is_asked_for_and_in_the_session(measured):
    assert {body["reasoning_effort"] for body in measured.bodies("high")} == {"high"}
    levels = [event["thinkingLevel"] for event in measured.events("high") if event["type"] == "thinking_level_change"]
    assert levels == ["high"]
    levels = [event["thinkingLevel"] for event in measured.events("plain") if event["type"] == "thinking_level_change"]
    assert levels == ["off"]


def test_an_injected_agent_has_the_model_of_its_brick_in_its_file_and_git_does_not_see_it(measured):
    seen = measured.seen("crew")
    assert "model: rehearsal-1" in seen and "overridden" not in seen and "??" not in seen
    assert measured.configuration("crew")["agents"] == {"scout": {"model": "rehearsal-1", "source": "brick"}}
    assert measured.configuration("crew")["injected"] == [".pi/agents/scout.md"]


def test_an_injected_agent_is_found_by_the_tool_and_thinks_at_the_level_of_its_cell(measured):
    assert "subagent" in measured.tools("crew")
    started = [body for body in measured.bodies("crew") if "subagent" not in json.dumps(body["tools"])]
    assert len(started) == 5
    assert all("You are the SCOUT." in text(body["messages"][0]) for body in started)
    assert {body["reasoning_effort"] for body in started} == {"low"}
    assert {body["model"] for body in started} == {"rehearsal-1-large"}


def test_the_gate_starts_no_other_agent_in_no_other_place_and_none_that_was_changed(measured):
    results = [
        event["message"] for event in measured.events("crew") if event.get("message", {}).get("role") == "toolResult"
    ]
    answers = [(result["isError"], text(result)) for result in results if result["toolName"] == "subagent"]
    assert answers[0] == (False, "Seen.")
    assert all(failed for failed, _ in answers[1:])
    said = [answer for _, answer in answers[1:]]
    assert "no agent stranger here; the agents are scout." in said[0]
    assert "leave cwd out" in said[1]
    assert "definitions of the agents were changed" in said[2]


def test_what_a_launch_and_its_page_say_of_injected_agents(measured):
    output = measured.bench.snakemake("run", "-n")
    assert 'AGENTS: "crew": tokens and turns are the agent\'s own' in output
    page = (measured.bench.matrix / "synthesis.md").read_text(encoding="utf-8")
    assert "Agents are injected in crew" in page


def test_a_brick_that_is_edited_after_its_cell_was_measured_is_refused_by_name(measured):
    skill = measured.bench.root / "skills/mending/SKILL.md"
    before = skill.read_text()
    skill.write_text(before + "More.\n")
    output = measured.bench.snakemake("run", "-n", code=1)
    skill.write_text(before)
    assert 'the cell "skilled" has measured runs' in output and "skills changed since" in output
    assert "rename the cell" in output and "--overwrite" in output

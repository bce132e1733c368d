"""Every kind of brick reaches the real agent: proven by the requests it sent to the scripted provider."""

import json
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.workflow.conftest import FILES, SCENARIO, VALIDATOR, Bench, git
from trysquare import agent
from trysquare.errors import AgentError

pytestmark = pytest.mark.workflow

CELLS = """
[variants.plain]

[variants.context]
context = "rule.md"

[variants.kept]
context = "@repository"

[variants.system]
system = "You are a TERSE counter mender."

[variants.skilled]
harness = ["skills"]

[variants.hooked]
harness = ["lamp"]

[variants.kitted]
harness = ["kit"]

[variants.kitted-again]
harness = ["kit", "lamp"]

[variants.probed]
harness = ["probe"]

[variants.ready]
setup = "setup.sh"

[variants.alone]
history = false

[variants.high]
thinking = "high"

[variants.crew]
thinking = "low"
harness = ["crew", "crew-tool"]

[harness.skills]
paths = ["skills/mending"]

[harness.lamp]
load = "lamp.ts"

[harness.kit]
repo = "kit"
tag = "k1"
load = "extension/index.ts"

[harness.probe]
kind = "files"
[harness.probe.files]
"tests/test_probe.py" = "probe.py"

[harness.crew]
paths = ["agents"]
kind = "agents"
model = "rehearsal-1"

[harness.crew-tool]
repo = "crew-tool"
tag = "c1"
load = "index.ts"
"""

LOOK = (
    "git log --format=%s; git rev-list --count HEAD; git status --short; cat .pi/agents/*.md made-by-setup "
    "tests/test_probe.py 2>/dev/null; mkdir -p sub/.pi/agents && cp .pi/agents/* sub/.pi/agents/ 2>/dev/null; true"
)

PLAYS = """
record = true

[model]
id = "rehearsal-1-large"

[[play]]
name = "look"

[[play.turn]]
text = "I look."
[[play.turn.call]]
tool = "bash"
arguments = { command = %(look)s }

[[play.turn]]
text = "Seen."

[[play]]
name = "delegate"
cells = ["crew"]
repetitions = [0]

[[play.turn]]
text = "I look."
[[play.turn.call]]
tool = "bash"
arguments = { command = %(look)s }

[[play.turn]]
text = "Scout!"
[[play.turn.call]]
tool = "subagent"
arguments = { agent = "scout", task = "Look around." }

[[play.turn]]
text = "I make the scout smarter."
[[play.turn.call]]
tool = "bash"
arguments = { command = "echo 'model: other' >> .pi/agents/scout.md" }

[[play.turn]]
text = "Others!"
[[play.turn.call]]
tool = "subagent"
arguments = { tasks = [{ agent = "scout", task = "x" }, { agent = "stranger", task = "x" }] }
[[play.turn.call]]
tool = "subagent"
arguments = { agent = "scout", task = "x", cwd = "sub" }
[[play.turn.call]]
tool = "subagent"
arguments = { agent = "scout", task = "x" }

[[play.turn]]
text = "Seen."
"""

EXTENSION = """
import { Type } from "typebox";
%(imported)s
export default function (pi: any) {
  pi.registerTool({
    name: %(name)s,
    label: "lamp",
    description: %(description)s,
    parameters: Type.Object({}),
    async execute() {
      return { content: [{ type: "text", text: "on" }], details: {} };
    },
  });
}
"""

BESIDE = {
    "rule.md": "Touch counter.py ONLY.\n",
    "skills/mending/SKILL.md": "---\nname: mending\ndescription: how counters are MENDED\n---\nLook twice.\n",
    "lamp.ts": EXTENSION % {"imported": "", "name": '"lamp"', "description": '"lights up"'},
    "probe.py": "PROBE = 'given to the task'\n",
    "agents/scout.md": "---\nname: scout\ndescription: looks around\nmodel: overridden\n---\nYou are the SCOUT.\n",
}

KIT = {
    "package.json": json.dumps(
        {
            "name": "kit",
            "version": "1.0.0",
            "dependencies": {"word": "file:./word"},
            "scripts": {"postinstall": "node -e \"require('fs').appendFileSync('installed', 'x')\""},
        }
    ),
    "word/package.json": json.dumps({"name": "word", "version": "1.0.0", "main": "index.js"}),
    "word/index.js": 'exports.word = "from a DEPENDENCY";\n',
    "extension/index.ts": EXTENSION
    % {"imported": 'import { word } from "word";', "name": '"kit_lamp"', "description": "word"},
}


@dataclass(frozen=True)
class Operated(Bench):
    """A bench of somebody whose own agent thinks at another level."""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "PI_CODING_AGENT_DIR": str(self.root / "operator")}


class Measured:
    """What the provider and the archive hold of each cell."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench

    @cached_property
    def requests(self) -> list[dict[str, Any]]:
        lines = (self.bench.matrix / "requests.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def bodies(self, cell: str) -> list[dict[str, Any]]:
        return [line["body"] for line in self.requests if line["cell"] == cell]

    def first(self, cell: str) -> dict[str, Any]:
        return self.bodies(cell)[0]

    def system(self, cell: str) -> str:
        return text(self.first(cell)["messages"][0])

    def tools(self, cell: str) -> dict[str, str]:
        return {tool["function"]["name"]: tool["function"]["description"] for tool in self.first(cell)["tools"]}

    def seen(self, cell: str) -> str:
        """What the first command of the agent printed."""
        return next(text(message) for message in self.bodies(cell)[1]["messages"] if message["role"] == "tool")

    def run(self, cell: str) -> Path:
        [run] = (self.bench.matrix / "runs" / cell).iterdir()
        return run

    def configuration(self, cell: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.run(cell) / "configuration.json").read_text(encoding="utf-8"))
        return found

    def events(self, cell: str) -> list[dict[str, Any]]:
        [session] = (self.run(cell) / "session").iterdir()
        return [json.loads(line) for line in session.read_text(encoding="utf-8").splitlines()]


def text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def repository(directory: Path, files: dict[str, str], tag: str) -> Path:
    for name, content in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(content, encoding="utf-8")
    git(directory, "init", "-q", "-b", "main")
    git(directory, "commit", "-q", "--allow-empty", "-m", "Earlier")
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "-m", "All of it")
    git(directory, "tag", tag)
    return directory


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

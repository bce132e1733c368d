"""An experiment with a cell for every kind of brick, and what the provider and the archive hold of each."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.workflow.conftest import Bench, git

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

"""Launches of the real agent behind the scripted provider, and what each of them is given."""

import json
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trysquare import agent
from trysquare.files import read_lines
from trysquare.interrupt.processes import children
from trysquare.rehearsal import Provider, Script

NAP = f"7654321.{os.getpid()}"

TURNS = """
[[play]]
name = "fix"
[[play.turn]]
text = "I look."
usage = { input = 1000, output = 50, cached = 10 }
call = [{ tool = "bash", arguments = { command = "%s" } }]
[[play.turn]]
text = "Done: %s"
usage = { input = 100, output = 20, cached = 1010 }
"""


def script(command: str = "cat counter.py", answer: str = "it counts up.", faults: str = "") -> str:
    return f"record = true\n[model]\nid = 'rehearsal-1-large'\n{faults}\n" + TURNS % (command, answer)


def fault(answer: object, **when: int) -> str:
    value = answer if isinstance(answer, int) else f"'{answer}'"
    return f"[[fault]]\nanswer = {value}\n" + "".join(f"{key} = {number}\n" for key, number in when.items())


@dataclass
class Launch:
    """One launch: its place, what it was told, and what came of it."""

    root: Path
    script: str
    prompt: str = "The counter goes down."
    timeout: float = 120
    files: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    ceiling: int | None = None
    disturb: Callable[["Launch"], None] | None = None
    outcome: agent.Outcome = field(init=False)

    def go(self) -> "Launch":
        for name, text in {"tree/counter.py": "n = 1\n", **self.files}.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        provider = Provider(Script.parse(self.script), "cell", 0, self.root / "requests.jsonl", "r")
        with provider:
            offered = provider.models("rehearsal-1")
            home = agent.home(self.root / "home", "low", offered)
            told = agent.argv(self.prompt, "rehearsal", "rehearsal-1", "high", self.sessions, **self.options)
            self.outcome = agent.run(
                self.root / "tree",
                told,
                self.timeout,
                self.root / "trace.jsonl",
                ceiling=self.ceiling,
                watch=self.watch,
                env=agent.environment(home, offered),
            )
        return self

    def watch(self, event: Mapping[str, Any]) -> None:
        if event["type"] == "tool_execution_start" and self.disturb is not None:
            self.disturb(self)

    @property
    def sessions(self) -> Path:
        return self.root / "sessions"

    @property
    def session(self) -> str:
        [path] = self.sessions.glob("*.jsonl")
        return path.read_text()

    @property
    def requests(self) -> list[dict[str, Any]]:
        return read_lines(self.root / "requests.jsonl")

    @property
    def asked(self) -> str:
        """Every character of the first request."""
        return json.dumps(self.requests[0]["body"], ensure_ascii=False)


def sleepers() -> list[str]:
    """Running processes that sleep for `NAP`."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            argv = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if b"sleep" in argv and NAP.encode() in argv:
            found.append(entry.name)
    return found


def send_agent(signum: int) -> Callable[[Launch], None]:
    def disturb(launch: Launch) -> None:
        for pid in children(os.getpid()):
            with suppress(FileNotFoundError):
                if Path(f"/proc/{pid}/cwd").samefile(launch.root / "tree"):
                    os.kill(pid, signum)

    return disturb


SLEEPERS = f"setsid sleep {NAP} & sleep {NAP}"

DAEMON = f"(setsid sleep {NAP} >/dev/null 2>&1 &) ; true"

EXTENSION = """
import { writeFileSync } from "node:fs";
export default function (pi: any) { writeFileSync("LOADED", "yes"); }
"""

UNASKED = {
    "CLAUDE.md": "zebra-above",
    "tree/AGENTS.md": "zebra-tree",
    "tree/.pi/skills/stripe/SKILL.md": "---\nname: stripe\ndescription: zebra-skill\n---\nzebra-skill\n",
    "tree/.pi/extensions/unasked.ts": EXTENSION.replace("LOADED", "UNASKED"),
    "tree/.pi/mcp.json": json.dumps({"mcpServers": {"z": {"command": "touch", "args": ["CONNECTED"]}}}),
    "extension.ts": EXTENSION,
    "given/spots/SKILL.md": "---\nname: spots\ndescription: leopard-skill\n---\nleopard-skill\n",
}

HEAD = "---\nname: {0}\ndescription: about {0}\n---\n"

SKILLS = {
    "plain/SKILL.md": HEAD.format("plain"),
    "plain/deeper/SKILL.md": HEAD.format("below-a-skill"),
    "nameless/SKILL.md": "---\r\ndescription: d\r\n---\r\n",
    "alone.md": HEAD.format("alone"),
    "README.md": "What these are.\n",
    "tool.sh": "true\n",
    "bag/inner/SKILL.md": HEAD.format("inner"),
    "bag/loose.md": HEAD.format("loose"),
    "bag/inner2/loose.md": HEAD.format("too-loose"),
    "bag/.hidden/SKILL.md": HEAD.format("hidden"),
    "bag/node_modules/x/SKILL.md": HEAD.format("modules"),
    "marked/SKILL.md": "\ufeff" + HEAD.format("marked"),
    "folded/SKILL.md": "---\nname: folded\ndescription: >\n  two\n  lines\n---\n",
}

BROKEN = {
    "no frontmatter": "Look twice.\n",
    "no description": "---\nname: broken\n---\n",
    "an empty description": "---\nname: broken\ndescription: '  '\n---\n",
    "a number as description": "---\nname: broken\ndescription: 42\n---\n",
    "a colon in the description": "---\nname: broken\ndescription: use when: always\n---\n",
    "an open frontmatter": "---\nname: broken\ndescription: d\n",
}


def cases(root: Path) -> dict[str, Launch]:
    """Every launch of this file; they run side by side, for some wait out the agent's own retries."""

    def launch(name: str, *args: Any, **options: Any) -> None:
        made[name] = Launch(root / name, *args, **options)

    made: dict[str, Launch] = {}
    launch("busy", script(faults=fault(503)))
    launch("busy-late", script(faults=fault(503, request=2)))
    launch("cut", script(faults=fault("cut", request=2)))
    launch("one-retry", script(faults=fault(503, request=2, times=1)))
    launch("unauthorized", script(faults=fault(401)))
    launch("late", script(SLEEPERS), timeout=10)
    launch("silent", script(faults=fault("silence")), timeout=4)
    launch("runaway", script("seq 1000000"), ceiling=20_000)
    launch("endless", script(faults=fault("endless")), timeout=6, ceiling=10_000_000)
    launch("killed", script(SLEEPERS), disturb=send_agent(signal.SIGKILL))
    launch("asked-to-end", script(SLEEPERS), disturb=send_agent(signal.SIGTERM))
    launch("ok", script(DAEMON))
    launch("dash", script(), prompt="--help")
    launch("short-dash", script(), prompt="-x is not an option")
    launch("at", script(), prompt="@counter.py is a file")
    launch("closed", script(), files=UNASKED)
    given = {
        "extensions": [root / "open" / "extension.ts"],
        "skills": [root / "open" / "given" / "spots"],
        "has_context": True,
    }
    launch("open", script(), files=UNASKED, options=given)
    tops = {name.split("/")[0] for name in SKILLS}
    broken = {f"broken-{number}/SKILL.md": text for number, text in enumerate(BROKEN.values())}
    tops |= {name.split("/")[0] for name in broken}
    skills = {"skills": [root / "skilled/tree/.pi/skills" / name for name in sorted(tops)]}
    files = {f"tree/.pi/skills/{name}": text for name, text in {**SKILLS, **broken}.items()}
    launch("skilled", script(), files=files, options=skills)
    return made

"""The real agent behind the scripted provider: what each way of ending is worth."""

import json
import os
import re
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from trysquare import agent
from trysquare.errors import AgentError
from trysquare.files import read_lines
from trysquare.interrupt.processes import children
from trysquare.measure import models, strip_session, thinking_levels
from trysquare.measure.stream import DISCARDED, read_file
from trysquare.rehearsal import Provider, Script
from trysquare.runner.skills import names
from trysquare.scenario import ScenarioError

try:
    agent.command()
except AgentError as error:
    pytest.skip(f"the agent is not installed: {error}", allow_module_level=True)

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


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, "Future[Launch]"]:
    launches = cases(tmp_path_factory.mktemp("launches"))
    with ThreadPoolExecutor(6) as pool:
        return {name: pool.submit(launch.go) for name, launch in launches.items()}


@pytest.fixture
def launched(done: dict[str, "Future[Launch]"]) -> Callable[[str], Launch]:
    return lambda name: done[name].result()


def test_a_run_that_worked_is_a_measurement_and_its_session_agrees(launched: Callable[[str], Launch]) -> None:
    launch = launched("ok")
    outcome = launch.outcome
    assert (outcome.produced_something, outcome.detail, outcome.code, outcome.stderr) == (True, "", 0, "")
    assert outcome.response == "Done: it counts up."
    assert outcome.usage == {
        **{"input": 1100, "output": 70, "cacheRead": 1020, "cacheWrite": 0, "turns": 2, "retries": 0},
        "cost": pytest.approx((1100 * 1 + 70 * 2) / 1e6),
    }
    assert strip_session(launch.session) == {**outcome.usage, "retries": None}
    assert models(launch.session) == ["rehearsal-1-large"] == [outcome.model]
    assert agent.resolves_to("rehearsal-1", "rehearsal-1-large")
    assert thinking_levels(launch.session) == ["high"]


def test_the_trace_reads_as_the_run_did_and_holds_nothing_twice(launched: Callable[[str], Launch]) -> None:
    outcome = launched("ok").outcome
    assert read_file(outcome.trace).usage == outcome.usage
    lines = outcome.trace.read_bytes().splitlines()
    assert not [line for line in lines if line.startswith(DISCARDED)]
    assert {json.loads(line)["type"] for line in lines} >= {"session", "message_end", "tool_execution_end", "agent_end"}


def test_one_retry_is_counted_and_the_run_is_a_measurement(launched: Callable[[str], Launch]) -> None:
    outcome = launched("one-retry").outcome
    assert (outcome.usage["retries"], outcome.usage["turns"], outcome.produced_something) == (1, 2, True)
    assert outcome.error.startswith("503")
    assert outcome.gave_up == ""


@pytest.mark.parametrize(
    ("name", "turns", "retries", "word"),
    [
        ("busy", 0, 3, "503"),
        ("busy-late", 1, 3, "503"),
        ("cut", 1, 3, ""),
        ("unauthorized", 0, 0, "401"),
    ],
)
def test_a_provider_that_gave_up_leaves_no_measurement_although_the_agent_exits_0(
    name: str, turns: int, retries: int, word: str, launched: Callable[[str], Launch]
) -> None:
    outcome = launched(name).outcome
    assert (outcome.code, outcome.usage["turns"], outcome.usage["retries"]) == (0, turns, retries)
    assert not outcome.produced_something
    assert word in outcome.gave_up == outcome.detail
    assert outcome.detail


def test_a_time_limit_with_tokens_is_a_measurement(launched: Callable[[str], Launch]) -> None:
    outcome = launched("late").outcome
    assert (outcome.timed_out, outcome.usage["turns"], outcome.produced_something) == (True, 1, True)
    assert (outcome.signalled, outcome.gave_up, outcome.response) == (False, "", "I look.")


def test_a_time_limit_without_tokens_is_none(launched: Callable[[str], Launch]) -> None:
    outcome = launched("silent").outcome
    assert (outcome.timed_out, outcome.usage["turns"], outcome.produced_something) == (True, 0, False)
    assert outcome.detail


def test_a_run_that_keeps_more_than_the_ceiling_is_none(launched: Callable[[str], Launch]) -> None:
    outcome = launched("runaway").outcome
    assert (outcome.overflowed, outcome.timed_out, outcome.produced_something) == (True, False, False)
    assert outcome.trace.stat().st_size <= 20_000
    assert "ceiling" in outcome.detail


def test_an_answer_without_end_costs_no_room(launched: Callable[[str], Launch]) -> None:
    outcome = launched("endless").outcome
    assert (outcome.timed_out, outcome.overflowed, outcome.produced_something) == (True, False, False)
    assert outcome.trace.stat().st_size < 1_000_000


@pytest.mark.parametrize("name", ["killed", "asked-to-end"])
def test_a_signal_from_outside_leaves_no_measurement(name: str, launched: Callable[[str], Launch]) -> None:
    outcome = launched(name).outcome
    assert (outcome.signalled, outcome.timed_out) == (True, False)
    assert outcome.usage["turns"] == 1
    assert not outcome.produced_something
    assert outcome.detail


@pytest.mark.parametrize("name", ["ok", "late", "killed", "asked-to-end"])
def test_the_tools_of_an_agent_end_with_it(name: str, launched: Callable[[str], Launch]) -> None:
    launched(name)
    assert not sleepers()


@pytest.mark.parametrize("name", ["dash", "short-dash", "at"])
def test_a_prompt_is_text_however_it_begins(name: str, launched: Callable[[str], Launch]) -> None:
    launch = launched(name)
    assert launch.outcome.produced_something
    messages = launch.requests[0]["body"]["messages"]
    [content] = [message["content"] for message in messages if message["role"] == "user"]
    text = content if isinstance(content, str) else "".join(block["text"] for block in content)
    assert text.strip() == launch.prompt


def test_nothing_reaches_the_agent_that_was_not_given(launched: Callable[[str], Launch]) -> None:
    launch = launched("closed")
    assert launch.outcome.produced_something
    assert "zebra" not in launch.asked
    assert "leopard" not in launch.asked
    assert not [name for name in ("LOADED", "UNASKED", "CONNECTED") if (launch.root / "tree" / name).exists()]


def test_what_is_given_by_name_reaches_the_agent_and_nothing_else(launched: Callable[[str], Launch]) -> None:
    launch = launched("open")
    assert launch.outcome.produced_something
    assert "zebra-tree" in launch.asked
    assert "leopard-skill" in launch.asked
    assert "zebra-skill" not in launch.asked
    loaded = [name for name in ("LOADED", "UNASKED", "CONNECTED") if (launch.root / "tree" / name).exists()]
    assert loaded == ["LOADED"]


def test_the_skills_a_cell_is_said_to_have_are_those_the_agent_is_told_of(launched: Callable[[str], Launch]) -> None:
    told = re.findall(r"<name>([^<]*)</name>", launched("skilled").asked)
    assert sorted(told) == sorted(
        name for name, _ in names({path: text.encode() for path, text in SKILLS.items()}, "here")
    )
    assert {"plain", "nameless", "alone", "inner", "loose", "folded"} <= set(told)


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_skill_the_agent_would_not_load_is_refused_by_its_file(text: str) -> None:
    for path in ("dig/SKILL.md", "dig.md"):
        with pytest.raises(
            ScenarioError, match=rf'^here: "{path}" has .* its absence would be measured; begin it with'
        ):
            names({path: text.encode()}, "here")


def test_a_session_is_rendered_beside_its_stem(launched: Callable[[str], Launch], tmp_path: Path) -> None:
    [session] = launched("ok").sessions.glob("*.jsonl")
    page = agent.export_html(session, tmp_path / "pages")
    assert page == tmp_path / "pages" / f"{session.stem}.html"
    assert page.read_text().lstrip().lower().startswith("<!doctype html>")
    assert [path.name for path in page.parent.iterdir()] == [page.name]


def test_a_session_that_cannot_be_rendered_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="could not be rendered"):
        agent.export_html(tmp_path / "none.jsonl", tmp_path / "pages")


class Echo(BaseHTTPRequestHandler):
    """A provider that repeats the key it was shown."""

    def do_POST(self) -> None:
        said = json.dumps({"error": {"message": f"no such key: {self.headers['Authorization']}"}}).encode()
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        pass


def test_the_operators_own_key_reaches_the_provider_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HTTPServer(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        provider = {
            "baseUrl": f"http://127.0.0.1:{server.server_port}/v1",
            "api": "openai-completions",
            "apiKey": "$ECHO_KEY",
            "models": [{"id": "echo-1"}],
        }
        (tmp_path / "theirs").mkdir()
        (tmp_path / "theirs" / "models.json").write_text(json.dumps({"providers": {"echo": provider}}))
        monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "theirs"))
        monkeypatch.setenv("ECHO_KEY", "very-secret-key")
        env = agent.environment(agent.home(tmp_path / "home", "off"))
        told = agent.argv("Hello.", "echo", "echo-1", "off", tmp_path / "sessions")
        outcome = agent.run(tmp_path, told, 60, tmp_path / "trace.jsonl", env=env)
        server.shutdown()
    assert "no such key: Bearer [secret]" in outcome.detail
    assert "very-secret-key" not in outcome.detail + outcome.stderr
    assert outcome.model == "echo-1"


def test_the_agent_says_its_version() -> None:
    assert agent.version() == "1.6.0"

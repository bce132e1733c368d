"""The real agent behind the scripted provider: what each way of ending is worth."""

import json
import re
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from agent_launches import BROKEN, SKILLS, Launch, cases, sleepers

from trysquare import agent
from trysquare.errors import AgentError
from trysquare.measure import models, strip_session, thinking_levels
from trysquare.measure.stream import DISCARDED, read_file
from trysquare.runner.skills import names
from trysquare.scenario import ScenarioError

try:
    agent.command()
except AgentError as error:
    pytest.skip(f"the agent is not installed: {error}", allow_module_level=True)


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

"""The agent's adapter without the agent: its arguments, its home, and what is kept of any output."""

import json
import os
import signal
import stat
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from trysquare import agent, interrupt
from trysquare.agent import installation
from trysquare.agent.home import KEYS
from trysquare.errors import AgentError
from trysquare.measure.stream import LINE_LIMIT

PLAIN = ["-p", "--mode", "json", "--provider", "p", "--model", "m", "--session-dir", "/s"]
CLOSED = ["-a", "-ns", "-np", "-ne", "--thinking", "high", "-nc"]


def test_the_arguments_of_a_plain_cell_hand_over_nothing_but_the_prompt() -> None:
    assert agent.argv("Fix it.", "p", "m", "high", "/s") == ["pi", *PLAIN, *CLOSED, "Fix it."]


def test_every_brick_is_handed_over_by_its_path_and_context_only_when_it_is_one() -> None:
    told = agent.argv(
        "Fix it.", "p", "m", "high", Path("/s"), [Path("/e/a.ts")], ["/k/one", "/k/two"], has_context=True
    )
    bricks = ["-e", "/e/a.ts", "--skill", "/k/one", "--skill", "/k/two"]
    assert told == ["pi", *PLAIN, *CLOSED[:-1], *bricks, "Fix it."]


def test_a_session_directory_never_lands_in_the_clone() -> None:
    told = agent.argv("x", "p", "m", "off", "sessions")
    assert Path(told[told.index("--session-dir") + 1]) == Path.cwd() / "sessions"


@pytest.mark.parametrize("prompt", ["x" * 131_071, "é" * 65_536, "a\0b"])
def test_a_prompt_that_cannot_be_an_argument_is_refused_with_a_sentence(prompt: str) -> None:
    with pytest.raises(AgentError, match="the prompt has"):
        agent.argv(prompt, "p", "m", "off", "/s")


@pytest.mark.parametrize(
    ("declared", "ran", "same"),
    [
        ("gemma-4", "gemma-4-31b", True),
        ("gemma-4-31b", "gemma-4", False),
        ("ilaas/gemma-4", "gemma-4-31b", True),
        ("gemma-4", "google/gemma-4-31b", True),
        ("router/google/gemma-4", "google/gemma-4-31b", True),
        ("gemma-4:high", "gemma-4-31b", True),
        ("deepseek-r1:8b", "deepseek-r1:8b", True),
        ("deepseek-r1:8b", "deepseek-r1:70b", False),
        ("Gemma-4", "gemma-4-31B", True),
        ("gpt-5", "claude-sonnet-5", False),
        ("google/gpt-5", "google/gemma-4", False),
        ("gemma-4", "", False),
        ("", "gemma-4", False),
        ("p/", "gemma-4", False),
    ],
)
def test_a_pattern_resolves_to_the_ids_that_contain_it(declared: str, ran: str, same: bool) -> None:
    assert agent.resolves_to(declared, ran) is same


def test_a_pattern_may_carry_a_thinking_level() -> None:
    assert agent.thinking_of("gemma-4:high") == "high" and agent.thinking_of("acme/gemma-4:off") == "off"
    assert [agent.thinking_of(pattern) for pattern in ("gemma-4", "gemma:4b", ":high", "high")] == [None] * 4


@pytest.fixture
def operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of an operator's own agent, full of things that must stay out."""
    theirs = tmp_path / "operator"
    theirs.mkdir()
    models = {
        "providers": {
            "mine": {"apiKey": "${MINE_KEY}", "headers": {"X-Org": "$MINE_ORG", "X-Cost": "$$NOT_ONE"}, "models": []},
            "said": {"apiKey": "!show $SHOWN_KEY", "models": []},
        }
    }
    (theirs / "models.json").write_text(json.dumps(models))
    (theirs / "auth.json").write_text(json.dumps({"kept": {"type": "api_key", "key": "stored-secret-key"}}))
    (theirs / "settings.json").write_text('{"defaultThinkingLevel": "max", "theme": "loud"}')
    (theirs / "AGENTS.md").write_text("Do as I say.")
    for name in [name for name in os.environ if name in KEYS]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(theirs))
    for name in ("MINE_KEY", "MINE_ORG", "NOT_ONE", "SHOWN_KEY", "OPENAI_API_KEY", "PI_SOMETHING", "UNRELATED"):
        monkeypatch.setenv(name, f"value-of-{name}")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:1")
    return theirs


def modes(directory: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}


def test_a_home_holds_the_operators_models_and_logins_and_a_level_of_its_own(operator: Path, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = agent.home(tmp_path / "home", "low")
    finally:
        os.umask(before)
    assert modes(made) == {"models.json": 0o600, "auth.json": 0o600, "settings.json": 0o600}
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    for name in ("models.json", "auth.json"):
        assert (made / name).read_bytes() == (operator / name).read_bytes()
    assert json.loads((made / "settings.json").read_text()) == {"defaultThinkingLevel": "low"}


def test_a_home_made_again_is_the_same_and_no_more_open(operator: Path, tmp_path: Path) -> None:
    agent.home(tmp_path / "home", "low")
    (tmp_path / "home" / "auth.json").chmod(0o644)
    (tmp_path / "home").chmod(0o755)
    assert modes(agent.home(tmp_path / "home", "low"))["auth.json"] == 0o600
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_the_home_of_a_rehearsal_holds_nothing_of_the_operator(operator: Path, tmp_path: Path) -> None:
    models = {"providers": {"rehearsal": {"apiKey": "none"}}}
    made = agent.home(tmp_path / "home", "high", models)
    assert modes(made) == {"models.json": 0o600, "settings.json": 0o600}
    assert json.loads((made / "models.json").read_text()) == models
    env = agent.environment(made, models)
    assert not [name for name, value in env.items() if "value-of" in value or "proxy" in value]


def test_an_operator_without_an_agent_gives_an_empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "none"))
    assert set(modes(agent.home(tmp_path / "home", "off"))) == {"settings.json"}


def test_only_what_is_allowed_or_referred_to_reaches_the_agent(operator: Path, tmp_path: Path) -> None:
    env = agent.environment(agent.home(tmp_path / "home", "low"))
    given = {name for name, value in env.items() if value.startswith("value-of")}
    assert given == {"MINE_KEY", "MINE_ORG", "SHOWN_KEY", "OPENAI_API_KEY"}
    assert env["PI_CODING_AGENT_DIR"] == str(tmp_path / "home")
    assert (env["PI_OFFLINE"], env["PATH"], env["HTTPS_PROXY"]) == ("1", os.environ["PATH"], "http://proxy:1")


def test_every_secret_of_a_launch_is_known_so_that_it_can_be_kept_back(operator: Path, tmp_path: Path) -> None:
    env = agent.environment(agent.home(tmp_path / "home", "low"))
    assert {"value-of-MINE_KEY", "value-of-OPENAI_API_KEY", "stored-secret-key"} <= set(agent.secrets(env))


def test_a_broken_models_file_is_named_where_the_operator_has_it(operator: Path, tmp_path: Path) -> None:
    (operator / "models.json").write_text("{")
    with pytest.raises(AgentError, match=f"{operator}/models.json is not readable JSON"):
        agent.environment(agent.home(tmp_path / "home", "low"))


@pytest.mark.parametrize(
    ("text", "level"),
    [(None, "medium"), ("{}", "medium"), ('{"defaultThinkingLevel": "low"}', "low"), ("[]", "medium")],
)
def test_the_ambient_level_is_what_the_settings_hold(text: str | None, level: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "settings.json").write_text(text)
    assert agent.ambient_thinking(tmp_path / "settings.json") == level


def test_the_ambient_level_of_a_home_is_that_of_its_cell(operator: Path, tmp_path: Path) -> None:
    assert agent.ambient_thinking() == "max"
    assert agent.ambient_thinking(agent.home(tmp_path / "home", "low") / "settings.json") == "low"


@pytest.fixture
def fresh_command() -> Iterator[None]:
    installation.command.cache_clear()
    yield
    installation.command.cache_clear()


def elsewhere(monkeypatch: pytest.MonkeyPatch, root: Path, **programs: str) -> None:
    """A machine with nothing pinned, and on PATH only these shell scripts."""
    monkeypatch.setattr(sys, "prefix", str(root))
    monkeypatch.setattr(installation, "find_spec", lambda name: None)
    bin_directory = root / "bin"
    bin_directory.mkdir()
    for name, body in programs.items():
        path = bin_directory / name.replace("_", ".")
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(bin_directory))


@pytest.mark.usefixtures("fresh_command")
def test_without_an_agent_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    elsewhere(monkeypatch, tmp_path)
    with pytest.raises(AgentError, match=f"npm install --prefix {tmp_path}/share/trysquare/agent @.*`make run`"):
        agent.command()


@pytest.mark.usefixtures("fresh_command")
@pytest.mark.parametrize(
    ("node", "complaint"),
    [
        ({}, "there is none"),
        ({"node": "echo v22.18.9"}, "is 22.18"),
        ({"node": "echo v9.99.0"}, "is 9.99"),
        ({"node": "exit 1"}, "is none"),
    ],
)
def test_a_node_that_is_missing_or_too_old_is_said(
    node: dict[str, str], complaint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    elsewhere(monkeypatch, tmp_path, pi_js="", **node)
    (tmp_path / "bin" / "pi").symlink_to("pi.js")
    with pytest.raises(AgentError, match=rf"needs Node 22\.19 or newer and .*{complaint}"):
        agent.command()


@pytest.mark.usefixtures("fresh_command")
@pytest.mark.parametrize("version", ["v22.19.0", "v24.0.1", "v100.0.0"])
def test_a_machine_with_its_own_agent_and_a_new_node_needs_nothing_pinned(
    version: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    elsewhere(monkeypatch, tmp_path, pi_js="", node=f"echo {version}")
    (tmp_path / "bin" / "pi").symlink_to("pi.js")
    assert agent.command() == (str(tmp_path / "bin" / "node"), str(tmp_path / "bin" / "pi.js"))


@pytest.mark.usefixtures("fresh_command")
def test_an_agent_that_is_a_program_of_its_own_needs_no_node(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    elsewhere(monkeypatch, tmp_path, pi="exit 3")
    assert agent.command() == (str(tmp_path / "bin" / "pi"),)
    installation.version.cache_clear()
    with pytest.raises(AgentError, match=r"does not start \(exit status 3\)"):
        agent.version()


@pytest.mark.usefixtures("fresh_command")
def test_a_damaged_installation_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    elsewhere(monkeypatch, tmp_path)
    package = tmp_path / installation.PINNED / installation.PACKAGE
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"bin": {}}')
    with pytest.raises(AgentError, match=f"{package}/package.json is damaged"):
        agent.command()


TALK = """
import json, os, sys, time
def say(data, to=sys.stdout.buffer):
    to.write(data if isinstance(data, bytes) else json.dumps(data, separators=(",", ":")).encode() + b"\\n")
    to.flush()
def answer(text="x", reason="stop", **more):
    usage = {"input": 10, "output": 2, "cost": {"total": 0.5}}
    said = {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": reason, "usage": usage}
    say({"type": "message_end", "message": {**said, "model": "m-1", **more}})
"""


def talk(tmp_path: Path, source: str, timeout: float = 60, **options: Any) -> agent.Outcome:
    return agent.run(tmp_path, [sys.executable, "-c", TALK + source], timeout, tmp_path / "trace.jsonl", **options)


def test_what_says_the_same_again_is_not_kept_and_everything_else_is(tmp_path: Path) -> None:
    outcome = talk(
        tmp_path,
        """
say({"type": "session"})
for n in range(200):
    say({"type": "message_update", "text": "x" * 10_000})
    say({"type": "tool_execution_update", "text": "x" * 10_000})
say(b"not an event\\r")
say(b"\\xff\\n")
answer("It says message_update.")
say(b'{"type":"torn')
""",
    )
    lines = outcome.trace.read_bytes().split(b"\n")
    assert lines[:2] == [b'{"type":"session"}', b"not an event\r\xff"]
    assert lines[3:] == [b'{"type":"torn']
    assert outcome.usage == {
        **{"input": 10, "output": 2, "cacheRead": 0, "cacheWrite": 0, "turns": 1, "retries": 0},
        "cost": 0.5,
    }
    assert (outcome.response, outcome.model, outcome.code) == ("It says message_update.", "m-1", 0)
    assert (outcome.produced_something, outcome.detail, outcome.error, outcome.stderr) == (True, "", "", "")


def test_a_watcher_is_given_every_kept_event_and_a_sign_of_life_for_each_other(tmp_path: Path) -> None:
    seen: list[Any] = []
    go = tmp_path / "go"
    os.mkfifo(go)

    def watch(event: Any) -> None:
        seen.append(event)
        if event["type"] == "first":
            go.write_text("go on")

    outcome = talk(
        tmp_path,
        f"say({{'type': 'first'}}); open({str(go)!r}).read(); say({{'type': 'message_update'}}); answer()",
        watch=watch,
    )
    assert [event["type"] for event in seen] == ["first", "message_update", "message_end"]
    kept = [event for event in seen if event["type"] != "message_update"]
    assert kept == [json.loads(line) for line in outcome.trace.read_text().splitlines()]


def test_a_watcher_that_fails_ends_the_agent_and_is_heard(tmp_path: Path) -> None:
    def watch(event: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        talk(tmp_path, "say({'type': 'a'})\nwhile True: say({'type': 'b', 'text': 'x' * 1000})", watch=watch)


def test_a_trace_that_cannot_be_written_is_an_error_and_not_a_measurement(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").mkdir()
    with pytest.raises(IsADirectoryError):
        talk(tmp_path, "answer()")


def test_past_the_ceiling_the_agent_is_stopped_and_nothing_was_measured(tmp_path: Path) -> None:
    outcome = talk(tmp_path, "answer()\nwhile True: say({'type': 'message_end', 'text': 'x' * 1000})", ceiling=100_000)
    assert (outcome.overflowed, outcome.code, outcome.produced_something) == (True, None, False)
    assert "ceiling" in outcome.detail
    assert outcome.usage["turns"] == 1
    assert 90_000 < outcome.trace.stat().st_size <= 100_000


def test_what_is_not_kept_does_not_count_against_the_ceiling(tmp_path: Path) -> None:
    source = f"""
say({{"type": "message_update", "text": "x" * 1_000_000}})
say(b"y" * {2 * LINE_LIMIT} + b"\\n")
answer()
"""
    outcome = talk(tmp_path, source, ceiling=10_000)
    assert outcome.produced_something


def test_a_flood_of_complaints_is_bounded_and_its_end_is_kept(tmp_path: Path) -> None:
    outcome = talk(tmp_path, "say(b'noise' * 2_000_000 + b'\\nthe\\n reason', sys.stderr.buffer)")
    assert len(outcome.stderr) == 65536
    assert outcome.stderr.endswith("\nthe\n reason")
    assert len(outcome.detail) <= 500
    assert len(outcome.detail.splitlines()) == 1


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        ("pass", "no tokens consumed"),
        ("say(b'why\\n not', sys.stderr.buffer)", "why not"),
        (
            "say(b'noise', sys.stderr.buffer); answer('', 'error', errorMessage='busy\\r\\nnow', usage={})",
            "busy now",
        ),
        ("answer(); answer('', 'error', errorMessage='busy', usage={})", "busy"),
        ("answer(); answer('', 'aborted', usage={})", "the provider's answer ended with aborted"),
        ("answer('', usage={'input': 3, 'output': 0})", "no tokens consumed"),
        ("answer(); os.kill(os.getpid(), 9)", "ended from outside by SIGKILL"),
        ("answer(); sys.exit(143)", "ended from outside by SIGTERM"),
    ],
)
def test_a_launch_that_measured_nothing_says_why_in_one_line(source: str, detail: str, tmp_path: Path) -> None:
    outcome = talk(tmp_path, source)
    assert not outcome.produced_something
    assert outcome.detail == detail


@pytest.mark.parametrize("code", [0, 1, 128])
def test_the_exit_status_of_an_agent_that_ends_by_itself_proves_nothing(code: int, tmp_path: Path) -> None:
    outcome = talk(tmp_path, f"answer(); sys.exit({code})")
    assert (outcome.code, outcome.produced_something, outcome.signalled) == (code, True, False)


def test_a_provider_that_recovered_did_not_give_up(tmp_path: Path) -> None:
    outcome = talk(tmp_path, "answer('', 'error', errorMessage='busy', usage={}); answer()")
    assert (outcome.error, outcome.gave_up, outcome.produced_something) == ("busy", "", True)


LATE = {
    "with-tokens": ("answer(); time.sleep(60)", True, ""),
    "without": ("time.sleep(60)", False, "no tokens consumed before the time limit"),
    "failing": ("answer('', 'error', errorMessage='busy'); time.sleep(60)", False, "busy"),
    "aborted-by-it": (
        """
import signal
def abort(*_): answer('', 'aborted', errorMessage='aborted', usage={}); sys.exit(143)
signal.signal(signal.SIGTERM, abort)
answer()
time.sleep(60)
""",
        True,
        "",
    ),
}


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> dict[str, agent.Outcome]:
    """What launches that overran their time limit were worth, run side by side."""
    with ThreadPoolExecutor() as pool:
        runs = {name: pool.submit(talk, tmp_path_factory.mktemp(name), case[0], 3.0) for name, case in LATE.items()}
        return {name: run.result() for name, run in runs.items()}


@pytest.mark.parametrize("name", LATE)
def test_a_time_limit_leaves_a_measurement_when_anything_was_consumed(
    name: str, late: dict[str, agent.Outcome]
) -> None:
    _, measured, detail = LATE[name]
    assert (late[name].timed_out, late[name].code) == (True, None)
    assert (late[name].produced_something, late[name].signalled, late[name].detail) == (measured, False, detail)


def test_no_secret_of_the_launch_is_repeated(operator: Path, tmp_path: Path) -> None:
    env = agent.environment(agent.home(tmp_path / "home", "off"))
    outcome = talk(
        tmp_path,
        """
say(("bad " + os.environ["MINE_KEY"]).encode(), sys.stderr.buffer)
answer("", "error", errorMessage="no such key: stored-secret-key", usage={})
""",
        env=env,
    )
    assert (outcome.error, outcome.gave_up) == ("no such key: [secret]", "no such key: [secret]")
    assert outcome.stderr == "bad [secret]"


def test_a_stop_is_no_outcome(tmp_path: Path) -> None:
    interrupt.stop(signal.SIGTERM)
    try:
        with pytest.raises(interrupt.Stopped):
            talk(tmp_path, "answer()")
    finally:
        interrupt.reset()


class Attempts:
    """Launches that each play one of some sources, and what was noted of them."""

    def __init__(self, tmp_path: Path, *sources: str) -> None:
        self.tmp_path, self.sources = tmp_path, sources
        self.started: list[int] = []
        self.failed: list[tuple[int, str]] = []

    def arguments(self, attempt: int) -> list[str]:
        self.started.append(attempt)
        return [sys.executable, "-c", TALK + self.sources[attempt - 1]]

    def run(self, attempts: int, **options: Any) -> agent.Outcome:
        return agent.run_until_productive(
            self.tmp_path,
            self.arguments,
            60,
            attempts,
            self.tmp_path / "trace.jsonl",
            failed=lambda attempt, outcome: self.failed.append((attempt, outcome.detail)),
            **options,
        )


def test_silence_is_tried_again_until_something_is_produced(tmp_path: Path) -> None:
    attempts = Attempts(tmp_path, "pass", "say(b'why', sys.stderr.buffer)", "answer()", "answer()")
    assert attempts.run(4).produced_something
    assert attempts.started == [1, 2, 3]
    assert attempts.failed == [(1, "no tokens consumed"), (2, "why")]


def test_silence_is_tried_again_only_so_often(tmp_path: Path) -> None:
    attempts = Attempts(tmp_path, "pass", "pass", "answer()")
    assert not attempts.run(2).produced_something
    assert [attempt for attempt, _ in attempts.failed] == [1, 2]


@pytest.mark.parametrize(
    "source",
    [
        "os.kill(os.getpid(), 15)",
        "while True: say({'type': 'x', 'text': 'y' * 1000})",
        "answer(); answer('', 'error', errorMessage='busy', usage={})",
    ],
    ids=["signalled", "runaway", "given-up-after-a-turn"],
)
def test_what_would_end_so_again_or_has_touched_the_tree_is_not_tried_again(source: str, tmp_path: Path) -> None:
    attempts = Attempts(tmp_path, source, "answer()")
    assert not attempts.run(3, ceiling=10_000).produced_something
    assert attempts.started == [1]
    assert [attempt for attempt, _ in attempts.failed] == [1]


def test_the_recorded_model_is_the_last_of_the_last_session(tmp_path: Path) -> None:
    for name, ids in (("a", ["one"]), ("b", ["two", "three"]), ("c", [])):
        entries = [json.dumps({"type": "model_change", "modelId": each}) for each in ids]
        (tmp_path / name).write_text("\n".join(entries))
    assert agent.recorded_model([tmp_path / "a", tmp_path / "b"]) == "three"
    assert agent.recorded_model([tmp_path / "a", tmp_path / "c"]) is None
    assert agent.recorded_model([]) is None

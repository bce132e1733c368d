"""The agent's adapter without the agent: its arguments and its home."""

import json
import os
import stat
from pathlib import Path

import pytest
from agent_talk import talk

from trysquare import agent
from trysquare.agent.home import KEYS
from trysquare.errors import AgentError

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

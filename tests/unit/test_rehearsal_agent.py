"""The real agent behind the scripted provider."""

import json

import pytest

from trysquare import agent
from trysquare.errors import AgentError
from trysquare.files import read_lines
from trysquare.rehearsal import Provider, Script

SCRIPT = """
record = true
[model]
price = { input = 2.0, output = 10.0, cached = 0.5 }
[[play]]
name = "fix"
[[play.turn]]
text = "I will fix the counter."
usage = { input = 1043, output = 61, cached = 500 }
call = [
    { tool = "edit", arguments = { path = "counter.py", edits = [{ oldText = "n - 1", newText = "n + 1" }] } },
    { tool = "write", arguments = { path = "notes/ä.md", content = "up\\n" } },
]
[[play.turn]]
call = [{ tool = "bash", arguments = { command = "cat counter.py" } }]
usage = { input = 150, output = 34, cached = 1543 }
[[play.turn]]
text = "Fixed."
usage = { input = 100, output = 29, cached = 1693 }
"""


class Launcher:
    """One provider, and the agent launched behind it as often as asked."""

    def __init__(self, root, script, model="rehearsal-1"):
        self.root, self.model = root, model
        self.provider = Provider(Script.parse(script), "rule / high", 2, root / "requests.jsonl", "r1")

    def launch(self, number=1, thinking="high", prompt="The counter goes down."):
        tree, sessions = (self.root / f"{name}-{number}" for name in ("tree", "sessions"))
        for directory in (tree, sessions):
            directory.mkdir()
        (tree / "counter.py").write_text("def bump(n):\n    return n - 1\n")
        models = self.provider.models(self.model)
        env = agent.environment(agent.home(self.root / "home", thinking, models), models)
        args = agent.argv(prompt, "rehearsal", self.model, thinking, sessions)
        outcome = agent.run(tree, args, 120, self.root / "trace.jsonl", env=env)
        messages = [event["message"] for event in read_lines(outcome.trace) if event["type"] == "message_end"]
        return tree, [message for message in messages if message["role"] == "assistant"], outcome

    def lines(self):
        return read_lines(self.root / "requests.jsonl")


@pytest.fixture
def launcher(tmp_path):
    try:
        agent.command()
    except AgentError as error:
        pytest.skip(f"the agent is not installed: {error}")
    return lambda script, **options: Launcher(tmp_path, script, **options)


def test_the_agent_does_what_the_script_says_and_reports_its_usage(launcher):
    run = launcher(SCRIPT)
    with run.provider:
        tree, answers, outcome = run.launch()
    assert "n + 1" in (tree / "counter.py").read_text()
    assert (tree / "notes" / "ä.md").read_text() == "up\n"
    usages = [(a["usage"]["input"], a["usage"]["output"], a["usage"]["cacheRead"]) for a in answers]
    assert usages == [(1043, 61, 500), (150, 34, 1543), (100, 29, 1693)]
    cost = (1293 * 2.0 + 124 * 10.0 + 3736 * 0.5) / 1e6
    assert sum(a["usage"]["cost"]["total"] for a in answers) == pytest.approx(cost)
    assert [a["stopReason"] for a in answers] == ["toolUse", "toolUse", "stop"] and outcome.usage["retries"] == 0
    assert [(line["request"], line["status"]) for line in run.lines()] == [(1, 200), (2, 200), (3, 200)]
    first, last = run.lines()[0]["body"]["messages"], run.lines()[-1]["body"]["messages"]
    assert "The counter goes down." in json.dumps(first) and "n + 1" in json.dumps(last)


@pytest.mark.parametrize(
    "model, thinking", [("vendor/some-model:large", "max"), ("GPT 5*", "off"), ("rehearsal-1", "xhigh")]
)
def test_any_declared_model_and_thinking_level_is_served(launcher, model, thinking):
    run = launcher(SCRIPT, model=model)
    with run.provider:
        _, answers, _ = run.launch(thinking=thinking)
    assert [(a["model"], a.get("thinkingLevel", "off")) for a in answers] == [(model, thinking)] * 3


def test_one_busy_moment_is_one_retry_and_the_run_goes_on(launcher):
    run = launcher("[[fault]]\nanswer = 503\nrequest = 2\ntimes = 1\n" + SCRIPT.replace("record", "# record"))
    with run.provider:
        tree, answers, outcome = run.launch()
    assert outcome.usage["retries"] == 1 and "n + 1" in (tree / "counter.py").read_text()
    assert [line["status"] for line in run.lines()] == [200, 503, 200, 200]
    assert answers[-1]["stopReason"] == "stop" and sum(a["usage"]["output"] for a in answers) == 124


def test_the_second_launch_of_a_job_is_told_from_the_first(launcher):
    run = launcher("[[fault]]\nanswer = 401\nattempt = 1\n" + SCRIPT.replace("record", "# record"))
    with run.provider:
        _, refused, _ = run.launch(1)
        tree, answers, _ = run.launch(2)
    assert [a["stopReason"] for a in refused] == ["error"] and "401" in refused[0]["errorMessage"]
    assert answers[-1]["stopReason"] == "stop" and "n + 1" in (tree / "counter.py").read_text()
    assert [line["status"] for line in run.lines()] == [401, 200, 200, 200]

"""Starting an experiment, and asking whether it would be accepted."""

import json
import tomllib
from pathlib import Path

import pytest
from scenarios import git, place, repository, scenario, small, write

from trysquare import agent, shipped
from trysquare.cli import main
from trysquare.cli.scenarios import SKELETON
from trysquare.errors import AgentError
from trysquare.refusals import toml
from trysquare.rehearsal import Provider, Script


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """The exit code of a command, and everything it printed."""
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out + err


@pytest.fixture
def installed() -> None:
    try:
        agent.command()
    except AgentError as error:
        pytest.skip(f"the agent is not installed: {error}")


@pytest.mark.parametrize("where", ["", "new/place", "a [b] 'c'"])
def test_init_writes_an_experiment_without_a_validator(tmp_path, capsys, monkeypatch, where):
    monkeypatch.chdir(tmp_path)
    code, text = said(capsys, "init", *([where] if where else []))
    assert code == 0 and "validator.py" in text
    assert sorted(path.name for path in (tmp_path / where).iterdir()) == sorted(SKELETON)


def test_init_overwrites_nothing_and_then_writes_nothing(tmp_path, capsys):
    (tmp_path / "prompt.md").write_text("mine")
    (tmp_path / "hypothesis.md").symlink_to("nowhere")
    code, text = said(capsys, "init", tmp_path)
    assert code == 1 and "prompt.md, hypothesis.md are there already" in text and "another directory" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hypothesis.md", "prompt.md"]
    assert (tmp_path / "prompt.md").read_text() == "mine"


def test_init_says_why_a_directory_cannot_be_written_to(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    code, text = said(capsys, "init", tmp_path / "file")
    assert code == 1 and str(tmp_path / "file") in text and len(text.splitlines()) == 1


def test_what_init_writes_lacks_a_validator_and_a_repository_and_nothing_else(tmp_path, capsys, installed):
    said(capsys, "init", tmp_path / "x")
    machine = tomllib.loads((tmp_path / "x/trysquare.toml").read_text())
    code, text = said(capsys, "validate", tmp_path / "x/scenario.toml")
    assert code == 1
    [line] = text.splitlines()
    assert '[[validation]] #1 command: "validator.py" is a path and cannot be read' in line
    (tmp_path / "x/validator.py").write_text("")
    code, text = said(capsys, "validate", tmp_path / "x/scenario.toml")
    assert code == 1 and "[repos] my-repo" in text and len(text.splitlines()) == 1
    made = repository((tmp_path / "x" / machine["repos"]["my-repo"]).resolve())
    git(made, "tag", "v1.0")
    code, text = said(capsys, "validate", tmp_path / "x/scenario.toml", "-o", tmp_path / "results")
    assert code == 0 and "valid; nothing was measured" in text and "2 cells x 10 repetitions = 20 runs" in text
    assert not (tmp_path / "results").exists()


@pytest.fixture
def here(tmp_path: Path) -> Path:
    repository(tmp_path / "repo")
    return place(tmp_path)


def test_validate_shows_the_header_of_a_run(here, capsys, installed):
    code, text = said(capsys, "validate", write(here, scenario()), "-o", here / "results")
    assert code == 0 and "6 cells x 2 repetitions = 12 runs: 12 to perform" in text
    assert not (here / "results").exists() and not (here / "work").exists()


def test_validate_makes_every_refusal_a_run_would_make(here, capsys, installed):
    (here / "AGENTS.md").write_text("be kind")
    url = f"file://{here / 'nowhere'}"
    (here / "trysquare.toml").write_text(f"[repos]\ncounter = {toml(url)}\n[defaults]\nworkdir = 'work'\n")
    code, text = said(capsys, "validate", write(here, scenario()), "-o", here / "results")
    assert code == 1
    assert f"would also read {here / 'AGENTS.md'}" in text
    assert f"{url} cannot be cloned" in text
    code, text = said(capsys, "validate", write(here, small(agent={"provider": "a", "model": "b", "thinking": "x"})))
    assert code == 1 and "[agent] thinking" in text
    code, text = said(capsys, "validate", here / "trysquare.toml")
    assert code == 1 and "is a machine file, not a scenario" in text


def rehearsed(here: Path, model: str = "large") -> Path:
    raw = small(agent={"provider": "rehearsal", "model": "large", "thinking": "off"})
    (here / "rehearsal.toml").write_text(
        f'[model]\nid = "{model}"\n[[play]]\nname = "a"\n[[play.turn]]\ntext = "Ready."\n'
    )
    return write(here, raw)


def test_ping_asks_each_model_once_and_says_which_answered(here, capsys, installed):
    code, text = said(capsys, "validate", rehearsed(here, "large-7"), "-o", here / "results", "--ping")
    assert code == 0 and "rehearsal large: large-7 answered in " in text
    assert not (here / "results").exists() and not (here / "work").exists()


def test_ping_asks_the_judges_too_through_the_logins_of_the_operator(here, capsys, monkeypatch, installed):
    script = Script.parse('[[play]]\nname = "a"\n[[play.turn]]\ntext = "Ready."\n')
    with Provider(script, "plain", 0, log=here / "requests.jsonl", run="ping") as provider:
        [served] = provider.models("large")["providers"].values()
        models = [{**served["models"][0], "id": name} for name in ("large-7", "wise-2")]
        (here / "operator").mkdir()
        (here / "operator/models.json").write_text(
            json.dumps({"providers": {"acme": {**served, "apiKey": "secret-of-acme", "models": models}}})
        )
        monkeypatch.setenv("PI_CODING_AGENT_DIR", str(here / "operator"))
        code, text = said(capsys, "validate", write(here, scenario()), "-o", here / "results", "--ping")
    assert code == 0, text
    assert "acme large: large-7 answered in " in text and "acme wise: wise-2 answered in " in text
    assert len((here / "requests.jsonl").read_text().splitlines()) == 2
    assert "secret-of-acme" not in text


def test_ping_says_which_model_does_not_answer(here, capsys, installed):
    path = rehearsed(here)
    with (here / "rehearsal.toml").open("a") as script:
        script.write("[[fault]]\nanswer = 401\n")
    code, text = said(capsys, "validate", path, "-o", here / "results", "--ping")
    assert code == 1 and "rehearsal large: does not answer (401" in text and "log the agent in" in text


def test_init_demo_writes_the_demo_with_its_repository_ready_to_run(tmp_path, capsys, installed):
    code, text = said(capsys, "init", tmp_path / "a demo", "--demo")
    assert code == 0 and f"trysquare run '{tmp_path}/a demo/scenario.toml'" in text
    assert git(tmp_path / "a demo" / "repository", "tag") == "etalon-v1"
    code, text = said(capsys, "validate", tmp_path / "a demo" / "scenario.toml", "-o", tmp_path / "results")
    assert code == 0 and "4 cells x 10 repetitions = 40 runs" in text


def test_init_demo_overwrites_nothing(tmp_path, capsys):
    (tmp_path / "repository").mkdir()
    code, text = said(capsys, "init", tmp_path, "--demo")
    assert code == 1 and "repository is there already" in text
    assert [path.name for path in tmp_path.iterdir()] == ["repository"]


def test_a_shipped_profile_is_found_from_anywhere_and_one_of_the_users_own_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert shipped.profile("profiles/slurm") == str(shipped.root() / "profiles" / "slurm")
    assert shipped.profile("slurm") == "slurm" and shipped.profile("profiles/none") == "profiles/none"
    (tmp_path / "profiles" / "slurm").mkdir(parents=True)
    assert shipped.profile("profiles/slurm") == "profiles/slurm"

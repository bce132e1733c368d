"""Which agent a machine has, and what is said where it has none that works."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from trysquare import agent
from trysquare.agent import installation
from trysquare.errors import AgentError


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

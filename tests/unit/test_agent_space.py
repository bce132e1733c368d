"""An agent that writes more to disk than it may."""

from pathlib import Path

from trysquare import agent

FLOOD = "while :; do head -c 4000000 /dev/zero >> large; done"


def test_an_agent_that_fills_the_disk_is_stopped_and_measured_nothing(tmp_path: Path) -> None:
    outcome = agent.run(tmp_path, ["sh", "-c", FLOOD], 60, tmp_path / "trace", space=agent.Space(tmp_path, 10_000_000))
    assert outcome.overflowed and not outcome.timed_out
    assert outcome.detail == "wrote more than 10 MB to disk and was stopped"
    assert not outcome.produced_something


def test_what_was_there_before_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "given").write_bytes(bytes(30_000_000))
    outcome = agent.run(tmp_path, ["true"], 60, tmp_path / "trace", space=agent.Space(tmp_path, 10_000_000))
    assert not outcome.overflowed and outcome.detail == "no tokens consumed"

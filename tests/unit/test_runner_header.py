"""What the header of a launch says of its plan."""

from pathlib import Path

from plans import here, origin, planned
from scenarios import scenario, small, write

from trysquare import runner

__all__ = ["here", "origin"]


def test_the_header_says_what_a_launch_will_do_and_may_cost(here: Path) -> None:
    raw = small(protocol={"repetitions": 4, "concurrency": 3, "timeout": 600})
    raw["validation"].append({"mode": "form", "metrics": ["clear"]})
    text = "\n".join(runner.header(planned(write(here, raw), repetitions=2)))
    assert "2 cells x 2 repetitions = 4 runs: 4 to perform, 0 kept" in text
    assert "OVERRIDE: repetitions 4 -> 2" in text
    assert "3 at a time, 600 s each, 3 attempts; at most 20 min" in text
    assert "spend: no estimate, nothing of this experiment is archived yet" in text
    assert "isolation: none; layout: blind" in text
    assert "form: 4 of 4 pending" in text
    assert "REHEARSAL" not in text
    rehearsed = "\n".join(runner.header(planned(write(here, raw), rehearse=True)))
    assert "/default.toml plays the model; nothing of this is a measurement" in rehearsed
    (here / "rehearsal.toml").write_text('[[play]]\nname = "a"\nturn = [{ text = "x" }]\n')
    rehearsed = "\n".join(runner.header(planned(write(here, raw), rehearse=True)))
    assert f"REHEARSAL: {here / 'rehearsal.toml'} plays the model" in rehearsed


def test_the_header_says_how_each_text_was_read(here: Path) -> None:
    (here / "README").write_text("é" * 1204)
    several = {"plain": {}, "x": {"prompt": "Fix it."}, "y": {"prompt": "README", "system": "prompts/fix.md"}}
    lines = runner.header(planned(write(here, small(variants=several))))
    assert [line for line in lines if line.startswith(("prompt", "system", "context"))] == [
        'prompt of "plain": text, 16 characters',
        'prompt of "x": text, 7 characters',
        'prompt of "y": README, 1 204 characters',
        'system of "y": prompts/fix.md, 17 characters',
    ]
    assert "prompt: text, 16 characters" in runner.header(planned(write(here, small())))
    many = small(variants={name: {"context": "context/rule.md"} for name in "abcde"} | {"plain": {}})
    found = runner.header(planned(write(here, many)))
    assert 'context of "a", "b", "c" and 2 more: context/rule.md, 23 characters' in found


def test_the_header_says_which_judges_can_tell_the_treatment(here: Path) -> None:
    raw = scenario()
    text = "\n".join(runner.header(planned(write(here, raw))))
    assert "! judge is only partially blind: prompt varies between cells" in text
    raw["validation"][1] |= {"pieces": ["diff"], "model": "large"}
    text = "\n".join(runner.header(planned(write(here, raw))))
    assert "judge: blind over 6 cells (pieces: diff)" in text and "the model under test" in text

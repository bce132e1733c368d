import json
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trysquare.rehearsal import FILE, Fault, Script, ScriptError, Usage, language, text_for

PLAY = """
[[play]]
name = "fix"
[[play.turn]]
text = "Look."
call = [{ tool = "bash", arguments = { command = "ls" } }]
[[play.turn]]
text = "Done."
"""


def play(name, extra="", text="Done."):
    return f'[[play]]\nname = "{name}"\n{extra}\n[[play.turn]]\ntext = "{text}"\n'


REFUSALS = {
    "not TOML": ("play = [", "mine.toml is not TOML"),
    "nothing to play": ("seed = 1", "mine.toml: `play` is missing; write a list."),
    "an empty list of plays": ("play = []", "`play` is empty; write at least one [[play]]"),
    "an unknown key": (PLAY + "sede = 3", "play #1, turn #2: unknown key `sede`"),
    "a near miss at the top": ("sede = 3\n" + PLAY, "unknown key `sede`; did you mean `seed`?"),
    "a near miss below": (
        "[model]\nprise = {}\n" + PLAY,
        "mine.toml, model: unknown key `prise`; did you mean `price`?",
    ),
    "a far miss": ("xyzzy = 3\n" + PLAY, "known are play, seed, record, model, scale, fault, judge."),
    "a play without a name": (
        "[[play]]\nturn = [{ text = 'a' }]",
        "mine.toml, play #1: `name` is missing; write a string.",
    ),
    "two plays of one name": (play("a") + play("a"), "play 'a': `name` is taken"),
    "a play without turns": ("[[play]]\nname = 'a'\nturn = []", "play 'a': `turn` is empty"),
    "a text for a number": (play("a", 'weight = "3"'), 'play #1: `weight` is "3"; write a number.'),
    "a truth for a number": ("seed = true\n" + PLAY, "`seed` is true; write a whole number."),
    "a fraction for a whole number": ("seed = 1.5\n" + PLAY, "`seed` is 1.5; write a whole number."),
    "no number": (play("a", "weight = nan"), "play #1: `weight` is NaN; write a number."),
    "a date": (play("a", "weight = 2026-01-01"), 'play #1: `weight` is "2026-01-01"; write a number.'),
    "a text for a list": (play("a", "cells = 'x'"), 'play #1: `cells` is "x"; write a list.'),
    "a text for a table": ("model = 'x'\n" + PLAY, '`model` is "x"; write a table.'),
    "a wrong item": (play("a", "repetitions = [0, 'x']"), 'play #1: `repetitions #2` is "x"; write a whole number.'),
    "a negative number": (play("a", "repetitions = [-1]"), "`repetitions #1` is -1; write a number from 0 to 1e+09."),
    "a play that never plays": (play("a", "weight = 0"), "play 'a': `weight` is 0"),
    "a spread without bounds": ("[model]\nspread = 50\n" + PLAY, "model: `spread` is 50; write a number from 0 to 2."),
    "a status that is none": (
        PLAY + "[[fault]]\nanswer = 200",
        "fault #1: `answer` is 200; write a status from 400 to 599",
    ),
    "an unknown fault": (PLAY + "[[fault]]\nanswer = 'slow'", "or one of cut, silence, endless."),
    "request zero": (PLAY + "[[fault]]\nanswer = 503\nrequest = 0", "fault #1: `request` is 0; write a number from 1"),
    "a turn after the end": (
        "[[play]]\nname = 'a'\nturn = [{ text = 'b' }, { text = 'c' }]",
        "play 'a', turn #1: without a `call` the agent stops here",
    ),
    "a play without an end": (
        "[[play]]\nname = 'a'\nturn = [{ call = [{ tool = 'bash', arguments = {} }] }]",
        "play 'a', turn #1: the last turn must be the answer",
    ),
    "a call without arguments": (
        "[[play]]\nname = 'a'\nturn = [{ call = [{ tool = 'bash' }] }]",
        "play #1, turn #1, call #1: `arguments` is missing; write a table.",
    ),
    "arguments that are no JSON": (
        "[[play]]\nname = 'a'\nturn = [{ call = [{ tool = 'bash', arguments = { x = 2026-01-01 } }] }]",
        "play 'a', turn #1: the `arguments` of 'bash' hold a date",
    ),
}


@pytest.mark.parametrize("text, said", REFUSALS.values(), ids=REFUSALS)
def test_a_script_that_cannot_be_played_is_refused_in_one_sentence_naming_file_and_key(text, said):
    with pytest.raises(ScriptError) as refusal:
        Script.parse(text, "mine.toml")
    assert said in str(refusal.value)
    assert str(refusal.value).startswith("mine.toml") and "\n" not in str(refusal.value)


GUIDE = Path(__file__).parents[2] / "docs/rehearsals.md"
EXAMPLE = re.search(r"```toml\n(.*?)```", GUIDE.read_text(), re.DOTALL)[1].splitlines()
KEYS = st.sampled_from(re.findall(r"^(?:\[\[)?(\w+)", "\n".join(EXAMPLE), re.MULTILINE))
NUMBERS = ["1", "-1", "1e400", "nan", "503", "9" * 40]
OTHERS = ["true", "'cut'", "[]", "[1]", "['a']", "{}", "{ input = 1 }", "[{}]", "[[]]", "2026-01-01"]
VALUES = st.sampled_from([*NUMBERS, *OTHERS])


@given(st.lists(st.tuples(st.integers(0, len(EXAMPLE) - 1), st.builds("{} = {}".format, KEYS, VALUES)), max_size=4))
def test_any_text_is_either_a_script_or_a_refusal(edits):
    lines = list(EXAMPLE)
    for position, line in edits:
        lines[position] = line
    try:
        script = Script.parse("\n".join(lines))
    except ScriptError:
        return
    assert script.declared.plays


def test_the_guide_shows_every_key():
    parts = (language.Declared, language.Model, language.JudgePart, language.Turn, language.Scale, language.Fault)
    keys = {field.metadata.get("key") or field.name for part in parts for field in fields(part)}
    assert keys <= set(re.findall(r"\w+", "\n".join(EXAMPLE)))


def test_the_documented_example_is_a_script():
    script = Script.parse("\n".join(EXAMPLE))
    met = script.play("rule / high", 0)
    assert met.name == "careful" and len(met.turns) == 2 and met.fault(1, 2) is None
    assert script.play("rule / off", 3).faults == ()


def test_the_default_script_looks_writes_one_file_and_answers():
    turns = Script.default().play("any cell", 12).turns
    assert [[call.tool for call in turn.calls] for turn in turns] == [["bash"], ["write"], []]


def test_a_scenario_is_rehearsed_with_the_script_beside_it_or_else_with_the_default(tmp_path):
    scenario = tmp_path / "scenario.toml"
    text, name = text_for(scenario)
    assert Script.parse(text, name).declared == Script.default().declared
    (tmp_path / FILE).write_text(PLAY)
    assert text_for(scenario) == (PLAY, str(tmp_path / FILE))


def test_the_same_run_meets_the_same_play_in_every_process():
    script = "seed = 9\n[model]\nspread = 0.4\n" + PLAY + play("other")
    code = (
        "import sys; from trysquare.rehearsal import Script; s = Script.parse(sys.argv[1]);"
        "print([s.play(c, r) for c in ('a / b', 'ä') for r in range(20)])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code, script],
            env={"PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    here = Script.parse(script)
    assert printed == {f"{[here.play(c, r) for c in ('a / b', 'ä') for r in range(20)]}\n"}


def test_runs_differ_by_seed_by_cell_and_by_repetition():
    text = "[model]\nspread = 0.4\n" + play("a")
    runs = [Script.parse(f"seed = {s}\n{text}").play(c, r).turns for s in (1, 2) for c in "xy" for r in (0, 1)]
    assert len({repr(turns) for turns in runs}) == len(runs)


def test_plays_are_drawn_in_proportion_to_their_weights():
    script = Script.parse(play("often", "weight = 3") + play("seldom"))
    names = [script.play("cell", repetition).name for repetition in range(4000)]
    assert abs(names.count("often") / 4000 - 0.75) < 4 * (0.75 * 0.25 / 4000) ** 0.5


def test_a_play_for_this_repetition_goes_before_the_ones_for_every_repetition():
    script = Script.parse(play("usual", "weight = 1000") + play("third", "repetitions = [2]\ncells = ['a*']"))
    assert [script.play("a1", r).name for r in range(4)] == ["usual", "usual", "third", "usual"]
    assert script.play("b", 2).name == "usual"


def test_a_cell_is_named_by_itself_or_by_a_pattern():
    script = Script.parse(
        play("brackets", "cells = ['x [1] / high']") + play("high", "cells = ['* / high']\nweight = 1e-9")
    )
    assert script.play("x [1] / high", 0).name == "brackets"
    assert script.play("x 1 / high", 0).name == "brackets"
    assert script.play("y / high", 0).name == "high"
    with pytest.raises(ScriptError, match=r"no \[\[play\]\] fits repetition 4 of cell 'y / low'"):
        script.play("y / low", 4)


def test_scales_multiply_what_a_turn_costs_and_touch_no_other_cell():
    scales = "[[scale]]\ncells = ['* / high']\noutput = 2.5\npause = 3\n[[scale]]\ncells = ['rule / *']\noutput = 2\n"
    script = Script.parse(
        scales + "[[play]]\nname = 'a'\nturn = [{ text = 'b', pause = 10, usage = { output = 100 } }]"
    )
    met = {cell: script.play(cell, 0).turns[0] for cell in ("rule / high", "rule / off", "no / off")}
    assert [(turn.usage.output, turn.pause) for turn in met.values()] == [(500, 30), (200, 10), (100, 10)]
    assert {turn.usage.input for turn in met.values()} == {Usage().input}


def test_spread_varies_every_number_around_what_is_written():
    script = Script.parse(
        "[model]\nspread = 0.2\n[[play]]\nname = 'a'\nturn = [{ text = 'b', usage = { cached = 900 } }]"
    )
    met = [script.play("cell", r).turns[0].usage for r in range(999)]
    for name, written in (("input", 1500), ("output", 60), ("cached", 900)):
        values = sorted(getattr(usage, name) for usage in met)
        assert abs(values[499] / written - 1) < 0.05
        assert 0.15 < (values[840] / values[499]) - 1 < 0.3


FAULT = Fault(503, request=2, times=3)


@pytest.mark.parametrize(
    "fault, requests",
    [
        (Fault(503), [1, 2, 3, 4, 5, 6]),
        (FAULT, [2, 3, 4]),
        (replace(FAULT, attempt=2), []),
        (replace(FAULT, attempt=1), [2, 3, 4]),
        (replace(FAULT, heals_after=1), [2, 3, 4]),
    ],
)
def test_a_fault_meets_the_requests_it_names(fault, requests):
    assert [request for request in range(1, 7) if fault.hits(1, request, 1)] == requests


def test_a_fault_heals_after_so_many_jobs():
    fault = Fault("cut", heals_after=2)
    assert [fault.hits(1, 1, job) for job in (1, 2, 3)] == [True, True, False]


def test_a_scenario_is_checked_before_it_is_rehearsed():
    script = Script.parse(
        play("a", "repetitions = [0, 1]") + "[[fault]]\nanswer = 503\ncells = ['rule']\n", "mine.toml"
    )
    script.check(["rule", "plain"], 2)
    with pytest.raises(ScriptError, match=r"no .* fits repetition 2 of cell 'rule'"):
        script.check(["rule", "plain"], 3)
    with pytest.raises(
        ScriptError, match=r"mine\.toml, fault #1: `cells` fits no cell of the scenario; these are plain, odd"
    ):
        script.check(["plain", "odd"], 2)


def test_a_tool_that_the_agent_does_not_have_is_refused():
    tools = ("read", "bash", "edit", "write")
    Script.parse(PLAY).check_tools(tools)
    with pytest.raises(
        ScriptError, match=r'mine\.toml, play #1: the agent has no tool "bsah" \(did you mean "bash"\?\)'
    ):
        Script.parse(PLAY.replace('"bash"', '"bsah"'), "mine.toml").check_tools(tools)
    judge = PLAY.replace("[[play", "[[judge").replace('name = "fix"', 'name = "fix"\nvalidators = ["judge"]')
    with pytest.raises(ScriptError, match=r'judge #1: the agent has no tool "bash"; the tools are "verdict"'):
        Script.parse(PLAY + judge).check_tools(tools)


def test_the_model_is_the_one_the_script_names_when_the_declared_pattern_is_part_of_it():
    named = Script.parse("[model]\nid = 'rehearsal-1-large'\n" + PLAY, "mine.toml")
    assert named.model_id("Rehearsal-1") == "rehearsal-1-large"
    assert Script.parse(PLAY).model_id("vendor/some-model") == "vendor/some-model"
    with pytest.raises(
        ScriptError, match=r"mine\.toml: `model.id` is 'rehearsal-1-large'.* 'other' does not resolve to"
    ):
        named.model_id("other")


def test_importing_the_rehearsal_loads_no_heavy_library():
    code = "import sys, json, trysquare.rehearsal; print(json.dumps(sorted(sys.modules)))"
    root = Path(__file__).parents[2]
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=True).stdout)
    heavy = {"numpy", "scipy", "pandas", "pydantic", "jinja2", "rich", "snakemake", "http.server", "asyncio", "ssl"}
    assert not heavy & set(loaded)

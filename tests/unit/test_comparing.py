"""Two matrices side by side: what is refused, what is named, and rates without a verdict."""

import json
import random
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.foreign import original
from tests.matrices import CELLS, matrix, rows
from trysquare import cli
from trysquare.comparing import ComparisonError, Side, compare, data, page, text
from trysquare.measure import Run
from trysquare.table import group

COMMIT = "3f2c9a7d5e1b8c4f6a0d2e9b7c5a3f1d8e6b4c20"


def side(name: str = "left", runs: list[Run] | None = None, **changes) -> Side:
    """A finished matrix of four cells and ten repetitions, called `name`."""
    plan = matrix()
    by_cell = group(rows(plan) if runs is None else runs, tuple(plan.cells))
    made = Side(
        name=name,
        standing="",
        settings={"repetitions": "10", "concurrency": "2"},
        cells={cell: {"thinking": "off", "prompt": "a" * 24, "context": "b" * 24} for cell in plan.cells},
        fingerprints={},
        validators={"script": "d" * 24},
        etalon="v1",
        commits=(COMMIT,),
        agents=("1.6.0",),
        isolations=("none",),
        declared=("in_scope", "delivered", "files"),
        by_cell={cell: tuple(of_cell) for cell, of_cell in by_cell.items()},
        rehearsed=False,
        notes=(),
    )
    return replace(made, **changes)


def refusal(left: Side, right: Side) -> str:
    with pytest.raises(ComparisonError) as found:
        compare(left, right)
    return str(found.value)


def retried(count: int, retries: int | None = 1) -> list[Run]:
    runs = rows(matrix())
    return [replace(run, usage={**run.usage, "retries": retries}) for run in runs[:count]] + runs[count:]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"etalon": "v2"}, 'the etalon is "v1" on the left and "v2" on the right'),
        ({"commits": ("0" * 40,)}, '"v1" is commit 3f2c9a7d5e1b on the left and 000000000000 on the right'),
        ({"agents": ("1.5.0",)}, "the agent is version 1.6.0 on the left and 1.5.0 on the right"),
        ({"agents": ("1.5.0", "1.6.0")}, "the agent is version 1.6.0 on the left and 1.5.0 and 1.6.0 on the right"),
        ({"isolations": ("container",)}, "the isolation is none on the left and container on the right"),
        ({"rehearsed": True}, "the right one is a rehearsal"),
    ],
)
def test_what_was_not_measured_alike_is_refused_by_name(changes, said):
    found = refusal(side(), side("right", **changes))
    assert found.startswith("left and right cannot be compared: ") and said in found and "\n" not in found


def test_nothing_is_said_of_a_tag_that_moved_where_the_etalons_have_two_names():
    found = refusal(side(), side("right", etalon="v2", commits=("0" * 40,)))
    assert found == 'left and right cannot be compared: the etalon is "v1" on the left and "v2" on the right.'


def test_every_reason_is_named_at_once():
    found = refusal(side(), side("right", etalon="v2", agents=("1.5.0",), isolations=("container",)))
    assert found.count("on the left") == 3


def test_two_matrices_that_are_the_same_have_no_difference_and_no_verdict():
    found = compare(side(), side("right"))
    assert found.differences == () and found.set_aside == ""
    assert "established" not in re.sub("is established by one scenario", "", text(found))
    assert [row.cell for row in found.rows] == list(CELLS)
    assert all(left == right for row in found.rows for left, right in row.rates.values())


def test_what_is_declared_otherwise_is_listed_down_to_the_parts_of_a_cell():
    cells = dict(side().cells)
    cells["rule / off"] = {"thinking": "low", "prompt": "c" * 24}
    right = side(
        "right", settings={"repetitions": "20", "concurrency": "2"}, cells=cells, validators={"script": "e" * 24}
    )
    found = {each.what: (each.left, each.right) for each in compare(side(), right).differences}
    assert found == {
        "repetitions": ("10", "20"),
        "validator script": ("dddddd", "eeeeee"),
        "rule / off: thinking": ("off", "low"),
        "rule / off: prompt": ("aaaaaa", "cccccc"),
        "rule / off: context": ("bbbbbb", "none"),
    }
    assert any("not scored by the same validator (script)" in note for note in compare(side(), right).notes)


def test_a_side_without_digests_is_compared_by_its_thinking_levels_alone():
    right = side("right", cells={cell: {"thinking": "high"} for cell in CELLS}, validators={"script": None})
    found = compare(side(), right)
    assert {each.what for each in found.differences} == {f"{cell}: thinking" for cell in CELLS}
    assert any(note.startswith("On the right: It keeps no digests of contents") for note in found.notes)


def test_declarations_the_original_kept_only_as_digests_are_compared_as_such():
    left = side(cells={cell: {} for cell in CELLS}, fingerprints=dict.fromkeys(CELLS, "aaaaaaaaaaaa"))
    right = replace(left, fingerprints={**left.fingerprints, "rule / high": "bbbbbbbbbbbb"})
    [difference] = compare(left, right).differences
    assert (difference.what, difference.left, difference.right) == ("rule / high: declaration", "aaaaaa", "bbbbbb")


def test_a_cell_and_a_metric_of_one_side_alone_have_a_dash_for_the_other():
    others = ("nothing / off", "nothing / high", "rule / off")
    runs = [run for run in rows(matrix()) if run.cell in others]
    added = [replace(run, cell="other", metrics={"neat": True}) for run in runs if run.cell == "rule / off"]
    right = side("right", declared=("in_scope", "neat"), cells={cell: side().cells[cell] for cell in others})
    right = replace(right, by_cell={cell: tuple(of_cell) for cell, of_cell in group([*runs, *added], others).items()})
    found = compare(side(), right)
    table = text(found).partition("## Declared differences")[0]
    lines = {line.split(" | ")[0].strip("| "): line for line in table.splitlines() if line.startswith("| ")}
    assert lines["cell"] == "| cell | in_scope | delivered | neat |"
    assert re.fullmatch(r"\| rule / high \| \d+/10 -> - \| 10/10 -> - \| - -> - \|", lines["rule / high"])
    assert lines["other"] == "| other | - -> - | - -> - | - -> 10/10 |"
    assert "On the right: The scenario no longer declares other." in found.notes


def test_a_run_that_could_not_be_judged_leaves_the_denominator():
    runs = rows(matrix())
    for run in runs[:3]:
        del run.metrics["in_scope"]
        run.unjudged["in_scope"] = "no suite"
    [row, *_] = compare(side(), side("right", runs)).rows
    assert row.rates["in_scope"][0][1] == 10 and row.rates["in_scope"][1][1] == 7


def test_a_metric_that_is_no_rate_is_named_beside_the_table():
    runs = [replace(run, metrics={**run.metrics, "in_scope": 3}) for run in rows(matrix())]
    found = compare(side(), side("right", runs))
    assert found.tests == ("delivered",)
    assert found.others["in_scope"] == "yes or no -> a number"
    assert "in_scope (yes or no -> a number)" in text(found)


@pytest.mark.parametrize(("count", "aside"), [(0, False), (2, False), (3, True)])
def test_costs_are_set_aside_when_retries_are_not_near_zero(count, aside):
    found = compare(side(), side("right", retried(count)))
    assert bool(found.set_aside) is aside and bool(found.costs) is not aside
    if aside:
        assert "on the right 3 of 40 runs were retried" in text(found)


def test_costs_are_set_aside_when_the_time_limit_cut_a_run_off():
    runs = retried(0)
    found = compare(side(), side("right", [replace(runs[0], timed_out=True), *runs[1:]]))
    assert found.costs == () and "on the right the time limit cut 1 run off" in text(found)


def test_costs_are_set_aside_when_nobody_knows_about_retries():
    assert "on the left it is not known" in compare(side(runs=retried(1, None)), side("right")).set_aside


def test_durations_are_never_compared():
    assert not any("duration" in name for row in compare(side(), side("right")).costs for name in row.medians)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 6))
def test_exchanging_the_sides_exchanges_every_pair(seed, retries):
    dice = random.Random(seed)
    runs = [replace(run, metrics={**run.metrics, "in_scope": dice.random() < 0.5}) for run in retried(retries)]
    one, other = side(), side("right", dice.sample(runs, 30), settings={"repetitions": str(seed)})
    there, back = compare(one, other), compare(other, one)
    rates = {row.cell: row.rates for row in there.rows}
    assert {row.cell: {name: pair[::-1] for name, pair in row.rates.items()} for row in back.rows} == rates
    assert {(each.what, each.right, each.left) for each in back.differences} == {
        (each.what, each.left, each.right) for each in there.differences
    }
    assert bool(there.set_aside) == bool(back.set_aside)


class Page(HTMLParser):
    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, found):
        self.text += found


def test_the_page_is_one_file_and_shows_names_as_they_are():
    hostile = "<b>left</b> & 'right'"
    found = page(compare(side(hostile), side("right", settings={"repetitions": hostile, "concurrency": "2"})))
    parsed = Page(found)
    assert hostile in parsed.text and "script" not in parsed.tags and "<b>left" not in found
    assert "url(" not in found and 'src="' not in found
    assert page(compare(side(hostile), side("right", settings={"repetitions": hostile, "concurrency": "2"}))) == found


def test_two_rehearsals_may_be_compared_and_every_form_says_what_they_are():
    found = compare(side(rehearsed=True), side("right", rehearsed=True))
    assert text(found).startswith("REHEARSED") and json.loads(data(found))["rehearsed"] is True
    assert "Nothing on this page is a measurement" in page(found)


def test_the_command_compares_two_archives_from_their_folders(tmp_path: Path, capsys):
    left, right = original(tmp_path / "one", seed=1, repetitions=2), original(tmp_path / "two", seed=2, repetitions=3)
    commit = json.loads((right.directory(right.runs[0]) / "configuration.json").read_text())["etalon_commit"]
    for run in left.runs:
        name = f"runs/{left.directory(run).parent.name}/{run.id}/configuration.json"
        left.edit(name, lambda said: said.update(etalon_commit=commit))
    before = left.bytes(), right.bytes()
    html = tmp_path / "page.html"
    arguments = ["compare", str(left.root), str(right.root)]
    assert cli.main([*arguments, "--json", "--html", str(html)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {"what": "repetitions", "left": "2", "right": "3"} in said["differences"]
    rates = {row["cell"]: row["rates"]["overflow"] for row in said["rows"]}
    for number, made in enumerate((left, right)):
        of_cell = [run.beyond for run in made.runs if run.cell == "base"]
        assert rates["base"][number] == [sum(of_cell), len(of_cell)]
    assert html.read_text().startswith("<!doctype html>")
    assert cli.main(arguments) == 0
    assert "| +ticket soigné | " in capsys.readouterr().out
    assert (left.bytes(), right.bytes()) == before
    right.edit("state.json", lambda state: state.update(etalon="v2"))
    assert cli.main(arguments) == 1
    assert 'the etalon is "v1" on the left and "v2" on the right' in capsys.readouterr().err

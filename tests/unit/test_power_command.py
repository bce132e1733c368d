import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scenarios import place, repository, small, write

from tests.matrices import matrix, rows, written
from trysquare import runner
from trysquare.cli import main
from trysquare.matrix import Matrix
from trysquare.measure import Run
from trysquare.outputs import experiment_name, largest
from trysquare.scenario import load


def said(capsys, *arguments, code=0):
    assert main(["power", *map(str, arguments)]) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


@pytest.fixture
def directory(tmp_path):
    plan = matrix()
    return written(tmp_path / "a matrix", plan, rows(plan))


def test_a_matrix_directory_is_planned_from_its_runs(capsys, directory):
    text = said(capsys, directory, "--gap", 40)
    assert text.startswith(f"Does a rule keep a fix small?  ({directory})\nMeasured: in_scope was true in 2 of 10 runs")
    assert "A gap of +40 pts needs " in text
    assert "REHEARSAL" not in text


def test_a_rehearsed_matrix_says_first_that_nothing_can_be_planned_with_it(capsys, tmp_path):
    plan = matrix(rehearsed=True)
    text = said(capsys, written(tmp_path, plan, rows(plan)))
    assert text.splitlines()[1] == "REHEARSAL: a script played the model; nothing can be planned with this"


def test_another_measure_and_another_power_can_be_asked_for(capsys, directory):
    text = said(capsys, directory, "--measure", "in", "--power", 0.95, "--gap", -200)
    assert "in input tokens is established with a chance of 95 %" in text
    assert "A gap of -200 needs " in text


def test_stated_values_stand_in_for_runs(capsys, directory):
    (directory / "measures.json").unlink()
    assert "in_scope is true in 30 % of runs" in said(capsys, directory, "--rate", 0.3)
    text = said(capsys, directory, "--measure", "out", "--median", 500, "--spread", 80, "--gap", 100)
    assert "a median of 500 and a spread of 80 in output tokens" in text
    assert f"measures.json does not exist: `trysquare render {directory}`" in said(capsys, directory, code=1)


def test_the_page_is_written_where_it_is_asked_for_and_is_the_same_every_time(capsys, directory, tmp_path):
    page = tmp_path / "new" / "power.html"
    assert said(capsys, directory, "--html", page).endswith(f"page: {page}\n")
    first = page.read_bytes()
    assert b"<svg" in first
    said(capsys, directory, "--html", page)
    assert page.read_bytes() == first
    assert "name another place" in said(capsys, directory, "--html", tmp_path, code=1)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--rate", "0.3", "--median", "5"),
        ("--median", "5"),
        ("--spread", "5"),
        ("--rate", "0.3", "--spread", "1"),
        ("--gap", "much"),
    ],
)
def test_a_misused_command_line_exits_2(capsys, directory, arguments):
    with pytest.raises(SystemExit) as caught:
        main(["power", str(directory), *arguments])
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--measure", "speed"), "no measure 'speed'"),
        (("--gap", "nan"), "cannot be planned for"),
        (("--power", "80"), "between 0 and 1"),
        (("--rate", "30"), "not between 0 and 1"),
        (("--rate", "0.3", "--measure", "in"), "has no rate"),
    ],
)
def test_what_cannot_be_planned_exits_1_with_a_sentence(capsys, directory, arguments, message):
    text = said(capsys, directory, *arguments, code=1)
    assert message in text and text.count("\n") == 1


def test_a_directory_that_is_no_matrix_is_refused(capsys, tmp_path):
    assert "name a matrix directory" in said(capsys, tmp_path, code=1)
    assert "there is no such file" in said(capsys, tmp_path / "none.toml", code=1)


# A scenario


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    return repository(tmp_path_factory.mktemp("origin") / "repo")


@pytest.fixture
def scenario(tmp_path, origin):
    shutil.copytree(origin, tmp_path / "repo")
    return write(place(tmp_path), small(protocol={"repetitions": 12}))


def archive(scenario, repetitions, states="valid"):
    """A matrix of this scenario whose runs deliver three times out of four."""
    found = load(scenario)
    root = scenario.parent / "results"
    plan = runner.resolve_all(runner.Settings.of({"scenario": str(scenario), "output": str(root)}))[0].matrix
    made = [
        Run(f"{cell}{i}", cell, i, {"input": 100 + i}, 30.0, {"delivered": i % 4 > 0}, state=states)
        for cell in found.cell_names
        for i in range(repetitions)
    ]
    return written(root / experiment_name(found, repetitions), plan, made)


def test_a_scenario_is_planned_from_its_matrix_with_most_runs(capsys, scenario):
    archive(scenario, 4)
    largest_one = archive(scenario, 8)
    archive(scenario, 30, states="empty")
    root = scenario.parent / "results"
    assert largest(root, load(scenario)) == largest_one
    text = said(capsys, scenario, "-o", root)
    assert str(largest_one) in text
    assert "delivered was true in 6 of 8 runs of plain" in text
    assert "With 12 repetitions a cell" in text


def test_a_scenario_without_a_matrix_is_refused_unless_values_are_stated(capsys, scenario):
    root = scenario.parent / "results"
    assert largest(root, load(scenario)) is None
    text = said(capsys, scenario, "-o", root, code=1)
    assert "holds no measured matrix" in text and "--rate" in text and "--spread" in text
    assert "With 12 repetitions a cell" in said(capsys, scenario, "-o", root, "--rate", 0.2)


def test_a_rehearsal_of_a_scenario_is_no_archive_of_it(capsys, scenario):
    archive(scenario, 8)
    root = scenario.parent / "results"
    (root / "rehearsals").mkdir()
    for matrix_directory in root.glob("*_n8"):
        matrix_directory.rename(root / "rehearsals" / matrix_directory.name)
    assert "holds no measured matrix" in said(capsys, scenario, "-o", root, code=1)


# The plan header


def header(scenario, **settings):
    given = {"scenario": str(scenario), "output": str(scenario.parent / "results"), **settings}
    return [line for line in runner.header(runner.resolve_all(runner.Settings.of(given))[0]) if "power:" in line]


def test_the_header_says_what_the_repetitions_can_show_once_something_is_archived(scenario):
    assert header(scenario) == []
    directory = archive(scenario, 8)
    [line] = header(scenario)
    assert line.startswith("power: with 12 repetitions a cell a gap of ")
    assert line.endswith(f"(from 16 archived runs in {directory.name})")
    assert "with 30 repetitions" in header(scenario, repetitions=30)[0]


def test_an_archive_that_says_nothing_is_said_to_give_no_estimate(scenario):
    directory = archive(scenario, 8)
    written(directory, Matrix.load(directory / "plan.json"), [Run("a", "deep", 0, metrics={"delivered": True})])
    [line] = header(scenario)
    assert line.startswith("power: no estimate. No run of 'plain' has delivered")


def test_planning_alone_loads_no_numbers():
    code = "import sys, trysquare.runner, trysquare.cli; print([m for m in ('numpy', 'jinja2') if m in sys.modules])"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from tests.matrices import CELLS, matrix, rows
from trysquare import power, table
from trysquare.errors import TrysquareError
from trysquare.power.advice import percent

HOSTILE = "<script>alert(1)</script> *a* |b| `c`"


def question(repetitions=10, **verdict):
    plan = matrix(repetitions=repetitions)
    return power.Question.of(replace(plan, verdict=replace(plan.verdict, **verdict)))


def by_cell(**changes):
    runs = rows(matrix(**changes))
    return table.group(runs, CELLS)


def advice(name=None, gap=None, runs=None, asked=None):
    asked = asked or question()
    return power.advise(asked, power.measured(asked, name, runs or by_cell()), gap)


def test_a_gap_in_a_rate_is_given_and_shown_in_points():
    found = advice(gap=-12.5)
    assert found.needed[0].gap == -0.125
    assert "A gap of -12.5 pts needs " in "\n".join(power.sentences(found))


def test_a_gap_in_a_number_is_in_its_own_unit():
    found = advice("duration", gap=30)
    assert found.needed[0].gap == 30
    assert "A gap of +30 s needs " in "\n".join(power.sentences(found))


def test_the_sentences_hold_the_numbers_of_the_plan():
    found = advice(gap=40)
    plan = power.needed_repetitions(found.basis.population, 0.4)
    smallest = power.smallest_gap(found.basis.population, 10)
    text = "\n".join(power.sentences(found))
    assert "in_scope was true in 2 of 10 runs of nothing / off; 23 % is assumed" in text
    assert f"With 10 repetitions a cell a gap of +{100 * smallest.gap:.0f} pts in in_scope is established" in text
    assert f"A gap of +40 pts needs {plan.repetitions} repetitions a cell; with 10 its chance is " in text
    assert "1 000 simulated experiments" in text and "seed 20260729" in text


def test_without_a_gap_a_few_are_looked_at_and_none_ends_beyond_a_rate():
    assert [plan.gap for plan in advice().needed] == [0.2, 0.4, 0.6]
    runs = by_cell()
    for run in runs[CELLS[0]]:
        run.metrics["in_scope"] = run.repetition != 1
    assert [plan.gap for plan in advice(runs=runs).needed] == [-0.2, -0.4, -0.6]
    for run in runs[CELLS[0]]:
        run.metrics["in_scope"] = run.repetition % 2 == 0
    assert [plan.gap for plan in advice(runs=runs).needed] == [0.2, 0.4]


def test_gaps_in_a_number_that_is_always_whole_are_whole():
    found = advice("turns")
    assert [plan.gap for plan in found.needed] == [1.0]
    assert re.search(r"a gap of \+\d in turns is established", "\n".join(power.sentences(found)))


def test_a_criterion_named_like_a_cost_is_planned_as_itself():
    asked = replace(question(criterion="turns"), declared=("turns", "delivered"))
    runs = by_cell()
    for run in (run for of_cell in runs.values() for run in of_cell):
        run.metrics["turns"] = run.metrics.pop("in_scope")
    assert advice(runs=runs, asked=asked).basis.said[0].startswith("Measured: metric.turns was true in 2 of 10 runs")
    assert advice("turns", runs=runs, asked=asked).basis.said[0].startswith("Measured: turns with a median of 3 ")


def test_a_chance_never_reads_as_none_or_as_certain_unless_it_is():
    shares = (0, 0.0004, 0.425, 0.996, 0.99996, 1)
    texts = [percent(share) for share in shares]
    assert texts == ["0 %", "0.04 %", "42 %", "99.6 %", "99.996 %", "100 %"]


def test_too_few_repetitions_are_said_to_establish_nothing():
    found = advice(asked=question(3))
    assert "With 3 repetitions a cell no gap can be established, each side needs 4." in power.sentences(found)
    assert found.now == (0.0, 0.0, 0.0)


def test_a_gap_out_of_reach_says_how_far_the_limit_gets():
    text = "\n".join(power.sentences(advice(gap=2)))
    assert re.search(r"A gap of \+2 pts needs more than 200 repetitions a cell, which give it a chance of \d", text)


def test_runs_that_do_not_count_are_named():
    runs = by_cell()
    runs[CELLS[1]][0].metrics["delivered"] = False
    runs[CELLS[2]][0].state = "empty"
    del runs[CELLS[3]][0].metrics["in_scope"]
    said = advice(runs=runs).basis.said
    assert said[1].startswith("Of 40 archived runs 37 count for in_scope")
    assert len(advice(runs=by_cell()).basis.said) == 1


def test_a_rehearsed_archive_marks_the_plan():
    assert advice(runs=by_cell(rehearsed=True)).basis.rehearsed
    assert not advice().basis.rehearsed


def test_a_stated_population_is_called_stated():
    asked = question()
    rate = power.stated(asked, None, power.stated_rate(0.3))
    assert rate.said == ("Stated, not measured: in_scope is true in 30 % of runs.",)
    number = power.stated(asked, "in", power.stated_median(11502, 2400))
    assert number.said == ("Stated, not measured: a median of 11 502 and a spread of 2 400 in input tokens.",)


def test_the_header_line_is_the_sentence_on_what_is_at_hand():
    asked = question(20)
    basis = power.measured(asked, None, by_cell())
    line = power.header_line(asked, basis, "from 40 archived runs")
    assert re.fullmatch(
        r"power: with 20 repetitions a cell a gap of \+\d\d pts in in_scope is established with a chance of 80 % "
        r"\(from 40 archived runs\)",
        line,
    )


def mixed():
    runs = by_cell()
    runs[CELLS[1]][0].metrics["in_scope"] = 3
    return runs


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: advice("speed"), "no measure 'speed': choose one of in_scope, delivered, files, in, out, turns"),
        (lambda: advice("files"), "files is neither true or false in every run nor a number"),
        (lambda: advice(runs=mixed()), "in_scope is neither true or false in every run"),
        (lambda: advice(gap=0), "A gap of 0 cannot be planned for"),
        (lambda: advice(gap=float("nan")), "A gap of nan cannot be planned for"),
        (lambda: advice(gap=90), r"A gap of \+90 pts from a rate of 22.7 % ends beyond 0 or 100 %"),
        (lambda: power.stated(question(), "in", power.stated_rate(0.3)), "in is a number and has no rate"),
        (lambda: power.stated_median(float("inf"), 1), "is no number"),
        (lambda: power.stated_median(1, float("inf")), "is not above 0"),
        (
            lambda: power.advise(question(), power.stated(question(), None, power.stated_rate(0.3)), 20, 1.0),
            "A power of 1",
        ),
        (lambda: advice(asked=question(reference="gone")), "No run of 'gone' has in_scope: state a rate"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_a_sentence(call, message):
    with pytest.raises(TrysquareError, match=message):
        call()


# The page


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def test_the_page_says_what_the_command_says_and_fetches_nothing():
    found = advice()
    page = power.page(found)
    parsed = Tags(page)
    text = " ".join(parsed.text.replace("\u202f", " ").split())
    for sentence in (power.sentences(found)[0], power.sentences(found)[-1]):
        assert sentence in text
    for plan in found.needed:
        assert str(plan.repetitions) in text
    assert page == power.page(advice())
    assert not {"script", "img", "link"} & {tag for tag, attrs in parsed.tags if attrs.get("href") != "data:,"}
    assert "@import" not in page and not re.search(r"url\((?!#)", page)
    assert [tag for tag, _ in parsed.tags].count("svg") == 1


def test_the_page_of_a_rehearsal_says_so_above_everything_and_another_nowhere():
    rehearsed = power.page(advice(runs=by_cell(rehearsed=True)))
    assert "<title>REHEARSED, not a measurement: " in rehearsed and 'class="banner"' in rehearsed
    assert "Rehearsed, not a measurement." in rehearsed
    assert "ehears" not in power.page(advice()).partition("</style>")[2]


def test_names_on_the_page_are_shown_as_they_are():
    asked = replace(question(), title=HOSTILE, declared=(HOSTILE,))
    runs = by_cell()
    for run in (run for of_cell in runs.values() for run in of_cell):
        run.metrics[HOSTILE] = run.metrics.pop("in_scope")
    page = power.page(power.advise(asked, power.measured(asked, HOSTILE, runs)))
    assert "script" not in [tag for tag, _ in Tags(page).tags]
    assert HOSTILE in Tags(page).text


def test_a_curve_goes_through_the_numbers_that_are_named():
    found = advice(gap=40)
    [curve] = power.curves(found)
    places = dict(zip(curve.repetitions, curve.power, strict=True))
    assert places[found.needed[0].repetitions] == found.needed[0].power
    assert places[10] == found.now[0]
    assert min(places) == 4 and max(places) <= power.LIMIT
    ElementTree.fromstring(power.picture(found))

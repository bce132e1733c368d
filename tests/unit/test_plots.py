import re
from statistics import median
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trysquare.plots import Gap, Line, Sample, chances, exact, exact_signed, forest, strip, tally

SVG = "{http://www.w3.org/2000/svg}"
GAPS = (Gap("rule", 300.0, 120.0, 420.0, True), Gap("rule, thinking", -40.0, -200.0, 90.0, False))
SAMPLES = (Sample("none", (3.0, 4.0, 3.0, 9.0), (False, False, False, True), "3.5"), Sample("rule", (), (), "-"))
ACCENT, HOLLOW, INK = "fill: var(--accent", "fill: var(--paper", "fill: currentColor"


def a_forest(rows=GAPS, name="in"):
    return forest(name, rows, lambda x: f"{x:+.0f}", exact_signed)


def a_strip(rows=SAMPLES, name="turns"):
    return strip(name, rows, median, exact)


def a_tally(rows=SAMPLES, name="in_scope"):
    return tally(name, rows)


LINES = (Line("+20 pts", (4, 10, 40), (0.1, 0.3, 0.7)), Line("+60 pts", (4, 10, 40), (0.5, 0.9, 1.0)))


def a_curve(lines=LINES, name="in_scope", here=10):
    return chances(name, lines, 0.8, here, "repetitions of each cell")


def markers(svg):
    """Every round marker drawn: x, y, style."""
    root = ElementTree.fromstring(svg)
    parents = {child: parent for parent in root.iter() for child in parent}
    uses = [use for use in root.iter(f"{SVG}use") if "clip-path" in parents[use].attrib]
    return [(float(use.get("x")), float(use.get("y")), use.get("style")) for use in uses]


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


DRAWN = [a_forest, a_strip, a_tally, a_curve]


@pytest.mark.parametrize("draw", DRAWN)
def test_the_same_data_gives_the_same_bytes_without_a_date(draw):
    assert draw() == draw()
    assert not re.search(r"\d{4}-\d\d-\d\d|matplotlib", draw())


def test_established_gaps_are_filled_and_inconclusive_ones_hollow():
    (x_full, y_full, full), (x_open, y_open, hollow) = markers(a_forest())
    assert full.startswith(ACCENT) and hollow.startswith(HOLLOW)
    assert x_full > x_open and y_full < y_open


def test_a_forest_shows_zero_even_when_every_gap_is_far_from_it():
    assert "0" in texts(a_forest((Gap("rule", 900.0, 800.0, 1000.0, True),)))


def test_a_forest_names_every_gap_with_its_figure():
    assert {"rule", "+300", "rule, thinking", "-40"} <= {*texts(a_forest())}


def test_a_forest_of_identical_cells_is_drawn_at_zero():
    assert len(markers(a_forest((Gap("same", 0.0, 0.0, 0.0, False),)))) == 1


def test_every_run_is_one_dot_and_a_retried_one_is_hollow():
    dots = markers(a_strip())
    assert len(dots) == 4
    assert [style.startswith(HOLLOW) for *_, style in sorted(dots)] == [False, False, False, True]


def test_yes_is_filled_and_no_hollow_in_order_of_repetition():
    dots = sorted(markers(a_tally((Sample("rule", (True, False, True), (False,) * 3, "2 of 3"),))))
    assert [style.startswith(INK) for *_, style in dots] == [True, False, True]


@given(st.lists(st.integers(0, 12), min_size=1, max_size=40))
@settings(max_examples=15, deadline=None)
def test_no_dot_hides_another(values):
    numbers = tuple(map(float, values))
    dots = markers(a_strip((Sample("cell", numbers, (False,) * len(numbers), ""),)))
    assert len({(round(x, 2), round(y, 2)) for x, y, _ in dots}) == len(numbers)


def test_dots_that_have_room_are_exactly_at_their_values():
    values = (0.0, 10.0, 25.0, 100.0, 100.0)
    xs = sorted(x for x, *_ in markers(a_strip((Sample("cell", values, (False,) * 5, ""),))))
    assert [(x - xs[0]) / (xs[-1] - xs[0]) * 100 for x in xs] == pytest.approx(values)


HOSTILE = ("<b>&amp;", "$x^2$ 100% #1", "two\nlines\x07", "日本 🙂", "'\"`", "n" * 400)


@pytest.mark.parametrize("draw", [a_forest, a_strip, a_tally])
@pytest.mark.parametrize("label", HOSTILE)
def test_any_label_is_drawn_as_text_on_one_line_and_no_longer_than_its_row(draw, label):
    row = Gap(label, 1.0, 0.5, 2.0, True) if draw is a_forest else Sample(label, (1.0, 0.0), (False, False), "1 of 2")
    shown = texts(draw((row,), name=label))
    expected = "".join(c if c.isprintable() else " " for c in label)
    ends = [text.split("…") for text in shown]
    assert expected in shown or any(len(part) == 2 and expected.startswith(part[0]) for part in ends)
    assert max(map(len, shown)) <= 46


@pytest.mark.parametrize("draw", [a_forest, a_strip, a_tally])
def test_long_names_that_differ_at_either_end_are_told_apart(draw):
    middle = "a rule that goes on for longer than any picture has room for"
    names = [f"{start}{middle}{end}" for start in ("one: ", "two: ") for end in (" / off", " / high")]
    rows = [Gap(name, 1.0, 0.5, 2.0, True) for name in names]
    if draw is not a_forest:
        rows = [Sample(name, (1.0, 0.0), (False, False), "1 of 2") for name in names]
    shown = [text for text in texts(draw(rows)) if "…" in text]
    assert len({*shown}) == 4 and max(map(len, shown)) <= 46


def test_panels_share_no_id_and_every_reference_is_its_own():
    drawn = [draw(name=name) for draw in DRAWN for name in ("a b", "a-b", "a_b", "a/b")]
    ids = [name for svg in drawn for name in {*re.findall(r' id="([^"]+)"', svg)}]
    assert len(ids) == len(set(ids))
    for svg in drawn:
        assert {*re.findall(r'(?:href="|url\()#([^")]+)', svg)} <= {*re.findall(r' id="([^"]+)"', svg)}


@pytest.mark.parametrize("draw", DRAWN)
def test_colours_and_fonts_are_those_of_the_page(draw):
    svg = draw()
    assert not re.search(r"(?<!, )#[0-9a-f]{6}", svg)
    assert svg.count("font-family") == 1 and "font-family: inherit" in svg
    assert "<style" not in svg and "<metadata" not in svg


def test_the_ticks_of_an_axis_are_not_rounded():
    assert [exact(x) for x in (2.5, 11500.0, 0.0)] == ["2.5", "11 500", "0"]
    assert [exact_signed(x) for x in (2.5, -11500.0, 0.0)] == ["+2.5", "-11 500", "0"]
    svg = a_strip((Sample("cell", (3.0, 4.0), (False, False), "3.5"),))
    assert "3.5" in texts(svg)


def test_a_picture_is_named_for_who_cannot_see_it():
    root = ElementTree.fromstring(a_forest())
    assert root.get("role") == "img"
    assert root.get("aria-label") == "Gaps in in with their intervals, 1 of 2 established"


def test_a_curve_names_its_lines_and_the_number_at_hand_and_marks_every_point():
    svg = a_curve()
    assert {"+20 pts", "+60 pts", "now 10", "80 %", "repetitions of each cell"} <= {*texts(svg)}
    uses = [use for use in ElementTree.fromstring(svg).iter(f"{SVG}use") if HOLLOW in use.get("style", "")]
    assert len(uses) == 6
    assert "now 3" not in texts(a_curve(here=3))


def test_lines_of_a_curve_differ_in_more_than_colour():
    dashes = {*re.findall(r"stroke-dasharray: ([\d., ]+)", a_curve((*LINES, Line("+5 pts", (4, 10), (0, 0)))))}
    assert len(dashes) >= 2


@pytest.mark.parametrize("label", HOSTILE)
def test_any_label_of_a_line_is_drawn_as_text(label):
    expected = "".join(c if c.isprintable() else " " for c in label)
    assert expected in texts(a_curve((Line(label, (4, 10), (0.1, 0.3)),), name=label))

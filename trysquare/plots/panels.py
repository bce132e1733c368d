"""The panels of a synthesis: every gap with its interval, and every run by its value."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trysquare.plots.svg import ACCENT, HAIRLINE, INK, MUTED, PAPER, element, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 330.0
"""Width of a panel in SVG units, about one CSS pixel each."""

ROW, HEAD, FOOT = 46.0, 2.0, 26.0
LEFT, RIGHT = 5.0, 5.0
LABEL, SMALL = 12.5, 11.0
DOT, LANE = 5.4, 5.0
LANES = (0, 1, -1, 2, -2)
POINT = {"markersize": 7.5, "markerfacecolor": ACCENT, "markeredgecolor": ACCENT}
OPEN_POINT = {"markersize": 7.5, "markerfacecolor": PAPER, "markeredgecolor": INK, "markeredgewidth": 1.4}
CROSS = {"markersize": 9.0, "marker": "x", "markeredgecolor": INK, "markeredgewidth": 1.8}
RUN = {"markersize": DOT, "markerfacecolor": INK, "markeredgecolor": PAPER, "markeredgewidth": 0.6}
OPEN_RUN = {"markersize": DOT, "markerfacecolor": PAPER, "markeredgecolor": INK, "markeredgewidth": 1.1}

Render = Callable[[float], str]


@dataclass(frozen=True)
class Gap:
    """One row of a forest plot: a cell against the reference, in the unit of the measure.

    An established gap that is not `quotable` is crossed.
    """

    label: str
    value: float
    low: float
    high: float
    established: bool
    quotable: bool = True

    @property
    def said(self) -> bool:
        """Whether it may be said."""
        return self.established and self.quotable


@dataclass(frozen=True)
class Sample:
    """One row of a strip plot: a cell's runs in order of repetition, and which of them were disturbed.

    `values` are numbers, or booleans for a rate. `note` is printed at the right end of the row.
    """

    label: str
    values: Sequence[float]
    disturbed: Sequence[bool]
    note: str


def forest(name: str, rows: Sequence[Gap], render: Render, ticks: Render) -> str:
    """One panel of gaps: point, interval, and the line of no difference.

    Parameters
    ----------
    name : str
        The measure, and what makes the panel's ids its own: no two panels of a page may share it.
    rows : sequence of Gap
        In the order to draw, from above.
    render, ticks : callable
        Value to text, for the label of a row and for the axis.

    Returns
    -------
    str
        One `<svg>` element. Established gaps are filled, or crossed where they must not be quoted, others hollow.
    """
    spread = [0.0, *(x for row in rows for x in (row.value, row.low, row.high))]
    established = sum(row.established for row in rows)
    description = f"Gaps in {name} with their intervals, {established} of {len(rows)} established"
    with _panel(f"gap-{name}", description, len(rows)) as (axes, out):
        _scale(axes, spread, len(rows), ticks)
        _uprights(axes, 0, len(rows), color=INK, linewidth=1.1)
        for y, row in enumerate(rows):
            _caption(axes, y, row.label, render(row.value), row.said)
        for point, colour, width in ((POINT, ACCENT, 2.0), (CROSS, INK, 1.2), (OPEN_POINT, INK, 1.2)):
            kept = [(y, row) for y, row in enumerate(rows) if _point(row) is point]
            ys = [y for y, _ in kept]
            axes.hlines(ys, [row.low for _, row in kept], [row.high for _, row in kept], colour, linewidth=width)
            _markers(axes, [row.value for _, row in kept], ys, point)
    return out[0]


def _point(row: Gap) -> Mapping[str, Any]:
    return POINT if row.said else CROSS if row.established else OPEN_POINT


def strip(name: str, rows: Sequence[Sample], level: Callable[[Sequence[float]], float], ticks: Render) -> str:
    """One panel of runs: a dot each at its value, and a tick at the level of the cell.

    Parameters
    ----------
    name : str
        The measure, and what makes the panel's ids its own.
    rows : sequence of Sample
        In the order to draw, from above. An empty sample keeps its row.
    level : callable
        The statistic of the measure, for the tick.
    ticks : callable
        Value to text, for the axis.

    Returns
    -------
    str
        One `<svg>` element. Disturbed runs are hollow.
    """
    with _panel(f"runs-{name}", f"Every run of {len(rows)} cells by {name}", len(rows)) as (axes, out):
        _scale(axes, [value for row in rows for value in row.values], len(rows), ticks)
        marks = [(y, level(row.values)) for y, row in enumerate(rows) if row.values]
        below, above = [y - 0.24 for y, _ in marks], [y + 0.24 for y, _ in marks]
        axes.vlines([x for _, x in marks], below, above, ACCENT, linewidth=2.2)
        left, right = axes.get_xlim()
        scale = (right - left) / (WIDTH - LEFT - RIGHT)
        dots = []
        for y, row in enumerate(rows):
            _caption(axes, y, row.label, row.note, False)
            places = _places([(value - left) / scale for value in row.values])
            dots += [
                (left + across * scale, y + LANE / ROW * lane, not again)
                for (across, lane), again in zip(places, row.disturbed, strict=True)
            ]
        _dots(axes, dots)
    return out[0]


def tally(name: str, rows: Sequence[Sample]) -> str:
    """One panel of yes and no: a dot a run in order of repetition, filled where the metric was true.

    Parameters and result are those of `strip`.
    """
    longest = max((len(row.values) for row in rows), default=1)
    with _panel(f"tally-{name}", f"Every run of {len(rows)} cells by {name}", len(rows), foot=4) as (axes, out):
        axes.set_xlim(0.3, max(longest, 20) + 0.7)
        axes.spines["bottom"].set_visible(False)
        axes.set_xticks([])
        for y, row in enumerate(rows):
            _caption(axes, y, row.label, row.note, False)
        values = ((x, y, bool(value)) for y, row in enumerate(rows) for x, value in enumerate(row.values, 1))
        _dots(axes, list(values))
    return out[0]


def exact(value: float) -> str:
    """A value on an axis, where rounding would misplace it: `2.5`, `11 500`."""
    return f"{value:,.12g}".replace(",", " ")


def exact_signed(value: float) -> str:
    """A difference on an axis: `+2.5`, `-11 500`, `0`."""
    return f"+{exact(value)}" if value > 0 else exact(value)


@contextmanager
def _panel(key: str, description: str, rows: int, foot: float = FOOT) -> Iterator[tuple["Axes", list[str]]]:
    """A canvas with a row each of so many labelled things, from above."""
    with canvas(key, description, ROW * rows, (LEFT, RIGHT), foot) as (axes, out):
        axes.set_ylim(rows - 0.62, -0.62)
        axes.set_yticks([])
        yield axes, out


@contextmanager
def canvas(
    key: str, description: str, height: float, sides: tuple[float, float], foot: float
) -> Iterator[tuple["Axes", list[str]]]:
    """Axes of this height to draw on, and the list the finished SVG is put in on the way out."""
    import matplotlib.style
    from matplotlib.figure import Figure

    whole = HEAD + height + foot
    settings: dict[str, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "trysquare",
        "font.family": "sans-serif",
        "path.simplify": False,
    }
    out: list[str] = []
    with matplotlib.style.context(["default", settings]):
        figure = Figure(figsize=(WIDTH / 72, whole / 72), dpi=72, facecolor="none")
        place = (sides[0] / WIDTH, foot / whole, (WIDTH - sum(sides)) / WIDTH, height / whole)
        axes = figure.add_axes(place, facecolor="none")
        for side in ("left", "right", "top"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color(HAIRLINE)
        axes.tick_params(axis="x", color=HAIRLINE, labelcolor=MUTED, labelsize=SMALL, length=3, pad=4)
        yield axes, out
        out.append(element(figure, key, description))


def _scale(axes: "Axes", values: Sequence[float], rows: int, ticks: Render) -> None:
    """A horizontal axis that holds the values with some air, with few ticks, and a light upright at each."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    low, high = min(values, default=0.0), max(values, default=1.0)
    air = (high - low) * 0.08 or abs(high) * 0.5 or 0.5
    axes.set_xlim(low - air, high + air)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: ticks(value)))
    for tick in axes.get_xticks():
        if low - air <= tick <= high + air:
            _uprights(axes, tick, rows, color=HAIRLINE, linewidth=0.8)


def _uprights(axes: "Axes", x: float, rows: int, color: str, linewidth: float) -> None:
    """A vertical line through every row that leaves its label free."""
    axes.vlines(
        [x] * rows, [y - 0.25 for y in range(rows)], [y + 0.38 for y in range(rows)], color, linewidth=linewidth
    )


def _caption(axes: "Axes", y: float, label: str, note: str, strong: bool) -> None:
    """What a row is, above it on the left, and its figure on the right."""
    place = axes.get_yaxis_transform()
    room = 46 - len(note)
    text = _short(printable(label), room)
    common: dict[str, Any] = {"transform": place, "fontsize": LABEL, "va": "baseline", "parse_math": False}
    axes.text(0, y - 0.34, text, color=INK, ha="left", **common)
    colour, weight = (ACCENT, "bold") if strong else (MUTED, "normal")
    axes.text(1, y - 0.34, note, color=colour, ha="right", fontweight=weight, **common)


def _short(text: str, room: int) -> str:
    """A text that fits its room: of a longer one both ends, since names of cells often differ in either alone."""
    if len(text) <= room:
        return text
    end = (room - 1) // 2
    return f"{text[: room - 1 - end]}…{text[len(text) - end :]}"


def _dots(axes: "Axes", dots: Sequence[tuple[float, float, bool]]) -> None:
    """Dots at x and y, filled or hollow."""
    for full in (True, False):
        kept = [(x, y) for x, y, filled in dots if filled is full]
        _markers(axes, [x for x, _ in kept], [y for _, y in kept], RUN if full else OPEN_RUN)


def _markers(axes: "Axes", xs: Sequence[float], ys: Sequence[float], look: Mapping[str, Any]) -> None:
    if xs:
        axes.plot(xs, ys, linestyle="none", zorder=3, **{"marker": "o", **look})


def _places(positions: Sequence[float]) -> list[tuple[float, int]]:
    """For each dot where it goes, across and in which lane, so that none hides another.

    A dot stays at its value as long as a lane is free there; a crowd becomes a block of columns around its middle.
    """
    places = [(position, 0) for position in positions]
    last = dict.fromkeys(LANES, float("-inf"))
    for crowd in _crowds(positions):
        if len(crowd) <= len(LANES):
            for i in crowd:
                lane = next(
                    (lane for lane in LANES if positions[i] - last[lane] >= DOT), min(LANES, key=last.__getitem__)
                )
                places[i], last[lane] = (positions[i], lane), positions[i]
            continue
        middle = sum(positions[i] for i in crowd) / len(crowd)
        columns = -(-len(crowd) // len(LANES))
        for rank, i in enumerate(crowd):
            column, lane = divmod(rank, len(LANES))
            across = middle + (column - (columns - 1) / 2) * DOT
            places[i], last[LANES[lane]] = (across, LANES[lane]), across
    return places


def _crowds(positions: Sequence[float]) -> list[list[int]]:
    """The dots that begin within one dot's width of the first of them, from the left."""
    crowds: list[list[int]] = []
    for i in sorted(range(len(positions)), key=lambda i: (positions[i], i)):
        if crowds and positions[i] - positions[crowds[-1][0]] < DOT:
            crowds[-1].append(i)
        else:
            crowds.append([i])
    return crowds

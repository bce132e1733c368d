"""The two pictures of a synthesis as SVG: every gap with its interval, and every run by its value.

A picture is one panel, so that a page can lay panels out side by side or below each other. Its text stays text and its
colours are the page's: `currentColor` and the custom properties `--muted --hairline --accent --paper`, each with a
fallback, so that a panel also stands alone. What colour says, shape says too.
"""

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 360.0
"""Width of a panel in SVG units, about one CSS pixel each."""

ROW, HEAD, FOOT = 38.0, 6.0, 26.0
LEFT, RIGHT = 6.0, 10.0
INK, MUTED, HAIRLINE, ACCENT, PAPER = "#010101", "#020202", "#030303", "#040404", "#050505"
COLOURS = {
    INK: "currentColor",
    MUTED: "var(--muted, #5c5a55)",
    HAIRLINE: "var(--hairline, #cfcbc2)",
    ACCENT: "var(--accent, #0a5f73)",
    PAPER: "var(--paper, #ffffff)",
}
SVG = "http://www.w3.org/2000/svg"
STYLE = "font-family: inherit; stroke-linejoin: round; stroke-linecap: butt"
ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
LABEL, SMALL = 11.5, 10.0
DOT = 6.4
LANES = (0, 1, -1, 2, -2)

Render = Callable[[float], str]


@dataclass(frozen=True)
class Gap:
    """One row of a forest plot: a cell against the reference, in the unit of the measure."""

    label: str
    value: float
    low: float
    high: float
    established: bool


@dataclass(frozen=True)
class Sample:
    """One row of a strip plot: a cell's runs in order of repetition, and which of them were retried.

    `values` are numbers, or booleans for a rate. `note` is printed at the right end of the row.
    """

    label: str
    values: Sequence[float]
    retried: Sequence[bool]
    note: str


def forest(name: str, rows: Sequence[Gap], render: Render) -> str:
    """One panel of gaps: point, interval, and the line of no difference.

    Parameters
    ----------
    name : str
        The measure, and what makes the panel's ids its own: no two panels of a page may share it.
    rows : sequence of Gap
        In the order to draw, from above.
    render : callable
        Value to text, for the axis and the label of a row.

    Returns
    -------
    str
        One `<svg>` element. Established gaps are filled, inconclusive ones hollow.
    """
    spread = [0.0, *(x for row in rows for x in (row.value, row.low, row.high))]
    established = sum(row.established for row in rows)
    description = f"Gaps in {name} with their intervals, {established} of {len(rows)} established"
    with _panel(f"gap-{name}", description, len(rows)) as (axes, out):
        _scale(axes, spread, render)
        axes.axvline(0, color=INK, linewidth=1, zorder=1)
        for y, row in enumerate(rows):
            colour = ACCENT if row.established else INK
            axes.plot([row.low, row.high], [y, y], color=colour, linewidth=2 if row.established else 1.2, zorder=2)
            axes.plot(
                [row.value],
                [y],
                marker="o",
                markersize=7.5,
                markerfacecolor=ACCENT if row.established else PAPER,
                markeredgecolor=colour,
                markeredgewidth=1.4,
                zorder=3,
            )
            _caption(axes, y, row.label, render(row.value), row.established)
    return out[0]


def strip(name: str, rows: Sequence[Sample], level: Callable[[Sequence[float]], float], render: Render) -> str:
    """One panel of runs: a dot each at its value, and a tick at the level of the cell.

    Parameters
    ----------
    name : str
        The measure, and what makes the panel's ids its own.
    rows : sequence of Sample
        In the order to draw, from above. An empty sample keeps its row.
    level : callable
        The statistic of the measure, for the tick.
    render : callable
        Value to text, for the axis.

    Returns
    -------
    str
        One `<svg>` element. Retried runs are hollow.
    """
    with _panel(f"runs-{name}", f"Every run of {len(rows)} cells by {name}", len(rows)) as (axes, out):
        _scale(axes, [value for row in rows for value in row.values], render)
        left, right = axes.get_xlim()
        for y, row in enumerate(rows):
            _caption(axes, y, row.label, row.note, False)
            if row.values:
                tick = level(row.values)
                axes.plot([tick, tick], [y - 0.19, y + 0.19], color=ACCENT, linewidth=2.2, zorder=1)
            lanes = _lanes([(value - left) / (right - left) * WIDTH for value in row.values])
            _dots(axes, row.values, [y + 0.085 * lane for lane in lanes], [not again for again in row.retried])
    return out[0]


def tally(name: str, rows: Sequence[Sample]) -> str:
    """One panel of yes and no: a dot a run in order of repetition, filled where the metric was true.

    Parameters and result are those of `strip`.
    """
    longest = max((len(row.values) for row in rows), default=1)
    with _panel(f"runs-{name}", f"Every run of {len(rows)} cells by {name}", len(rows), foot=4) as (axes, out):
        axes.set_xlim(0.3, max(longest, 20) + 0.7)
        axes.spines["bottom"].set_visible(False)
        axes.set_xticks([])
        for y, row in enumerate(rows):
            _caption(axes, y, row.label, row.note, False)
            _dots(axes, range(1, len(row.values) + 1), [y] * len(row.values), [bool(value) for value in row.values])
    return out[0]


@contextmanager
def _panel(key: str, description: str, rows: int, foot: float = FOOT) -> Iterator[tuple["Axes", list[str]]]:
    """Axes to draw on, and the list the finished SVG is put in on the way out."""
    import matplotlib.style
    from matplotlib.figure import Figure

    height = HEAD + ROW * rows + foot
    settings: dict[str, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "trysquare",
        "font.family": "sans-serif",
        "path.simplify": False,
    }
    out: list[str] = []
    with matplotlib.style.context(["default", settings]):
        figure = Figure(figsize=(WIDTH / 72, height / 72), dpi=72, facecolor="none")
        axes = figure.add_axes(
            (LEFT / WIDTH, foot / height, (WIDTH - LEFT - RIGHT) / WIDTH, ROW * rows / height), facecolor="none"
        )
        axes.set_ylim(rows - 0.62, -0.62)
        axes.set_yticks([])
        for side in ("left", "right", "top"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color(HAIRLINE)
        axes.tick_params(axis="x", color=HAIRLINE, labelcolor=MUTED, labelsize=SMALL, length=3, pad=4)
        yield axes, out
        out.append(_element(figure, key, description, height))


def _scale(axes: "Axes", values: Sequence[float], render: Render) -> None:
    """A horizontal axis that holds the values with some air, with few ticks."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    low, high = min(values, default=0.0), max(values, default=1.0)
    air = (high - low) * 0.08 or abs(high) * 0.5 or 0.5
    axes.set_xlim(low - air, high + air)
    axes.xaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: render(value)))
    for tick in axes.get_xticks():
        if low - air <= tick <= high + air:
            axes.axvline(tick, color=HAIRLINE, linewidth=0.6, zorder=0)


def _caption(axes: "Axes", y: float, label: str, note: str, strong: bool) -> None:
    """What a row is, above it on the left, and its figure on the right."""
    place = axes.get_yaxis_transform()
    room = 52 - len(note)
    text = _printable(label)
    text = text if len(text) <= room else text[: room - 1] + "…"
    common: dict[str, Any] = {"transform": place, "fontsize": LABEL, "va": "baseline", "parse_math": False}
    axes.text(0, y - 0.3, text, color=INK, ha="left", **common)
    colour, weight = (ACCENT, "bold") if strong else (MUTED, "normal")
    axes.text(1, y - 0.3, note, color=colour, ha="right", fontweight=weight, **common)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _dots(axes: "Axes", xs: Sequence[float], ys: Sequence[float], filled: Sequence[bool]) -> None:
    for full in (True, False):
        kept = [i for i, flag in enumerate(filled) if flag is full]
        if kept:
            axes.plot(
                [float(xs[i]) for i in kept],
                [ys[i] for i in kept],
                linestyle="none",
                marker="o",
                markersize=DOT,
                markerfacecolor=INK if full else PAPER,
                markeredgecolor=PAPER if full else INK,
                markeredgewidth=0.6 if full else 1.1,
                zorder=2,
            )


def _lanes(positions: Sequence[float]) -> list[int]:
    """For each dot the lane nearest the middle where it overlaps no other, as far as lanes go."""
    lanes = [0] * len(positions)
    last: dict[int, float] = {}
    for i in sorted(range(len(positions)), key=lambda i: (positions[i], i)):
        free = (lane for lane in LANES if positions[i] - last.get(lane, float("-inf")) >= DOT)
        lanes[i] = next(free, 0)
        last[lanes[i]] = positions[i]
    return lanes


def _element(figure: "Figure", key: str, description: str, height: float) -> str:
    """The figure as one SVG element that can stand beside others in a page."""
    buffer = io.StringIO()
    with warnings.catch_warnings():
        # The reader's fonts draw the text; a glyph missing from matplotlib's own font is no loss.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    drawn = ElementTree.fromstring(buffer.getvalue())
    # The first definitions are a style sheet, which in a page would apply to the whole of it.
    for child in [child for child in drawn if child.find(f"{{{SVG}}}style") is not None]:
        drawn.remove(child)
    for element in drawn.iter():
        _own(element, "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in key))
    root = ElementTree.Element(
        f"{{{SVG}}}svg",
        {"role": "img", "aria-label": _printable(description), "viewBox": f"0 0 {WIDTH:g} {height:g}", "style": STYLE},
    )
    root.extend(drawn)
    return ElementTree.tostring(root, encoding="unicode")


def _own(element: ElementTree.Element, prefix: str) -> None:
    """Give an element ids that nothing else in the page has, and the page's colours and font."""
    attributes = element.attrib
    if element.tag == f"{{{SVG}}}g":
        attributes.pop("id", None)
    if element.tag != f"{{{SVG}}}text":
        element.text = None
    element.tail = "\n"
    if attributes.get("transform", "").startswith("rotate(-0 "):
        del attributes["transform"]
    for name, value in attributes.items():
        if name == "id":
            attributes[name] = f"{prefix}-{value}"
        elif name == "style":
            attributes[name] = _style(value)
        elif name == "d":
            attributes[name] = " ".join(value.split())
        elif value.startswith("#"):
            attributes[name] = f"#{prefix}-{value[1:]}"
        else:
            attributes[name] = value.replace("url(#", f"url(#{prefix}-")


def _style(style: str) -> str:
    """A style with the page's colours and without matplotlib's font families, in either way it writes fonts."""
    style = re.sub(r"font: ((?:\S+ )*?)([\d.]+px) [^;]*", r"font-weight: \1; font-size: \2", style)
    style = re.sub(r"font-family: [^;]*;? ?|font-weight: ;  ?", "", style)
    for sentinel, colour in COLOURS.items():
        style = style.replace(sentinel, colour)
    return style

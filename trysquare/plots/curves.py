"""The chance of something by a number, as lines that differ in shape and are named above."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trysquare.plots.panels import LABEL, SMALL, canvas
from trysquare.plots.svg import ACCENT, HAIRLINE, INK, MUTED, PAPER, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT, FOOT, SIDES = 260.0, 40.0, (42.0, 10.0)
TICKS = (4, 6, 10, 20, 40, 60, 100, 200)
DASHES: tuple[Any, ...] = ("solid", (0, (5, 2)), (0, (1.4, 1.8)))


@dataclass(frozen=True)
class Line:
    """A chance between 0 and 1 at each of some numbers, in rising order."""

    label: str
    numbers: Sequence[int]
    chances: Sequence[float]


def chances(name: str, lines: Sequence[Line], target: float, here: int, axis: str) -> str:
    """A picture of chances, with the one that is aimed at, and with the number that is planned now.

    Parameters
    ----------
    name : str
        What makes the ids of the picture its own.
    lines : sequence of Line
        Up to three over the same numbers; the first is drawn solid.
    target, here : float, int
        The chance aimed at and the number at hand, each a thin line of its own.
    axis : str
        What the numbers count.

    Returns
    -------
    str
        One `<svg>` element.
    """
    description = f"The chance to establish each of {len(lines)} gaps, by {axis}"
    first, last = lines[0].numbers[0], lines[0].numbers[-1]
    with canvas(f"chances-{name}", description, HEIGHT, SIDES, FOOT) as (axes, out):
        axes.set(xscale="log", xlim=(first / 1.08, last * 1.06), ylim=(0, 1.24))
        _axis(axes, axis, last)
        axes.axhline(target, color=INK, linewidth=1.1)
        if first <= here <= last:
            axes.plot([here, here], [0, 1.04], color=MUTED, linewidth=1, linestyle=(0, (1, 2)))
            _text(axes, here, 1.055, f"now {here}", ha="center" if here > 1.2 * first else "left", color=MUTED)
        for line, dashes in zip(lines, DASHES, strict=False):
            axes.plot(
                line.numbers, line.chances, color=ACCENT, linewidth=2, linestyle=dashes, label=printable(line.label)
            )
            dots: dict[str, Any] = {"markersize": 4.2, "markerfacecolor": PAPER, "markeredgecolor": ACCENT}
            axes.plot(line.numbers, line.chances, linestyle="none", marker="o", zorder=3, **dots)
        _key(axes)
    return out[0]


def _axis(axes: "Axes", axis: str, last: int) -> None:
    """Whole numbers below and percentages at the left, with light lines across."""
    from matplotlib.ticker import NullLocator

    axes.xaxis.set_minor_locator(NullLocator())
    ticks = [tick for tick in TICKS if tick <= last]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_yticks([share / 100 for share in range(0, 101, 20)], [f"{share} %" for share in range(0, 101, 20)])
    axes.tick_params(axis="y", color=HAIRLINE, labelcolor=MUTED, labelsize=SMALL, length=0, pad=5)
    axes.grid(axis="y", color=HAIRLINE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlabel(axis, color=MUTED, fontsize=SMALL, labelpad=4)


def _key(axes: "Axes") -> None:
    """The name of every line beside a piece of it, in a row above the lines."""
    key = axes.legend(
        loc="upper left",
        bbox_to_anchor=(-0.01, 1.01),
        ncols=len(DASHES),
        frameon=False,
        labelcolor=INK,
        fontsize=LABEL,
        handlelength=2.2,
        handletextpad=0.5,
        columnspacing=1.2,
        borderpad=0,
    )
    for text in key.get_texts():
        text.set_parse_math(False)


def _text(axes: "Axes", x: float, y: float, text: str, **look: Any) -> None:
    axes.text(x, y, printable(text), **{"fontsize": SMALL, "parse_math": False, **look})

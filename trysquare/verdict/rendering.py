"""Numbers as text that never says less than the value: what is not zero never reads as zero."""

from collections.abc import Callable

DECIMALS = 3
"""Decimals of a metric that are shown."""


def signed(x: float) -> str:
    """A number with its sign: `+0.5`, `+11 502`, `-0.04`, and `+0` for zero alone.

    Below one in size there is one decimal, or as many as it takes for a digit other than zero to show; from one on
    the number is rounded to an integer, its thousands set apart by a space. A bound that is not zero thus keeps its
    side of zero.
    """
    return plain(x) if x < 0 else f"+{plain(x)}"


def plain(x: float) -> str:
    """A number without a plus sign, as unwilling to read as zero as `signed`."""
    if x == 0:
        return "0"
    if abs(x) >= 1:
        return f"{x:,.0f}".replace(",", " ")
    decimals = 1
    while float(text := f"{x:.{decimals}f}") == 0:
        decimals += 1
    return text


def fixed(decimals: int) -> Callable[[float], str]:
    """How to write the numbers of one column alike, with so many decimals; one that would read as zero gets more."""

    def write(x: float) -> str:
        text = f"{x:,.{decimals}f}".replace(",", " ")
        return plain(x) if x and float(text.replace(" ", "")) == 0 else text

    return write


def decimals_of(x: float) -> int:
    """The decimals that a number has, at most `DECIMALS`."""
    return next((decimals for decimals in range(DECIMALS) if round(x, decimals) == x), DECIMALS)


def points(x: float) -> str:
    """A gap between two rates in points: `-100 pts`."""
    return f"{signed(100 * x)} pts"


def p_text(p: float, name: str = "p") -> str:
    """A p-value, on its own side of 0.05: `p=0.012`, `p<0.001`, `p=0.0504`."""
    decimals = 3
    while p != 0.05 and float(f"{p:.{decimals}f}") == 0.05:
        decimals += 1
    return f"{name}<0.001" if p < 0.001 else f"{name}={p:.{decimals}f}"

"""How many repetitions a gap needs: writes docs/power.svg and prints the tables of docs/power.md."""

from pathlib import Path

from trysquare import plots, power

PICTURE = Path(__file__).parents[1] / "docs" / "power.svg"
RATES = (0.1, 0.3, 0.5)
POINTS = (20, 30, 40, 50, 60, 80)
SPREADS = (0.5, 0.75, 1, 1.5, 2, 3)
SIZES = (4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 33, 40, 50, 60, 75, 90, 110)
CARD = "background: #fff; color: #1d1c1a; font-family: sans-serif"


def table(head, lines):
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---:"] * len(head), *lines))


def needed(population, gap):
    if not power.reaches(population, gap):
        return "-"
    found = power.needed_repetitions(population, gap).repetitions
    return f"more than {power.LIMIT}" if found is None else str(found)


def rates():
    """The repetitions a gap in a rate needs, by the rate of the reference."""
    head = ["gap", *(f"reference true in {100 * rate:.0f} %" for rate in RATES)]
    lines = [[f"+{gap} pts", *(needed(power.stated_rate(rate), gap / 100) for rate in RATES)] for gap in POINTS]
    return table(head, lines)


def numbers():
    """The repetitions a gap in a number needs, in standard deviations of one run."""
    population = power.stated_median(0, 1)
    lines = [[f"{gap:g} times the spread", needed(population, gap * population.spread)] for gap in SPREADS]
    return table(["gap", "repetitions of each cell"], lines)


def picture():
    """The chance to establish three gaps from a rate of 30 %, on a card of its own so that any page may show it."""
    population = power.stated_rate(0.3)
    curves = [power.power_curve(population, gap, SIZES) for gap in (0.2, 0.4, 0.6)]
    lines = [plots.Line(f"+{100 * curve.gap:.0f} pts", curve.repetitions, curve.power) for curve in curves]
    drawn = plots.chances("docs", lines, 0.8, 10, "repetitions of each cell")
    return drawn.replace('style="font-family: inherit', f'width="560" style="{CARD}', 1) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    print(rates(), numbers(), sep="\n\n")

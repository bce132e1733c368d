"""What the customer gets on paper."""

from collections.abc import Iterable
from decimal import Decimal

from tally.prices import BULK, DISCOUNT, line_total

WIDTH = 32


def receipt(order: Iterable[tuple[str, Decimal, int]]) -> str:
    """The receipt of an order given as (article, unit price, pieces)."""
    lines, total = [], Decimal()
    for article, unit, pieces in order:
        price = line_total(unit, pieces)
        total += price
        lines.append(f"{pieces:>3} {article:<18}{price:>10}")
    lines.append(f"{'total':<22}{total:>10}")
    lines.append(f"{DISCOUNT:.0%} off from {BULK} pieces on".center(WIDTH).rstrip())
    return "\n".join(lines)

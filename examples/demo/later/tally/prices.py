"""What a line of an order costs."""

from decimal import Decimal

BULK = 10
DISCOUNT = Decimal("0.05")


def line_total(unit: Decimal, pieces: int) -> Decimal:
    """Price of a number of pieces of one article, the bulk discount taken off."""
    if pieces < 1:
        raise ValueError(f"an order of {pieces} pieces")
    total = unit * pieces
    if pieces >= BULK:
        total -= total * DISCOUNT
    return total.quantize(Decimal("0.01"))

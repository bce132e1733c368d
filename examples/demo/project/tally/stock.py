"""What has to be ordered again."""


def to_order(level: int, minimum: int, lot: int) -> int:
    """Pieces to order, in whole lots, so that the stock is above its minimum again."""
    if level >= minimum:
        return 0
    lots = (minimum - level) // lot + 1
    return lots * lot

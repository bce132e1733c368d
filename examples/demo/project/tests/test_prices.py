"""Prices, the bulk discount included."""

import unittest
from decimal import Decimal

from tally.prices import line_total


class LineTotal(unittest.TestCase):
    """What a line of an order costs."""

    def test_a_small_order_pays_the_full_price(self) -> None:
        """Nine pieces are not a bulk order."""
        self.assertEqual(line_total(Decimal("2.00"), 9), Decimal("18.00"))

    def test_a_large_order_gets_the_discount(self) -> None:
        """Twenty pieces are."""
        self.assertEqual(line_total(Decimal("2.00"), 20), Decimal("38.00"))

    def test_the_discount_starts_at_ten_pieces(self) -> None:
        """The tenth piece makes the line a bulk order."""
        self.assertEqual(line_total(Decimal("2.00"), 10), Decimal("19.00"))

    def test_an_order_of_nothing_is_refused(self) -> None:
        """A line has at least one piece."""
        with self.assertRaises(ValueError):
            line_total(Decimal("2.00"), 0)

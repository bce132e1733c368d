"""Orders of new stock."""

import unittest

from tally.stock import to_order


class ToOrder(unittest.TestCase):
    """What has to be ordered again."""

    def test_a_full_shelf_orders_nothing(self) -> None:
        """Stock well above the minimum is left alone."""
        self.assertEqual(to_order(level=40, minimum=12, lot=10), 0)

    def test_an_empty_shelf_is_filled_above_its_minimum(self) -> None:
        """Lots are whole."""
        self.assertEqual(to_order(level=0, minimum=12, lot=10), 20)

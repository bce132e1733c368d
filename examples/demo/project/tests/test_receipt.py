"""The printed receipt."""

import unittest
from decimal import Decimal

from tally.receipt import receipt


class Receipt(unittest.TestCase):
    """What the customer gets on paper."""

    def test_lines_and_total_add_up(self) -> None:
        """One line per article, then their sum."""
        text = receipt([("hinge", Decimal("1.20"), 2), ("screw box", Decimal("4.00"), 20)])
        self.assertIn("78.40", text)
        self.assertEqual(len(text.splitlines()), 4)

    def test_the_footer_states_the_bulk_discount(self) -> None:
        """It names the number of pieces the discount starts at."""
        self.assertIn("5% off from 10 pieces on", receipt([("hinge", Decimal("1.20"), 1)]))

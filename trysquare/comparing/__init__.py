"""Two matrices side by side: what differs in their declarations, and the rates of their cells. There is no verdict.

Pure but for `side_of`: `compare` takes two sides, `text`, `data` and `page` give the result a form.
"""

from trysquare.comparing.forms import data, page, text
from trysquare.comparing.model import Comparison, CostRow, Difference, Side
from trysquare.comparing.pairing import ComparisonError, compare
from trysquare.comparing.sides import side_of

__all__ = [
    "Comparison",
    "ComparisonError",
    "CostRow",
    "Difference",
    "Side",
    "compare",
    "data",
    "page",
    "side_of",
    "text",
]

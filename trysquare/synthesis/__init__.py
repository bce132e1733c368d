"""The synthesis of a matrix: what may be said of it and what may not, with every number it rests on.

Pure but for `gather`: `build` takes stored measures, `markdown` and `page` give the result a form. The same measures
give the same bytes.
"""

from trysquare.synthesis.building import build, unlinked
from trysquare.synthesis.evidence import gather
from trysquare.synthesis.forms import markdown, page, page_pieces
from trysquare.synthesis.model import Cell, Claim, Evidence, Link, Panel, RunRow, Synthesis

__all__ = [
    "Cell",
    "Claim",
    "Evidence",
    "Link",
    "Panel",
    "RunRow",
    "Synthesis",
    "build",
    "gather",
    "markdown",
    "page",
    "page_pieces",
    "unlinked",
]

"""Pictures as SVG: of a synthesis every gap with its interval and every run by its value, of a plan its chances.

A picture is one panel, so that a page can lay panels out side by side or below each other. Its text stays text and its
colours are the page's: `currentColor` and the custom properties `--muted --hairline --accent --paper`, each with a
fallback, so that a panel also stands alone. What colour says, shape says too.
"""

from trysquare.plots.curves import Line, chances
from trysquare.plots.panels import Gap, Sample, exact, exact_signed, forest, strip, tally

__all__ = ["Gap", "Line", "Sample", "chances", "exact", "exact_signed", "forest", "strip", "tally"]

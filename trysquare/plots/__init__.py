"""The two pictures of a synthesis as SVG: every gap with its interval, and every run by its value.

A picture is one panel, so that a page can lay panels out side by side or below each other. Its text stays text and its
colours are the page's: `currentColor` and the custom properties `--muted --hairline --accent --paper`, each with a
fallback, so that a panel also stands alone. What colour says, shape says too.
"""

from trysquare.plots.panels import Gap, Sample, exact, exact_signed, forest, strip, tally

__all__ = ["Gap", "Sample", "exact", "exact_signed", "forest", "strip", "tally"]

"""Assertions over a metrics file that a run wrote: finding it, reading it, and what holds of it.

Pure: files are read, nothing is started or written.
"""

from trysquare.custom_metrics.conditions import label_all
from trysquare.custom_metrics.grading import Grade, Outcome, broken, grade, verdict
from trysquare.custom_metrics.reading import DEFAULT_PATH, Broken, Root, find, inside, normal, values

__all__ = [
    "DEFAULT_PATH",
    "Broken",
    "Grade",
    "Outcome",
    "Root",
    "broken",
    "find",
    "grade",
    "inside",
    "label_all",
    "normal",
    "values",
    "verdict",
]

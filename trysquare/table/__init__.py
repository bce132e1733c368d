"""Measures as tables: what each cell did, what it cost, and which differences survive resampling.

Pure: runs in, rows and markdown out, so that a rendering is repeated without measuring again.
"""

from trysquare.table.gaps import (
    CAUTION,
    NOTHING,
    GapRow,
    entry,
    established,
    finding,
    gap_rows,
    gap_table,
    mark,
)
from trysquare.table.levels import Level, SpendRow, aligned, level_entry, spend_rows, spend_table
from trysquare.table.measures import (
    Measure,
    cost_measures,
    criterion_measure,
    criterion_values,
    group,
    number_measures,
    sample,
    spend_measures,
)
from trysquare.table.scores import (
    CompareRow,
    ScoreRow,
    compare_rows,
    compare_table,
    rate_entry,
    retry_warning,
    score_rows,
    score_table,
    scored_metrics,
)
from trysquare.table.tidy import flat, frame

__all__ = [
    "CAUTION",
    "NOTHING",
    "CompareRow",
    "GapRow",
    "Level",
    "Measure",
    "ScoreRow",
    "SpendRow",
    "aligned",
    "compare_rows",
    "compare_table",
    "cost_measures",
    "criterion_measure",
    "criterion_values",
    "entry",
    "established",
    "finding",
    "flat",
    "frame",
    "gap_rows",
    "gap_table",
    "group",
    "level_entry",
    "mark",
    "number_measures",
    "rate_entry",
    "retry_warning",
    "sample",
    "score_rows",
    "score_table",
    "scored_metrics",
    "spend_measures",
    "spend_rows",
    "spend_table",
]

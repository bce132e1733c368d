"""What counts as a measurement, and how metrics are combined."""

from trysquare.measure.aggregate import (
    Declared,
    Kind,
    Merged,
    Results,
    Run,
    Tally,
    fill_manual,
    kind,
    merge,
    metric_kind,
    rate,
    tally,
    valid_runs,
)

__all__ = [
    "Declared",
    "Kind",
    "Merged",
    "Results",
    "Run",
    "Tally",
    "fill_manual",
    "kind",
    "merge",
    "metric_kind",
    "rate",
    "tally",
    "valid_runs",
]

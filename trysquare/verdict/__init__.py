"""Which gaps may be published: resampled intervals, two states, an exact companion, and numbers as text.

Pure: samples in, verdicts out. The same samples, draws and seed give the same verdict to the last bit.
"""

from statistics import median

from trysquare.verdict.exact import boschloo, companions
from trysquare.verdict.judging import (
    ALPHA,
    MINIMUM,
    State,
    Verdict,
    VerdictError,
    enough,
    excludes_zero,
    gap_draws,
    gap_interval,
    holm,
    interval,
    judge,
    judge_all,
)
from trysquare.verdict.rendering import decimals_of, fixed, p_text, plain, points, signed
from trysquare.verdict.resampling import DRAWS, SEED, Statistic, bounds, distributions, mean, sample

__all__ = [
    "ALPHA",
    "DRAWS",
    "MINIMUM",
    "SEED",
    "State",
    "Statistic",
    "Verdict",
    "VerdictError",
    "boschloo",
    "bounds",
    "companions",
    "decimals_of",
    "distributions",
    "enough",
    "excludes_zero",
    "fixed",
    "gap_draws",
    "gap_interval",
    "holm",
    "interval",
    "judge",
    "judge_all",
    "mean",
    "median",
    "p_text",
    "plain",
    "points",
    "sample",
    "signed",
]

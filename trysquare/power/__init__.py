"""How many repetitions establish a gap, from the runs of a matrix or from stated values.

Pure and seeded: runs in, chances and sentences out. The same runs and seed give the same plan.
"""

from trysquare.power.advice import Advice, Basis, Question, advise, header_line, measured, sentences, stated
from trysquare.power.page import curves, page, picture
from trysquare.power.simulation import (
    DRAWS,
    LIMIT,
    SIMULATIONS,
    Curve,
    Plan,
    Population,
    archived,
    needed_repetitions,
    power,
    power_curve,
    reaches,
    smallest_gap,
    stated_median,
    stated_rate,
)

__all__ = [
    "DRAWS",
    "LIMIT",
    "SIMULATIONS",
    "Advice",
    "Basis",
    "Curve",
    "Plan",
    "Population",
    "Question",
    "advise",
    "archived",
    "curves",
    "header_line",
    "measured",
    "needed_repetitions",
    "page",
    "picture",
    "power",
    "power_curve",
    "reaches",
    "sentences",
    "smallest_gap",
    "stated",
    "stated_median",
    "stated_rate",
]

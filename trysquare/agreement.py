"""How far two metrics agree that score the same runs: a judge and a person, or two people. Pure."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from trysquare.errors import TrysquareError
from trysquare.measure import Run, counted

CRITICAL = 1.959963984540054
"""The normal quantile of a two-sided interval of 95 %."""

MOST_CATEGORIES = 12
"""Different answers beyond which a table of them says nothing."""


class AgreementError(TrysquareError):
    """Two metrics whose agreement cannot be said."""


@dataclass(frozen=True)
class Agreement:
    """How far two metrics agree over the runs that have both.

    Attributes
    ----------
    categories
        Every answer given, in the order of the rows and columns of `table`.
    table
        How many runs have the answer of the row in the first metric and that of the column in the second.
    left_out
        Valid runs that lack one of the two.
    kappa
        Cohen's kappa; None where chance alone would agree always, which leaves it undefined.
    interval
        Its 95 % interval, None where it has none: without kappa, and where every run agrees.
    """

    names: tuple[str, str]
    categories: tuple[Any, ...]
    table: tuple[tuple[int, ...], ...]
    left_out: int
    kappa: float | None
    interval: tuple[float, float] | None

    @property
    def judged(self) -> int:
        """How many runs have both."""
        return sum(map(sum, self.table))

    @property
    def agreed(self) -> int:
        """In how many of them both are the same."""
        return sum(row[i] for i, row in enumerate(self.table))


def agreement(runs: Iterable[Run], first: str, second: str) -> Agreement:
    """The agreement of two metrics over the valid runs that have both.

    Raises
    ------
    AgreementError
        When no run has both, or they are no categories.
    """
    valid = [run for run in runs if run.state == "valid"]
    pairs = [
        (run.metrics[first], run.metrics[second]) for run in valid if first in run.metrics and second in run.metrics
    ]
    for name in (first, second):
        if not any(name in run.metrics for run in valid):
            known = ", ".join(dict.fromkeys(metric for run in valid for metric in run.metrics)) or "none"
            raise AgreementError(f"no valid run has a value of {name}; the metrics are {known}.")
    if not pairs:
        raise AgreementError(f"no valid run has values of both {first} and {second}: there is nothing to compare yet.")
    categories = _categories(pairs, (first, second))
    counts = Counter((_key(one), _key(other)) for one, other in pairs)
    table = tuple(tuple(counts[_key(row), _key(column)] for column in categories) for row in categories)
    kappa, error = cohen(table)
    return Agreement((first, second), categories, table, len(valid) - len(pairs), kappa, _interval(kappa, error))


def _key(value: Any) -> tuple[bool, Any]:
    """What makes two answers the same: true is not 1."""
    return isinstance(value, bool), value


def _categories(pairs: Sequence[tuple[Any, Any]], names: tuple[str, str]) -> tuple[Any, ...]:
    values = [value for pair in pairs for value in pair]
    if odd := next((value for value in values if not isinstance(value, bool | int | float | str)), None):
        raise AgreementError(f"{' and '.join(names)} hold {odd!r}, which is no category: compare yes and no, or names.")
    kinds = {"text" if isinstance(v, str) else "truth" if isinstance(v, bool) else "number" for v in values}
    if len(kinds) > 1:
        raise AgreementError(f"{' and '.join(names)} have answers of different types: have both answered alike.")
    found = sorted(set(values), reverse=kinds == {"truth"})
    if len(found) > MOST_CATEGORIES:
        raise AgreementError(
            f"{' and '.join(names)} have {len(found)} different answers: kappa is about categories, not measurements."
        )
    return tuple(found)


def cohen(table: Sequence[Sequence[int]]) -> tuple[float | None, float]:
    """Cohen's kappa of a square table of counts, and its standard error in large samples.

    Returns
    -------
    kappa, error
        None and 0 where the margins alone make both agree always.

    References
    ----------
    Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological Measurement 20, 37.
    Fleiss, J. L., Cohen, J. and Everitt, B. S. (1969). Large sample standard errors of kappa and weighted kappa.
    Psychological Bulletin 72, 323.
    """
    size, total = range(len(table)), sum(map(sum, table))
    share = [[count / total for count in row] for row in table]
    rows = [sum(share[i]) for i in size]
    columns = [sum(share[i][j] for i in size) for j in size]
    observed = sum(share[i][i] for i in size)
    expected = sum(rows[i] * columns[i] for i in size)
    if math.isclose(expected, 1.0):
        return None, 0.0
    kappa = (observed - expected) / (1 - expected)
    on = sum(share[i][i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in size)
    off = sum(share[i][j] * (columns[i] + rows[j]) ** 2 for i in size for j in size if i != j)
    rest = (kappa - expected * (1 - kappa)) ** 2
    variance = (on + (1 - kappa) ** 2 * off - rest) / (total * (1 - expected) ** 2)
    return kappa, math.sqrt(max(0.0, variance))


def _interval(kappa: float | None, error: float) -> tuple[float, float] | None:
    if kappa is None or error == 0:
        return None
    return max(-1.0, kappa - CRITICAL * error), min(1.0, kappa + CRITICAL * error)


def describe(found: Agreement) -> list[str]:
    """The agreement in words, then the table of answers."""
    first, second = found.names
    lines = [
        f"{counted(found.judged, 'run')} with both {first} and {second}, {found.left_out} left out",
        f"raw agreement: {found.agreed} of {found.judged} ({found.agreed / found.judged:.0%})",
        _kappa(found),
        f"answers, {first} in rows and {second} in columns:",
    ]
    names = [_name(category) for category in found.categories]
    cells = [["", *names], *([name, *map(str, row)] for name, row in zip(names, found.table, strict=True))]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    return [
        *lines,
        *("  " + "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in cells),
    ]


def _kappa(found: Agreement) -> str:
    if found.kappa is None:
        return "Cohen's kappa: undefined, as both always give one and the same answer"
    if found.interval is None:
        return (
            f"Cohen's kappa: {found.kappa:.2f}, without an interval, as every run agrees: more runs could still differ"
        )
    low, high = found.interval
    return f"Cohen's kappa: {found.kappa:.2f}, 95 % interval {low:.2f} to {high:.2f}"


def _name(category: Any) -> str:
    if isinstance(category, bool):
        return "yes" if category else "no"
    return str(category)

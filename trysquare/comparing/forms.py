"""A comparison as text, as data and as a page."""

import json
from typing import Any

from trysquare.comparing.model import Comparison
from trysquare.synthesis.forms import environment
from trysquare.synthesis.tables import Entry, Table
from trysquare.table import compare_table, rate_entry
from trysquare.table.markdown import table

MEDIANS = "Medians over valid runs, left -> right."
REHEARSED = "REHEARSED: a script played the model on both sides. Nothing here is a measurement."
NO_DURATIONS = (
    "Durations are left out: the two matrices did not meet the same load of the provider, and would be compared by it."
)


def text(c: Comparison) -> str:
    """The comparison as markdown."""
    parts = [*([REHEARSED] if c.rehearsed else []), compare_table(c.rows, c.tests, c.left, c.right).rstrip()]
    if c.others:
        parts.append(_others(c))
    lines = [(each.what, each.left, each.right) for each in c.differences]
    parts += ["## Declared differences", table(("", "left", "right"), lines).rstrip() if lines else "none"]
    parts.append("## Costs")
    if c.set_aside:
        parts.append(c.set_aside)
    else:
        costs = _costs(c)
        rows = [(cell, *(entry.text for entry in entries)) for cell, entries in costs.lines]
        parts += [MEDIANS, table(("cell", *costs.columns), rows).rstrip(), NO_DURATIONS]
    parts += ["## To be read with it", "\n".join(f"- {note}" for note in c.notes)]
    return "\n\n".join(parts) + "\n"


def data(c: Comparison) -> str:
    """The comparison as JSON."""
    said = {
        "left": c.left,
        "right": c.right,
        **({"rehearsed": True} if c.rehearsed else {}),
        "differences": [vars(each) for each in c.differences],
        "tests": list(c.tests),
        "others": dict(c.others),
        "rows": [{"cell": row.cell, "rates": {test: list(row.rates[test]) for test in c.tests}} for row in c.rows],
        "costs": {"set_aside": c.set_aside} if c.set_aside else [vars(row) for row in c.costs],
        "notes": list(c.notes),
    }
    return json.dumps(said, ensure_ascii=False, indent=2) + "\n"


def page(c: Comparison) -> str:
    """The comparison as one HTML page, in the manner of a synthesis."""
    parts: dict[str, Any] = {
        "s": c,
        "rates": _rates(c),
        "costs": None if c.set_aside else _costs(c),
        "medians": MEDIANS,
        "no_durations": NO_DURATIONS,
    }
    return environment(html=True).get_template("compare.html.j2").render(parts)


def _others(c: Comparison) -> str:
    named = ", ".join(f"{name} ({what})" for name, what in c.others.items())
    return f"Declared, and not yes or no in every run: {named}."


def _rates(c: Comparison) -> Table:
    lines = tuple(
        (row.cell, tuple(Entry(" -> ".join(map(rate_entry, row.rates[test]))) for test in c.tests)) for row in c.rows
    )
    return Table(c.tests, lines, (_others(c),) if c.others else ())


def _costs(c: Comparison) -> Table:
    columns = tuple(c.costs[0].medians) if c.costs else ()
    lines = tuple((row.cell, tuple(Entry(" -> ".join(row.medians[name])) for name in columns)) for row in c.costs)
    return Table(columns, lines)

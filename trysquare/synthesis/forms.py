"""The two forms of a synthesis: markdown, and one page that needs nothing else."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from trysquare import plots
from trysquare.measure import counted
from trysquare.synthesis.model import Claim, Panel, Synthesis
from trysquare.verdict import plain

if TYPE_CHECKING:
    from jinja2 import Environment

THIN = "\u202f"
"""A thin space that does not break: between thousands."""

JOINT = re.compile(r"(?<=\d) (?=\d{3}(?!\d)|(?:pts|s)\b|%)")
"""The spaces inside a number as `verdict.plain` and `verdict.signed` write it, and before its unit."""


def markdown(s: Synthesis) -> str:
    """The synthesis as markdown."""
    return _environment(html=False).get_template("synthesis.md.j2").render(s=s, asked=asked(s), family=family(s))


def page(s: Synthesis) -> str:
    """The synthesis as one HTML page: no script, nothing fetched, light and dark, pictures inlined."""
    pictures = [_pictures(panel) for panel in s.panels]
    template = _environment(html=True).get_template("page.html.j2")
    return template.render(s=s, asked=asked(s), family=family(s), pictures=pictures)


def asked(s: Synthesis) -> str:
    """What was asked, in a sentence or two."""
    declared = sum(not cell.stale for cell in s.cells)
    cells = f"{declared} configurations, called cells" if declared != 1 else "one configuration, called a cell"
    start = f"The same task was given {counted(s.repetitions, 'time')} to each of {cells}."
    return f"{start} Every other cell is compared with the reference, {s.reference}. The criterion is {s.criterion}."


def family(s: Synthesis) -> str:
    """What many gaps at once mean for a single one."""
    if not s.tested:
        return "There was no gap to test."
    return (
        f"{counted(s.tested, 'gap')} tested at once, each with about one chance in twenty of looking established when "
        "nothing is behind it. Holm's p allows for that: quote it together with the gap, and what has one above 0.05 as "
        "something to look into."
    )


def _pictures(panel: Panel) -> tuple[str, Any, Any]:
    from markupsafe import Markup

    # Both pictures escape what they are given.
    gaps = Markup(plots.forest(panel.measure, panel.gaps, panel.signed)) if panel.gaps else None
    if panel.rate:
        return panel.title, gaps, Markup(plots.tally(panel.measure, panel.samples))
    return panel.title, gaps, Markup(plots.strip(panel.measure, panel.samples, panel.level, plain))


@cache
def _environment(html: bool) -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("trysquare.synthesis"),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=False,
        keep_trailing_newline=True,
    )
    environment.globals["counted"] = counted
    environment.filters |= {"number": _number, "md": _escaped, "groupby_cell": _by_cell, "plain": plain}
    return environment


def _number(text: str) -> str:
    """A text in which no number is broken, neither between its thousands nor before its unit."""
    return JOINT.sub(THIN, text)


def _escaped(text: str) -> str:
    """A text that is only itself in markdown, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#~])", r"\\\1", " ".join(str(text).split()))


def _by_cell(claims: Iterable[Claim]) -> list[list[Claim]]:
    return [list(group) for _, group in groupby(claims, key=lambda claim: claim.cell)]

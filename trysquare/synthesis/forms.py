"""The two forms of a synthesis: markdown, and one page that needs nothing else."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from trysquare import plots
from trysquare.measure import counted
from trysquare.synthesis import tables
from trysquare.synthesis.model import Claim, Link, Panel, Synthesis
from trysquare.table import NOTHING, entry, score_table, spend_table
from trysquare.table.markdown import escaped, table
from trysquare.verdict import plain

if TYPE_CHECKING:
    from jinja2 import Environment

FILES = ("plan.json", "measures.json", "measures.parquet", "launches.jsonl")
"""The files of a matrix that the page links to, beside those of its runs."""

PIECE = 16
"""How many strings of a template make one piece of a page."""

THIN = "\u202f"
"""A thin space that does not break: between thousands."""

JOINT = re.compile(r"(?<=\d) (?=\d{3}(?!\d)|(?:pts|s)\b|%)")
"""The spaces inside a number as `verdict.plain` and `verdict.signed` write it, and before its unit."""


def markdown(s: Synthesis) -> str:
    """The synthesis as markdown."""
    parts = {
        "scores": score_table(s.tables.scores, s.tables.tests, s.tables.others),
        "counting": tables.counting(s),
        "medians": spend_table(s.tables.medians, s.tables.numbers, s.draws, s.seed),
        "costs": spend_table(s.tables.costs, s.tables.levels, s.draws, s.seed),
        "gaps": _gap_table(s),
    }
    return environment(html=False).get_template("synthesis.md.j2").render(_common(s), **parts)


def page(s: Synthesis, files: Iterable[Link] | None = None) -> str:
    """The synthesis as one HTML page: no script, nothing fetched, light and dark, pictures inlined.

    `files` are the links to what it was made from, by default those of a matrix directory.
    """
    return "".join(page_pieces(s, files))


def page_pieces(s: Synthesis, files: Iterable[Link] | None = None) -> Iterator[str]:
    """The same page in pieces, of which a large matrix has too many to hold them all."""
    parts = {
        "scores": tables.scores(s),
        "medians": tables.medians(s),
        "costs": tables.costs(s),
        "gaps": tables.gaps(s),
        "cautious": any(verdict and verdict.caution for row in s.tables.gaps for verdict in row.cases.values()),
        "pictures": [_pictures(panel) for panel in s.panels],
        "files": [Link(name, name) for name in FILES] if files is None else list(files),
    }
    stream = environment(html=True).get_template("page.html.j2").stream(_common(s), **parts)
    stream.enable_buffering(PIECE)
    return stream


def _common(s: Synthesis) -> dict[str, Any]:
    return {"s": s, "asked": asked(s), "family": family(s), "described": any(cell.description for cell in s.cells)}


def _gap_table(s: Synthesis) -> str:
    """The gap table in markdown; what must not be quoted is not listed as publishable under it."""
    head = ("cell", "n", *(measure.name for measure in s.tables.measures))
    barred = tables.withheld(s)
    lines = [
        (
            row.cell,
            plain(row.n),
            *(
                entry(row.cases[each.name], each)
                + " (not to be quoted)" * ((row.cell, each.name) in barred)
                + (f" ({of})" if (of := tables.judged(s, row, each)) else "")
                for each in s.tables.measures
            ),
        )
        for row in s.tables.gaps
    ]
    publishable = [f"- {claim.finding}" for claim in s.said] or [NOTHING]
    lead = "What would be publishable if it were measured:" if s.rehearsed else "What is publishable:"
    return f"{table(head, lines)}\n{lead}\n\n" + "\n".join(publishable) + "\n"


def asked(s: Synthesis) -> str:
    """What was asked, in a sentence or two."""
    declared = sum(not cell.stale for cell in s.cells)
    cells = f"{declared} configurations, called cells" if declared != 1 else "one configuration, called a cell"
    task = "The same task" if s.prompt else "A task"
    start = f"{task} was given {counted(s.repetitions, 'time')} to each of {cells}."
    return f"{start} Every other cell is compared with the reference, {s.reference}. The criterion is {s.criterion}."


def family(s: Synthesis) -> str:
    """What many gaps at once mean for a single one."""
    if not s.tested:
        return "There was no gap to test."
    return (
        f"{counted(s.tested, 'gap was', 'gaps were')} tested at once, and each had about one chance in twenty of "
        "looking established with nothing behind it. Holm's p allows for that: quote it together with the gap. Every "
        "number is rounded by itself."
    )


def _pictures(panel: Panel) -> dict[str, Any]:
    """The pictures of a measure, as SVG that has escaped what it was given."""
    from markupsafe import Markup

    name, render = panel.measure.name, panel.measure.render
    if panel.rate:
        runs = plots.tally(name, panel.samples)
    else:
        runs = plots.strip(name, panel.samples, panel.measure.stat, plots.exact)
    ticks = render if panel.rate else plots.exact_signed
    gaps = Markup(plots.forest(name, panel.gaps, render, ticks)) if panel.gaps else None
    return {"title": panel.title, "gaps": gaps, "runs": Markup(runs)}


@cache
def environment(html: bool) -> "Environment":
    """The templates of every page, with the filters they write numbers and texts through."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("trysquare.synthesis"),
        autoescape=html,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.globals["counted"] = counted
    environment.filters |= {
        "number": _number,
        "md": escaped,
        "prose": _prose,
        "quoted": _quoted,
        "groupby_cell": _by_cell,
        "plain": plain,
    }
    return environment


def _number(text: str) -> str:
    """A text in which no number is broken, neither between its thousands nor before its unit."""
    return JOINT.sub(THIN, text)


def _prose(text: str) -> Any:
    """A text in markdown as HTML: paragraphs, lists, emphasis and code; anything else is shown as it is written."""
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    reader = MarkdownIt("zero", {"html": False}).enable(["emphasis", "backticks", "list"])
    return Markup(reader.render(re.sub(r"^#+ ", "", text, flags=re.MULTILINE)))


def _quoted(text: str) -> str:
    """A text in markdown as a quotation in markdown."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _by_cell(claims: Iterable[Claim]) -> list[list[Claim]]:
    return [list(group) for _, group in groupby(claims, key=lambda claim: claim.cell)]

"""What the targets form and ingest do to one matrix, and what they say."""

from pathlib import Path

from trysquare.collecting import collect, status_line
from trysquare.errors import TrysquareError
from trysquare.forms.asking import write_forms
from trysquare.forms.ingesting import ingest
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.rendering import render


def ask(layout: Layout) -> list[str]:
    """Write the forms of a matrix; the lines that say where they are."""
    return write_forms(layout, Matrix.load(layout.plan))


def take(layout: Layout, files: list[Path] | None = None) -> tuple[list[str], bool]:
    """Take the answers of forms, derive the measures and pages again; what is said, and whether all were taken."""
    reports = ingest(layout, Matrix.load(layout.plan), files)
    said = [line for report in reports for line in (report.line, *(f"! {refusal}" for refusal in report.refused))]
    state = collect(layout)
    said.append(status_line(layout.root, state))
    if any(report.merged for report in reports) and state.complete:
        for pointer in (*layout.ledger.glob("render.*"), *layout.ledger.glob("reference_*")):
            pointer.unlink()
        try:
            said.append(render(layout))
        except TrysquareError as error:
            said.append(str(error))
    return said, not any(report.refused for report in reports)

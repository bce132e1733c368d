"""The sessions of a run as pages, made by the agent itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trysquare import agent
from trysquare.layout import Layout, RunLayout


@dataclass(frozen=True)
class Session:
    """One session: what it is, its file, and the page it has once it was exported."""

    label: str
    file: Path
    page: Path


def sessions(layout: Layout, run: RunLayout) -> Iterator[Session]:
    """The sessions of a run, and of whoever judged it."""
    own = sorted(run.session.glob("*.jsonl"))
    target = layout.session_pages(run)
    for number, file in enumerate(own, 1):
        label = "session" if len(own) == 1 else f"session of launch {number}"
        yield Session(label, file, target / f"{file.stem}.html")
    for file in sorted(run.validation.glob("*/judgements/*/session/*.jsonl")):
        judge, round_ = file.parts[-5], file.parts[-3]
        yield Session(f"session of {judge}, round {round_}", file, target / judge / round_ / f"{file.stem}.html")


def export(layout: Layout, run: RunLayout) -> list[str]:
    """Make a page of every session that has none yet; returns a sentence for each that the agent cannot render."""
    broken = []
    for session in sessions(layout, run):
        try:
            if not session.page.exists():
                agent.export_html(session.file, session.page.parent)
        except RuntimeError as error:
            broken.append(str(error))
    return broken

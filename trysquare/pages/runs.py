"""The page of one run, made from its archive and from the row the synthesis has of it."""

import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from trysquare import stored
from trysquare.errors import ArchiveError
from trysquare.files import write_text
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import Matrix
from trysquare.pages import patches
from trysquare.pages.sessions import sessions
from trysquare.synthesis import Evidence, Link, RunRow, Synthesis
from trysquare.synthesis.evidence import address
from trysquare.synthesis.forms import environment

TEXT = 100_000
"""Characters of an answer, or of a validator's standard error, that a page shows."""


@dataclass(frozen=True)
class Answer:
    """One metric of a verdict: `said` is its value, or why there is none."""

    metric: str
    said: str
    reason: str
    judged: bool


@dataclass(frozen=True)
class Verdict:
    """What one validator said of a run; `failed` says why it said nothing."""

    name: str
    mode: str
    answers: tuple[Answer, ...]
    failed: str
    stderr: str


@dataclass(frozen=True)
class RunPage:
    """Everything the page of one run shows.

    `cell` is empty where a form is answered blind; `notes` are what no verdict says already.
    """

    title: str
    cell: str
    row: RunRow
    columns: tuple[str, ...]
    notes: tuple[tuple[str, str], ...]
    rehearsed: bool
    prompt: str
    response: str
    patch: patches.Patch
    verdicts: tuple[Verdict, ...]
    sessions: tuple[Link, ...]
    files: tuple[Link, ...]
    back: str


def write_pages(layout: Layout, matrix: Matrix, built: Synthesis, archived: Mapping[str, Evidence]) -> None:
    """Write the page of every run, and remove those of runs that are no longer there."""
    template = environment(html=True).get_template("run.html.j2")
    for cell in built.cells:
        for row in cell.runs:
            if (evidence := archived.get(row.id)) is not None:
                run = RunLayout(layout.root / evidence.directory)
                made = _page(layout, matrix, built, run, "" if matrix.blind else cell.name, row)
                write_text(layout.run_page(run), template.render(p=made))
    _sweep(layout, {evidence.page for evidence in archived.values() if evidence.page})


def _sweep(layout: Layout, pages: Collection[str]) -> None:
    """Remove all but `pages`, named by their paths in the matrix, and the directory with the sessions beside each."""
    folders_of_pages = {str(PurePosixPath(page).parent) for page in pages}
    for folder, folders, names in os.walk(layout.pages):
        here = Path(folder).relative_to(layout.root).as_posix()
        for name in [name for name in names if f"{here}/{name}" not in pages]:
            (Path(folder) / name).unlink()
        within = [name for name in folders if f"{here}/{name}" in folders_of_pages]
        for name in folders:
            if name not in within and f"{here}/{name}.html" not in pages:
                shutil.rmtree(Path(folder) / name)
        folders[:] = within


def _page(layout: Layout, matrix: Matrix, built: Synthesis, run: RunLayout, cell: str, row: RunRow) -> RunPage:
    page, verdicts = layout.run_page(run), tuple(_verdicts(matrix, run))
    explained = {answer.metric for verdict in verdicts for answer in verdict.answers}
    return RunPage(
        title=built.title,
        cell=cell,
        row=row,
        columns=built.run_columns,
        notes=tuple((name, text) for name, text in row.remarks if name not in explained),
        rehearsed=built.rehearsed,
        prompt=_text(run.prompt),
        response=_text(run.response),
        patch=patches.read(run.patch),
        verdicts=verdicts,
        sessions=tuple(_sessions(layout, run, page)),
        files=tuple(
            Link(path.relative_to(run.root).as_posix(), _to(path, page))
            for path in (run.record, run.configuration, run.patch, run.session, run.validation)
            if path.exists()
        ),
        back=_to(layout.synthesis.with_suffix(".html"), page),
    )


def _sessions(layout: Layout, run: RunLayout, page: Path) -> Iterator[Link]:
    for each in sessions(layout, run):
        yield Link(f"{each.label}, as a page", _to(each.page, page) if each.page.exists() else None)
        yield Link(f"{each.label}, as the agent wrote it", _to(each.file, page))


def _verdicts(matrix: Matrix, run: RunLayout) -> Iterator[Verdict]:
    for name, validator in matrix.validators.items():
        try:
            found = stored.verdict(run, validator)
        except (FileNotFoundError, ArchiveError) as error:
            missing = "it has not judged this run" if isinstance(error, FileNotFoundError) else str(error)
            yield Verdict(name, validator.mode, (), missing, "")
            continue
        answers = tuple(_answers(found))
        yield Verdict(name, validator.mode, answers, str(found.get("failed", "")), _text(run.stderr(name)))


def _answers(found: Mapping[str, Any]) -> Iterator[Answer]:
    reasons, unjudged = found.get("reasons") or {}, found.get("unjudged") or {}
    for metric, value in (found.get("metrics") or {}).items():
        yield Answer(metric, _said(value), str(reasons.get(metric, "")), True)
    for metric, why in unjudged.items():
        yield Answer(metric, "could not be judged", str(why), False)


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="backslashreplace") as file:
            text = file.read(TEXT + 1)
    except FileNotFoundError:
        return ""
    return text if len(text) <= TEXT else f"{text[:TEXT]}… (the rest is in {path.name})"


def _to(path: Path, page: Path) -> str:
    return address(Path(os.path.relpath(path, page.parent)).as_posix() + ("/" if path.is_dir() else ""))

"""Writing a form: TOML with the work as comments and the answers left out."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

from trysquare.files import write_text
from trysquare.forms.answers import FormError, differ, forms, on_disk, pending, stored, title
from trysquare.forms.ingesting import given
from trysquare.layout import Layout
from trysquare.matrix import Matrix, RunPlan, ValidatorPlan
from trysquare.refusals import key, show, toml
from trysquare.validation.dossier import readable

LONGEST = 400
"""Lines of one piece that a form repeats."""

_HEAD = """\
# {heading}
#
# For each run below, take the # off the line of a metric and put your answer in the place of the ?: true, false, a
# number, or a text in quotes. What you leave as it is stays pending; you can come back to it with a later form.
# The runs are in an order drawn by lot, and nothing here says which configuration made which.
"""
_GROUPED = """\
# ! This tree is grouped by cell: the path of a run names its configuration. Judge by what is printed here.
"""
_BLIND = """\
# ! The files of a run are in the directory named below; its configuration.json and its session name the configuration.
"""


def write_forms(layout: Layout, matrix: Matrix) -> list[str]:
    """Write a form for each validator that is one; returns a line for each, and a warning where paths tell cells.

    Raises
    ------
    FormError
        When there is no such validator, or the form that is there holds answers nobody has taken.
    """
    found = forms(matrix)
    if not found:
        raise FormError(f'{layout.root}: no validator of its scenario is a form; add one with mode = "form".')
    for validator in found:
        _refuse_to_lose(layout, matrix, validator)
    said = []
    for validator in found:
        left, asked = pending(matrix, validator, on_disk(layout, matrix))
        path = layout.form(validator.name)
        write_text(path, "\n".join(_lines(layout, matrix, validator)))
        said.append(f"{path}: {title(validator.name)}: {left} of {asked} pending")
    if not matrix.blind:
        said.append("! the tree is grouped by cell, so the paths in the form tell the configuration: it is not blind")
    return said


def _refuse_to_lose(layout: Layout, matrix: Matrix, validator: ValidatorPlan) -> None:
    path = layout.form(validator.name)
    if not path.exists():
        return
    untaken = False
    for run_id, answers in given(path, matrix).items():
        planned = matrix.runs.get(run_id)
        run = None if planned is None else layout.run(planned.directory)
        if run is None or not run.record.exists():
            raise FormError(
                f"{path} answers for run {run_id}, which is not here: move the file away, or take the run out of it."
            )
        known = stored(run, validator)
        for name, value in answers.items():
            if name not in known:
                untaken = True
            elif differ(known[name], value):
                raise FormError(
                    f"{path} says {key(name)} = {show(value)} of run {run_id}, which is answered and stays "
                    f"{show(known[name])}: write that, or take the line out. To change it, delete "
                    f"{run.verdict(validator.name)}, which takes back all that this form says of the run, and ingest "
                    "those answers anew."
                )
    if untaken:
        raise FormError(f"{path} holds answers that are not ingested: ingest them first, or move the file away.")


def _lines(layout: Layout, matrix: Matrix, validator: ValidatorPlan) -> Iterator[str]:
    yield _HEAD.format(heading=_comment(matrix.experiment.title)) + (_BLIND if matrix.blind else _GROUPED)
    yield f"form = {toml(validator.name)}"
    yield f"matrix = {toml(matrix.name)}"
    prompts = {cell.prompt for cell in matrix.cells.values()}
    if len(prompts) == 1:
        yield from ("", "# The task:", *_quoted(layout.brick(prompts.pop()).read_text(encoding="utf-8")))
    open_runs = [run for run in _shuffled(matrix, validator) if _asks(layout, validator, run)]
    for number, run in enumerate(open_runs, 1):
        yield from _run(layout, validator, run, f"{number} of {len(open_runs)}")
    yield ""


def _shuffled(matrix: Matrix, validator: ValidatorPlan) -> list[RunPlan]:
    """Every planned run, in an order that depends on the seed of the scenario and on the form alone."""
    runs = sorted(matrix.runs.values(), key=lambda run: run.id)
    Random(f"{matrix.verdict.seed}/{validator.name}").shuffle(runs)
    return runs


def _asks(layout: Layout, validator: ValidatorPlan, run: RunPlan) -> list[str]:
    """The metrics of a recorded run that are pending."""
    there = layout.run(run.directory)
    if not there.record.exists():
        return []
    known = stored(there, validator)
    return [metric for metric in validator.metrics if metric not in known]


def _run(layout: Layout, validator: ValidatorPlan, run: RunPlan, position: str) -> Iterator[str]:
    there = layout.run(run.directory)
    yield f"\n# {'-' * 100}\n# Run {position}: {Path('runs') / run.directory}\n#\n# What the agent answered:"
    yield from _quoted(there.response.read_text(encoding="utf-8", errors="replace"))
    yield "#\n# What it changed:"
    yield from _quoted(readable(there.patch.read_bytes()))
    yield f"\n[runs.{run.id}]"
    yield from (f"# {key(metric)} = ?" for metric in _asks(layout, validator, run))


def _quoted(text: str) -> Iterator[str]:
    found = text.splitlines() or ["(nothing)"]
    yield from (f"#   {_comment(line)}".rstrip() for line in found[:LONGEST])
    if len(found) > LONGEST:
        yield f"#   ... and {len(found) - LONGEST} lines more"


def _comment(text: str) -> str:
    """One line as TOML lets it stand in a comment."""
    return "".join(letter if letter == "\t" or letter.isprintable() else f"\\u{ord(letter):04x}" for letter in text)

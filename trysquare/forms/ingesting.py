"""Taking what people answered: whole forms or nothing, and only into holes."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trysquare.files import digest, write_json
from trysquare.forms.answers import FormError, Given, differ, forms, kind, kinds, on_disk, pending, stored, title
from trysquare.layout import Layout
from trysquare.matrix import Matrix, ValidatorPlan
from trysquare.measure import Run, fill_manual
from trysquare.refusals import Refusals, closest, listed, show


@dataclass(frozen=True)
class Report:
    """What taking one form came to: how many answers were merged, were there before, are pending, were refused."""

    form: str
    merged: int
    known: int
    pending: int
    refused: tuple[str, ...]

    @property
    def line(self) -> str:
        """The counts in words."""
        before = f", {self.known} there before" if self.known else ""
        return f"{title(self.form)}: {self.merged} merged, {self.pending} pending, {len(self.refused)} refused{before}"


def ingest(layout: Layout, matrix: Matrix, files: list[Path] | None = None) -> list[Report]:
    """Take the answers of filled forms, by default of those in their places; every form is read before any is taken.

    Raises
    ------
    FormError
        With everything that is wrong with the forms; nothing is taken then.
    """
    if files is None:
        files = [path for validator in forms(matrix) if (path := layout.form(validator.name)).exists()]
    if not files:
        raise FormError(f"{layout.root} holds no form: write one with the target `form`, or with `trysquare form`.")
    read = [_checked(layout, matrix, path) for path in files]
    return [_take(layout, matrix, validator, answers, path) for validator, answers, path in read]


def given(path: Path, matrix: Matrix) -> Given:
    """The answers of a form as written.

    Raises
    ------
    FormError
        When it is no form of the matrix.
    """
    return _read(path, matrix)[1]


def _read(path: Path, matrix: Matrix) -> tuple[ValidatorPlan, Given]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise FormError(f"{path}: there is no such form; write one with `trysquare form`.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise FormError(f"{path}: cannot be read ({error}); correct that line, nothing was taken.") from None
    refusals = Refusals(path, FormError)
    for name in data:
        if name not in ("form", "matrix", "runs"):
            refusals.add(show(name), "is not part of a form; take it out, or put it under its [runs.<id>].")
    known = {validator.name: validator for validator in forms(matrix)}
    name = str(data.get("form"))
    if name not in known:
        refusals.add("form", f"{_found(data, 'form')}; the forms of this matrix are {listed(known)}.")
    if data.get("matrix") != matrix.name:
        refusals.add("matrix", f"{_found(data, 'matrix')}; this is {show(matrix.name)}.")
    runs = data.get("runs", {})
    if not isinstance(runs, dict) or not all(isinstance(answers, dict) for answers in runs.values()):
        refusals.add("runs", "holds more than answers; write each under its [runs.<id>].")
    refusals.settle()
    return known[name], runs


def _found(data: Mapping[str, Any], key: str) -> str:
    return f"found {show(data[key])}" if key in data else "missing, although a form begins with it"


def _checked(layout: Layout, matrix: Matrix, path: Path) -> tuple[ValidatorPlan, Given, Path]:
    validator, answers = _read(path, matrix)
    refusals = Refusals(path, FormError)
    for run_id, metrics in answers.items():
        where = f"[runs.{run_id}]"
        planned = matrix.runs.get(run_id)
        if planned is None or not layout.run(planned.directory).record.exists():
            refusals.add(where, f"there is no such run here{closest(run_id, matrix.runs)}; nothing was taken.")
            continue
        for metric, value in metrics.items():
            if metric not in validator.metrics:
                near = closest(metric, validator.metrics)
                refusals.add(
                    f"{where} {metric}", f"this form does not ask that{near}; it asks {listed(validator.metrics)}."
                )
            elif not kind(value):
                refusals.add(f"{where} {metric}", f"found {show(value)}; write true, false, a number or a text.")
    refusals.settle()
    for metric in validator.metrics:
        _refuse_mixture(layout, matrix, validator, answers, metric, refusals)
    refusals.settle()
    return validator, answers, path


def _refuse_mixture(
    layout: Layout, matrix: Matrix, validator: ValidatorPlan, answers: Given, metric: str, refusals: Refusals
) -> None:
    """One metric has answers of one type: those there before decide, else the first of the form."""
    before = [
        known[metric]
        for run in matrix.runs.values()
        if metric in (known := stored(layout.run(run.directory), validator))
    ]
    new = [(run_id, metrics[metric]) for run_id, metrics in answers.items() if metric in metrics]
    types = kinds([*before, *(value for _, value in new)])
    if len(types) < 2:
        return
    wanted = kind(before[0] if before else new[0][1])
    for run_id, value in new:
        if kind(value) != wanted:
            refusals.add(
                f"[runs.{run_id}] {metric}", f"found {show(value)}, and other answers are {wanted}; write one type."
            )


def _take(layout: Layout, matrix: Matrix, validator: ValidatorPlan, answers: Given, path: Path) -> Report:
    merged = known = 0
    refused: list[str] = []
    for run_id, metrics in answers.items():
        run = layout.run(matrix.runs[run_id].directory)
        before = stored(run, validator)
        new = {name: value for name, value in metrics.items() if name not in before or differ(before[name], value)}
        known += len(metrics) - len(new)
        filled = Run(run_id, "", 0, metrics=dict(before))
        refusals = fill_manual(filled, new)
        refused += refusals
        merged += len(new) - len(refusals)
        if filled.metrics != before:
            write_json(run.verdict(validator.name), _evidence(validator, filled.metrics, path))
    left, _ = pending(matrix, validator, on_disk(layout, matrix))
    return Report(validator.name, merged, known, left, tuple(refused))


def _evidence(validator: ValidatorPlan, metrics: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Given in the order the form asks for them, with the digest of the file they last came from."""
    ordered = {name: metrics[name] for name in validator.metrics if name in metrics}
    return {
        "metrics": {**ordered, **{name: value for name, value in metrics.items() if name not in ordered}},
        "reasons": {},
        "unjudged": {},
        "validator": validator.name,
        "digest": validator.digest,
        "form": digest(path.read_bytes()),
    }

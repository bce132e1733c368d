"""Trial results of several variants as matrices of measures: a scenario per stimulus, a cell per variant."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trysquare.errors import TrysquareError
from trysquare.files import digest, write_json, write_text
from trysquare.layout import Layout
from trysquare.matrix import (
    Agent,
    CellPlan,
    Experiment,
    Matrix,
    Protocol,
    RunPlan,
    Source,
    Task,
    ValidatorPlan,
    VerdictPlan,
)
from trysquare.measure import Run
from trysquare.measure.stream import counted
from trysquare.outputs import cell_dir, run_id
from trysquare.refusals import listed, show, together
from trysquare.vally.trials import Trial, TrialsError, read_trials

TREATMENTS = ("model", "stimulus")
"""What variants may be declared to differ in."""

VALIDATOR = "vally"
DRAWS, SEED = 10_000, 20_260_729
UNKNOWN = "not recorded"


@dataclass(frozen=True)
class Imported:
    """One matrix that was written: where, and how many of its trials count."""

    directory: Path
    cells: int
    trials: int
    valid: int

    @property
    def line(self) -> str:
        """The counts in words."""
        empty = self.trials - self.valid
        said = f"{counted(self.cells, 'variant')}, {self.valid} of {counted(self.trials, 'trial')} valid"
        return f"{self.directory}: {said}{f', {empty} empty' if empty else ''}"


def import_trials(results: Path, output: Path, differs: Collection[str] = ()) -> list[Imported]:
    """Write a matrix of measures for each stimulus of a file of trial results.

    Parameters
    ----------
    differs
        What the variants are meant to differ in, of `TREATMENTS`; any other difference that shows is refused.

    Raises
    ------
    TrialsError
        When a line cannot be read, or variants differ in what nobody declared; nothing is written then.
    """
    stimuli: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in read_trials(results):
        stimuli[trial.evaluation or results.stem, trial.stimulus or "stimulus"].append(trial)
    if not stimuli:
        raise TrialsError(f"{results}: holds no line of type trial-result; name a file of trial results.")
    problems = [
        f"{results}: stimulus {show(name)}: {problem}"
        for (_, name), trials in stimuli.items()
        for problem in _problems(trials, differs)
    ]
    if problems:
        raise TrialsError(together(problems))
    made = [_matrix(evaluation, name, trials, results.name) for (evaluation, name), trials in stimuli.items()]
    for matrix, _ in made:
        _refuse_taken(output / matrix.name, matrix)
    return [_write(output / matrix.name, matrix, rows) for matrix, rows in made]


def _by_variant(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    found: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        found[trial.variant or "default"].append(trial)
    return found


def _problems(trials: Sequence[Trial], differs: Collection[str]) -> list[str]:
    """Every drift that shows between or within variants, and trials that are there twice."""
    variants, found = _by_variant(trials), []
    for what, seen in (("model", "model"), ("stimulus", "text")):
        values = {name: {getattr(trial, seen) for trial in of_one} - {None} for name, of_one in variants.items()}
        noun = "models" if what == "model" else "texts of the stimulus"
        for name, of_one in values.items():
            if len(of_one) > 1:
                found.append(f"variant {show(name)} saw {len(of_one)} {noun} ({listed(sorted(of_one))}); split it.")
        if what not in differs and len({value for of_one in values.values() for value in of_one}) > 1:
            named = "; ".join(f"{name}: {listed(sorted(of_one))}" for name, of_one in values.items() if of_one)
            found.append(f"variants differ in {what} ({named}); if that is what they test, say --differs {what}.")
    for name, of_one in variants.items():
        first: dict[int, int] = {}
        for trial in of_one:
            if trial.index is not None and first.setdefault(trial.index, trial.line) != trial.line:
                found.append(
                    f"variant {show(name)}: trial {trial.index} is there twice, in lines {first[trial.index]} and "
                    f"{trial.line}; keep one."
                )
    return found


def _matrix(evaluation: str, stimulus: str, trials: Sequence[Trial], source: str) -> tuple[Matrix, list[Run]]:
    variants = _by_variant(trials)
    name = evaluation if stimulus == "stimulus" else f"{evaluation}-{stimulus}"
    models = sorted({trial.model for trial in trials if trial.model})
    model = models[0] if len(models) == 1 else "several" if models else UNKNOWN
    repetitions = max(map(len, variants.values()))
    graders = list(dict.fromkeys(key for trial in trials if trial.grade for key in trial.grade["graders"]))
    rows = [
        _row(name, variant, position, trial, graders)
        for variant, of_one in variants.items()
        for position, trial in enumerate(_ordered(of_one))
    ]
    plans = {row.id: RunPlan(row.id, row.cell, row.repetition, f"{cell_dir(row.cell)}/{row.id}") for row in rows}
    if len(plans) < len(rows):
        raise TrialsError(f"{source}: two trials of {show(stimulus)} get one id; rename one of its variants.")
    metrics = ("passed", "score", *(f"grade.{grader}" for grader in graders))
    matrix = Matrix(
        name="_".join([*(_slug(part) for part in (name, "imported", model)), f"n{repetitions}"]),
        experiment=Experiment(name, f"{evaluation}: {stimulus}" if stimulus != "stimulus" else evaluation, source),
        source=Source(evaluation, "", "", UNKNOWN, ""),
        task=Task(),
        agent=Agent(VALIDATOR, UNKNOWN, model),
        protocol=Protocol(repetitions, 1, 0.0, 1, 0),
        cells={variant: _cell(variant, of_one, stimulus) for variant, of_one in variants.items()},
        runs=plans,
        validators={VALIDATOR: ValidatorPlan(VALIDATOR, "imported", metrics, digest(list(metrics)))},
        verdict=VerdictPlan("passed", next(iter(variants)), (), DRAWS, SEED),
        workdir="",
        isolation=UNKNOWN,
        imported=f"{source}, {digest([row.row() for row in rows])}",
    )
    return matrix, rows


def _ordered(trials: Sequence[Trial]) -> list[Trial]:
    """By index; those without one where they stand in the file."""
    return sorted(trials, key=lambda trial: trial.line if trial.index is None else trial.index)


def _cell(variant: str, trials: Iterable[Trial], stimulus: str) -> CellPlan:
    model = next((trial.model for trial in trials if trial.model), UNKNOWN)
    parts = {"variant": variant, "model": model, "prompt": _prompt(stimulus)}
    return CellPlan(variant, digest(parts), parts, UNKNOWN, _prompt(stimulus))


def _prompt(stimulus: str) -> str:
    return digest(f"{stimulus}\n".encode())


def _row(scenario: str, variant: str, position: int, trial: Trial, graders: Sequence[str]) -> Run:
    repetition = position if trial.index is None else trial.index
    sent, received, cached = trial.tokens
    usage = {"input": sent, "output": received, "cacheRead": cached, "cacheWrite": None}
    made = Run(
        run_id(scenario, variant, repetition),
        variant,
        repetition,
        usage={**usage, "turns": None, "retries": None, "cost": None},
        duration=0 if trial.seconds is None else round(trial.seconds, 3),
    )
    grade = trial.grade or {}
    if not trial.ran or grade.get("passed") is None:
        made.state = "empty"
        made.detail = f"the trial is {trial.status}" if not trial.ran else "the trial has no grade"
        return made
    made.metrics = {"passed": grade["passed"], **({} if grade["score"] is None else {"score": grade["score"]})}
    made.metrics |= {f"grade.{name}": passed for name, passed in grade["graders"].items()}
    if grade["score"] is None:
        made.unjudged["score"] = "the grade has no score"
    for name in graders:
        if name not in grade["graders"]:
            made.unjudged[f"grade.{name}"] = "the grade does not name it"
    if grade["evidence"] and not grade["passed"]:
        made.reasons["passed"] = grade["evidence"]
    return made


def _slug(value: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]+", "-", value).strip("-") or "x"


def _refuse_taken(directory: Path, matrix: Matrix) -> None:
    plan = Layout(directory).plan
    if not plan.exists():
        return
    there = Matrix.load(plan).imported
    if there != matrix.imported:
        raise TrysquareError(
            f"{directory} holds {'other trials' if there else 'a measured matrix'}; write to another directory with -o."
        )


def _write(directory: Path, matrix: Matrix, rows: Sequence[Run]) -> Imported:
    layout = Layout(directory)
    stimulus = matrix.experiment.title.partition(": ")[2] or matrix.experiment.title
    order = list(matrix.cells)
    rows = sorted(rows, key=lambda run: (order.index(run.cell), run.repetition))
    if _prompt(stimulus) in {cell.prompt for cell in matrix.cells.values()}:
        write_text(layout.brick(_prompt(stimulus)), f"{stimulus}\n")
    write_json(layout.measures, [run.row() for run in rows])
    matrix.save(layout.plan)
    from trysquare.collecting import collect

    collect(layout)
    return Imported(directory, len(matrix.cells), len(rows), sum(run.state == "valid" for run in rows))


def summary(made: Iterable[Imported]) -> Mapping[str, Any]:
    """How much was imported in all."""
    made = list(made)
    return {"matrices": len(made), "trials": sum(each.trials for each in made)}

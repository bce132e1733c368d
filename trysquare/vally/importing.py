"""Trial results of several variants as matrices of measures: a scenario per stimulus, a cell per variant."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trysquare.files import digest, write_bytes, write_json
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

VALIDATOR = "vally"
NAMELESS = "stimulus"
DRAWS, SEED = 10_000, 20_260_729
UNKNOWN = "not recorded"
NO_GRADE = "the trial has no gradeResult with passed = true or false"


@dataclass(frozen=True)
class Imported:
    """One matrix that was written: where, how many of its trials count, and why the others do not."""

    directory: Path
    cells: int
    trials: int
    empty: Mapping[str, int]

    @property
    def lines(self) -> list[str]:
        """The counts in words, then a line for each reason why trials are empty, the most frequent first."""
        empty = sum(self.empty.values())
        said = f"{counted(self.cells, 'variant')}, {self.trials - empty} of {counted(self.trials, 'trial')} valid"
        reasons = sorted(self.empty.items(), key=lambda each: -each[1])
        return [
            f"{self.directory}: {said}{f', {empty} empty' if empty else ''}",
            *(f"  {count} empty: {reason}" for reason, count in reasons),
        ]


@dataclass(frozen=True)
class _Made:
    matrix: Matrix
    rows: Sequence[Run]
    stimulus: str


def import_trials(results: Path, output: Path, differs: Collection[str] = ()) -> list[Imported]:
    """Write a matrix of measures for each stimulus of a file of trial results.

    Parameters
    ----------
    differs
        What the variants are meant to differ in, of `model` and `stimulus`; any other difference that shows is refused.

    Raises
    ------
    TrialsError
        When a line cannot be read, or variants differ in what nobody declared; nothing is written then.
    """
    stimuli: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in read_trials(results):
        stimuli[trial.evaluation or results.stem, trial.stimulus or NAMELESS].append(trial)
    if not stimuli:
        raise TrialsError(f"{results}: holds no line of type trial-result; name a file of trial results.")
    problems = [
        f"{results}: stimulus {show(name)}: {problem}"
        for (_, name), trials in stimuli.items()
        for problem in _problems(trials, differs)
    ]
    if problems:
        raise TrialsError(together(problems))
    source = f"{results.name}, {_digest(results)}"
    for evaluation, name in stimuli:
        _refuse_taken(output / _name(evaluation, name, stimuli[evaluation, name]), source)
    # One after the other, so that no more than one matrix is held beside the trials.
    return [_write(output, _made(evaluation, name, trials, source)) for (evaluation, name), trials in stimuli.items()]


def _digest(results: Path) -> str:
    with results.open("rb") as handle:
        return hashlib.file_digest(handle, "blake2s").hexdigest()[:24]


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
        for name, held in values.items():
            if len(held) > 1:
                found.append(f"variant {show(name)} saw {len(held)} {noun} ({listed(sorted(held))}); split it.")
        if what not in differs and len(set().union(*values.values())) > 1:
            named = "; ".join(f"{name}: {listed(sorted(held))}" for name, held in values.items() if held)
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


def _scenario(evaluation: str, stimulus: str) -> str:
    return evaluation if stimulus == NAMELESS else f"{evaluation}-{stimulus}"


def _model(trials: Sequence[Trial]) -> str:
    models = {trial.model for trial in trials if trial.model}
    return models.pop() if len(models) == 1 else "several" if models else UNKNOWN


def _name(evaluation: str, stimulus: str, trials: Sequence[Trial]) -> str:
    """The directory of a matrix."""
    parts = (_scenario(evaluation, stimulus), "imported", _model(trials))
    return "_".join([*map(_slug, parts), f"n{max(map(len, _by_variant(trials).values()))}"])


def _made(evaluation: str, stimulus: str, trials: Sequence[Trial], source: str) -> _Made:
    variants, name = _by_variant(trials), _scenario(evaluation, stimulus)
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
        name=_name(evaluation, stimulus, trials),
        experiment=Experiment(name, evaluation if stimulus == NAMELESS else f"{evaluation}: {stimulus}", source),
        source=Source(evaluation, "", "", UNKNOWN, ""),
        task=Task(),
        agent=Agent(VALIDATOR, UNKNOWN, _model(trials)),
        protocol=Protocol(max(map(len, variants.values())), 1, 0.0, 1, 0),
        cells={variant: _cell(variant, of_one, stimulus) for variant, of_one in variants.items()},
        runs=plans,
        validators={VALIDATOR: ValidatorPlan(VALIDATOR, "imported", metrics, digest(list(metrics)))},
        verdict=VerdictPlan("passed", next(iter(variants)), (), DRAWS, SEED),
        workdir="",
        isolation=UNKNOWN,
        imported=source,
    )
    return _Made(matrix, rows, stimulus)


def _ordered(trials: Sequence[Trial]) -> list[Trial]:
    """By index; those without one where they stand in the file."""
    return sorted(trials, key=lambda trial: trial.line if trial.index is None else trial.index)


def _cell(variant: str, trials: Iterable[Trial], stimulus: str) -> CellPlan:
    model = next((trial.model for trial in trials if trial.model), UNKNOWN)
    parts = {"variant": variant, "model": model, "prompt": _prompt(stimulus)}
    return CellPlan(variant, digest(parts), parts, UNKNOWN, _prompt(stimulus))


def _text(stimulus: str) -> bytes:
    return f"{stimulus}\n".encode("utf-8", "backslashreplace")


def _prompt(stimulus: str) -> str:
    return digest(_text(stimulus))


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
        made.detail = f"the status of the trial is {show(trial.status)}" if not trial.ran else NO_GRADE
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


def _refuse_taken(directory: Path, source: str) -> None:
    plan = Layout(directory).plan
    if plan.exists() and (there := Matrix.load(plan).imported) != source:
        what = "other trials" if there else "a measured matrix"
        raise TrialsError(f"{directory} holds {what}; write to another directory with -o.")


def _write(output: Path, made: _Made) -> Imported:
    directory, order = output / made.matrix.name, list(made.matrix.cells)
    layout = Layout(directory)
    rows = sorted(made.rows, key=lambda run: (order.index(run.cell), run.repetition))
    write_bytes(layout.brick(_prompt(made.stimulus)), _text(made.stimulus))
    write_json(layout.measures, [run.row() for run in rows])
    made.matrix.save(layout.plan)
    return Imported(directory, len(order), len(rows), Counter(run.detail for run in rows if run.state != "valid"))

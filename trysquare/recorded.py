"""What the archive says of one run: its measures, and what each validator still owes it."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from trysquare import archive, rounds, stored
from trysquare.errors import ArchiveError
from trysquare.files import read_lines
from trysquare.forms.answers import PENDING, answered
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import Matrix, RunPlan, ValidatorPlan
from trysquare.measure import Run, merge

Kind = Literal["damaged", "validator_failed", "unscored"]
"""What keeps a recorded run from being valid, the gravest first: each asks for another act."""


@dataclass(frozen=True)
class Problem:
    """What is wrong with a run, or with what one validator said of it; `rejudge` names the judge to be asked again."""

    kind: Kind
    detail: str
    rejudge: str = ""


@dataclass(frozen=True)
class Found:
    """A run with everything that keeps it from being valid."""

    run: Run
    problems: tuple[Problem, ...] = ()

    @property
    def kind(self) -> Kind | None:
        """The kind of a run that a launch has recorded and that is not valid."""
        kinds = {problem.kind for problem in self.problems}
        return next((kind for kind in get_args(Kind) if kind in kinds), None)


def find(layout: Layout, matrix: Matrix, run: RunLayout) -> Found | None:
    """A run that was recorded, or whose record was; None where nothing says that there is one."""
    try:
        return _read(matrix, run)
    except FileNotFoundError:
        problem = f"run.json is missing: {archive.remedy(run)}" if run.pointer.exists() else ""
    except ArchiveError as error:
        problem = str(error)
    except (KeyError, TypeError) as error:
        problem = f"run.json is not the record of a run ({error}): {archive.remedy(run)}"
    planned = matrix.runs.get(run.id)
    if not problem:
        return None
    cell, repetition = (planned.cell, planned.repetition) if planned else (run.root.parent.name, 0)
    damaged = Run(run.id, cell, repetition, state="validator_failed", detail=archive.DAMAGED + problem, attempts=0)
    return Found(damaged, (Problem("damaged", problem),))


def find_empty(layout: Layout, planned: RunPlan) -> Found | None:
    """A run of which only failed attempts are known."""
    attempts = read_lines(layout.attempts(planned.id))
    if not attempts:
        return None
    count = sum(line.get("attempt") is not None for line in attempts)
    detail = str(attempts[-1].get("detail", ""))
    return Found(Run(planned.id, planned.cell, planned.repetition, state="empty", detail=detail, attempts=count))


def _read(matrix: Matrix, run: RunLayout) -> Found:
    record = archive.read_record(run)
    results = [(name, *_said(run, validator)) for name, validator in matrix.validators.items()]
    problems = [problem for *_, problem in results if problem is not None]
    merged = merge(
        [(name, verdict) for name, verdict, _ in results],
        {name: validator.metrics for name, validator in matrix.validators.items()},
    )
    state, detail = merged.state, "; ".join(problem.detail for problem in problems) or merged.detail
    if archive.pointer_differs(run):
        detail = f"run.json is not the record its measured.json was written for: {archive.remedy(run)}"
        state, problems = "validator_failed", [Problem("damaged", detail)]
    elif state == "validator_failed" and not problems:
        problems = [Problem("validator_failed", detail)]
    damaged = any(problem.kind == "damaged" for problem in problems)
    found = Run(
        id=record["id"],
        cell=record["cell"],
        repetition=record["repetition"],
        usage=record["usage"],
        duration=record["duration"],
        metrics=merged.metrics,
        reasons={name: reason for name, reason in merged.reasons.items() if name not in merged.unjudged},
        state=state,
        detail=(archive.DAMAGED if damaged else "") + detail,
        attempts=record["attempts"],
        unjudged={name: reason for name, reason in merged.unjudged.items() if reason != PENDING},
        agent_version=record["agent"]["version"],
        isolation=record["isolation"],
        launch=record["launch"]["id"],
        timed_out=record.get("timed_out", False),
        rehearsed=record.get("rehearsed", False),
    )
    return Found(found, tuple(problems))


def _said(run: RunLayout, validator: ValidatorPlan) -> tuple[dict[str, Any] | None, Problem | None]:
    """What a validator said, and what is wrong with it."""
    name = validator.name
    try:
        if validator.mode == "form":
            return answered(run, validator), None
        if validator.mode == "judge" and (round_ := rounds.newest(run, name)) is not None:
            stored.judgement(run, name, round_)
    except ArchiveError as error:  # no launch makes it again for nothing
        return None, Problem("damaged", f"{name}: {error}")
    try:
        verdict = stored.verdict(run, validator)
    except FileNotFoundError:
        return None, Problem("unscored", f"{name}: not scored yet")
    except ArchiveError as error:
        return None, Problem("validator_failed", f"{name}: {error}")
    if verdict.get("digest") != validator.digest:
        return None, Problem("unscored", f"{name}: scored with an older validator")
    if "failed" in verdict:
        return None, Problem("validator_failed", f"{name}: {verdict['failed']}")
    if validator.mode == "judge" and rounds.held(run, validator) is None:
        return None, Problem("unscored", f"{name}: not scored yet")
    lacking = rounds.lacking(validator, verdict) if validator.mode == "judge" else ""
    return verdict, Problem("validator_failed", f"{name}: {lacking}", rejudge=name) if lacking else None

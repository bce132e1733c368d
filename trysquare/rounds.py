"""Rounds of judging: every judgement belongs to one, and only the act `rejudge` begins another."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trysquare import stored
from trysquare.errors import ArchiveError, TrysquareError
from trysquare.files import digest
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import Matrix, ValidatorPlan
from trysquare.measure.stream import counted
from trysquare.refusals import closest, listed, show


def pointer_digest(name: str, round_: int) -> str:
    """The digest in the pointer of a judge; its prefix tells the engine that the score is paid for."""
    return f"judge{digest(['judge', name, round_])[:19]}"


def of(validator: ValidatorPlan) -> int:
    """The round that a judge is planned for."""
    return int(validator.settings.get("round", 0))


def newest(run: RunLayout, name: str) -> int | None:
    """The last round in which a run was judged; None when it never was."""
    committed = run.judgement(name, 0).parent.glob("*/verdict.json")
    return max((int(path.parent.name) for path in committed if path.parent.name.isdecimal()), default=None)


def held(run: RunLayout, validator: ValidatorPlan) -> int | None:
    """The round of the verdict that counts for a judge as it is planned; None when that is still to be bought."""
    found = newest(run, validator.name)
    return None if found is None or found < of(validator) else found


def settled(layout: Layout, matrix: Matrix, asked: Collection[str] = ()) -> Matrix:
    """The plan with the round of each judge: that of the frozen plan, or the next one where `asked` names the judge.

    An act that was not finished is continued, not begun again, unless what the judge is told has changed since.

    Raises
    ------
    TrysquareError
        When `asked` names no judge.
    """
    judges = [name for name, validator in matrix.validators.items() if validator.mode == "judge"]
    for name in asked:
        if name not in judges:
            raise TrysquareError(
                f"rejudge: there is no judge {show(name)}{closest(name, judges)}; the judges are {listed(judges)}."
            )
    before = _frozen(layout)
    validators = {
        name: _in_round(validator, _round(layout, matrix, validator, before, name in asked))
        if name in judges
        else validator
        for name, validator in matrix.validators.items()
    }
    return replace(matrix, validators=validators)


def _in_round(validator: ValidatorPlan, round_: int) -> ValidatorPlan:
    settings = {**validator.settings, "round": round_}
    return replace(validator, digest=pointer_digest(validator.name, round_), settings=settings)


def _frozen(layout: Layout) -> Mapping[str, ValidatorPlan]:
    if not layout.plan.exists():
        return {}
    return {name: each for name, each in Matrix.load(layout.plan).validators.items() if each.mode == "judge"}


def _round(
    layout: Layout, matrix: Matrix, validator: ValidatorPlan, before: Mapping[str, ValidatorPlan], asked: bool
) -> int:
    runs = [layout.run(run.directory) for run in matrix.runs.values()]
    judged = [round_ for run in runs if (round_ := newest(run, validator.name)) is not None]
    known = before.get(validator.name)
    # Without the plan of the launch before, the oldest round: verdicts that are there are then never bought again.
    current = min(judged, default=0) if known is None else of(known)
    if not asked or not judged:
        return current
    unfinished = any(round_ < current for round_ in judged)
    same = known is not None and known.settings.get("criteria") == validator.settings["criteria"]
    return current if unfinished and same else max(current, *judged) + 1


def notes(matrix: Matrix, runs: Iterable[RunLayout | None], asked: Collection[str] = ()) -> list[str]:
    """What a launch says of verdicts: those it buys, and those that other criteria gave or that lack a metric.

    `runs` are those of the launch, None for one that is to be measured again.
    """
    runs, lines = list(runs), []
    recorded = [run for run in runs if run is not None and run.record.exists()]
    for validator in matrix.validators.values():
        if validator.mode != "judge":
            continue
        found = {run: round_ for run in recorded if (round_ := newest(run, validator.name)) is not None}
        stale = sum(round_ < of(validator) for round_ in found.values())
        if validator.name in asked:
            lines.append(f"REJUDGE: {counted(stale, 'verdict')} of {validator.name} to buy again")
        due = {
            ", to finish the round of a rejudge": 0 if validator.name in asked else stale,
            "": len(recorded) - len(found),
            ", once the runs are measured": len(runs) - len(recorded),
        }
        lines += [f"{title(validator)}: {counted(count, 'verdict')} to buy{why}" for why, count in due.items() if count]
        held = [_verdict(run, validator, round_) for run, round_ in found.items()]
        lines += _doubts(validator, [each for each in held if each["round"] >= of(validator)])
    return lines


def title(validator: ValidatorPlan) -> str:
    """What a judge is called."""
    return validator.name if validator.name == "judge" else f"judge {validator.name}"


def again(judges: Iterable[str]) -> str:
    """The setting that buys the verdicts of judges again."""
    names = list(judges)
    return f"--config rejudge={names[0]}" if len(names) == 1 else f"--config 'rejudge={json.dumps(names)}'"


def lacking(validator: ValidatorPlan, verdict: Mapping[str, Any]) -> str:
    """What is wrong with a verdict that lacks a metric; empty for one that lacks none."""
    absent = [metric for metric in validator.metrics if metric not in verdict["metrics"]]
    if not absent:
        return ""
    return f"its verdict lacks {', '.join(absent)}, declared since: {again([validator.name])} buys it again"


def _doubts(validator: ValidatorPlan, kept: Sequence[Mapping[str, Any]]) -> list[str]:
    other = sum(verdict.get("criteria") != validator.settings["criteria"] for verdict in kept)
    lacking = sorted({metric for verdict in kept for metric in validator.metrics if metric not in verdict["metrics"]})
    buy = f"; {again([validator.name])} buys them again"
    lines = []
    if other:
        lines.append(f"KEPT, though given by other criteria: {counted(other, 'verdict')} of {validator.name}{buy}")
    if lacking:
        lines.append(f"KEPT, though they lack {', '.join(lacking)}: verdicts of {validator.name}{buy}")
    return lines


def _verdict(run: RunLayout, validator: ValidatorPlan, round_: int) -> Mapping[str, Any]:
    try:
        return {**stored.judgement(run, validator.name, round_), "round": round_}
    except FileNotFoundError:
        raise ArchiveError(f"a verdict of {validator.name} on run {run.id} was removed meanwhile: try again.") from None

"""Rounds of judging: every judgement belongs to one, and only the act `rejudge` begins another."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from trysquare.errors import ArchiveError, TrysquareError
from trysquare.files import digest, read_json
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


def notes(layout: Layout, matrix: Matrix, asked: Collection[str] = ()) -> list[str]:
    """What a launch says of verdicts: those it buys, and those that other criteria gave or that lack a metric."""
    lines = []
    for validator in matrix.validators.values():
        if validator.mode != "judge":
            continue
        found = [verdict for run in matrix.runs.values() if (verdict := _verdict(layout.run(run.directory), validator))]
        stale = [verdict for verdict in found if verdict.get("round", 0) < of(validator)]
        kept = [verdict for verdict in found if verdict not in stale]
        if validator.name in asked:
            lines.append(f"REJUDGE: {counted(len(stale), 'verdict')} of {validator.name} to buy again")
        new = len(matrix.runs) - len(found)
        if new:
            lines.append(f"{validator.name}: {counted(new, 'verdict')} to buy, once the runs are measured")
        lines += _doubts(validator, kept)
    return lines


def _doubts(validator: ValidatorPlan, kept: Iterable[Mapping[str, Any]]) -> list[str]:
    kept = list(kept)
    other = sum(verdict.get("criteria") != validator.settings["criteria"] for verdict in kept)
    lacking = sorted({metric for verdict in kept for metric in validator.metrics if metric not in verdict["metrics"]})
    again = f"; --config rejudge={validator.name} buys them again"
    lines = []
    if other:
        lines.append(f"KEPT, though given by other criteria: {counted(other, 'verdict')} of {validator.name}{again}")
    if lacking:
        lines.append(f"KEPT, though they lack {', '.join(lacking)}: verdicts of {validator.name}{again}")
    return lines


def _verdict(run: RunLayout, validator: ValidatorPlan) -> Mapping[str, Any] | None:
    found = newest(run, validator.name)
    if found is None:
        return None
    try:
        verdict: Mapping[str, Any] = read_json(run.judgement(validator.name, found) / "verdict.json")
    except FileNotFoundError:
        raise ArchiveError(f"a verdict of {validator.name} on run {run.id} was removed meanwhile: try again.") from None
    return verdict

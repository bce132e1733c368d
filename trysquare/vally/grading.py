"""Grading trials or a directory offline, by the custom-metrics blocks of an evaluation."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trysquare import custom_metrics
from trysquare.custom_metrics import Root
from trysquare.vally.evaluation import TYPE, Block, Evaluation
from trysquare.vally.trials import Trial, read_trials

TURN = "custom-metrics is about a whole run and cannot grade a single turn: leave turn unset"


def grade_directory(evaluation: Evaluation, directory: Path) -> Iterator[dict[str, Any]]:
    """Grade a workspace by every block."""
    for block in evaluation.every:
        yield _line(block, [Root(directory, "workspace")])


def grade_trials(evaluation: Evaluation, results: Path) -> Iterator[dict[str, Any]]:
    """Grade each trial of a file by the blocks of its stimulus; relative directories are relative to the file.

    Raises
    ------
    TrialsError
        When a line cannot be read.
    """
    for trial in read_trials(results):
        for block in evaluation.blocks(trial.stimulus):
            yield {**_line(block, _roots(trial, results.parent)), "trial": _identity(trial)}


def _roots(trial: Trial, base: Path) -> list[Root]:
    named = ((trial.artifact_dir, "artifact dir"), (trial.work_dir, "workspace"))
    return [Root(base / directory, name) for directory, name in named if directory and "\0" not in directory]


def _line(block: Block, roots: Sequence[Root]) -> dict[str, Any]:
    graded = (
        custom_metrics.broken(block.assertions, TURN)
        if block.turn
        else custom_metrics.grade(block.path, block.assertions, roots)
    )
    return {
        "type": TYPE,
        "name": block.name,
        "passed": graded.passed,
        "score": graded.score,
        "evidence": graded.evidence,
        "details": [
            {"name": each.label, "metric": each.metric, "passed": each.passed, "evidence": each.evidence}
            for each in graded.outcomes
        ],
    }


def _identity(trial: Trial) -> Mapping[str, Any]:
    return {
        "itemId": trial.item,
        "evalName": trial.evaluation,
        "variant": trial.variant,
        "stimulus": trial.stimulus,
        "model": trial.model,
        "trialIndex": trial.index,
        "status": trial.status,
    }

"""Rules of `[[validation]]` and `[verdict]`: names, metrics, and what a verdict may rest on."""

import re
from collections.abc import Iterable, Sequence

from trysquare.custom_metrics import inside, normal
from trysquare.refusals import closest, listed, show
from trysquare.scenario.assertions import problems, produced
from trysquare.scenario.cells import JOIN, misread
from trysquare.scenario.certain import certainties, contradictions
from trysquare.scenario.draft import CONTROL, Draft, seen
from trysquare.scenario.validators import CustomMetrics, Judge

COLUMNS = frozenset(
    {"cell", "n", "in", "out", "turns", "duration", "tokens in", "tokens out", "duration (s)", "cache read", "cost"}
    | {"retries", "attempts"}
)
"""What the tables call their own columns."""

METRIC_CHARACTERS = 100
"""Characters a metric's name may have: it is the head of a column."""


def check_validation(draft: Draft) -> None:
    """Note validators that share a name or a metric, and metrics that nobody could answer."""
    names: dict[str, int] = {}
    owners: dict[str, str] = {}
    read: dict[str, str] = {}
    for position, validator in enumerate(draft.file.validation or (), 1):
        where = f"[[validation]] #{position}"
        name = validator.name or validator.mode
        if name in names:
            draft.refuse(
                f"{where} name",
                f"#{names[name]} is called {show(name)} too, and the name is that of the result file; "
                f'write another, for instance name = "{name}-{position}".',
            )
        names.setdefault(name, position)
        for metric in validator.metrics:
            same = read.setdefault(seen(metric), metric)
            if same != metric:
                draft.refuse(f"{where} metrics", f"{metric!a} and {same!a} look the same; rename one of the two.")
            _check_metric(draft, where, metric, name, owners)
        if isinstance(validator, CustomMetrics):
            _check_custom(draft, where, validator)
        elif isinstance(validator, Judge):
            draft.check_word(f"{where} provider", validator.provider)
            draft.check_word(f"{where} model", validator.model)
    task = draft.file.task
    if task is not None and task.test_command is None and "tests" in owners:
        draft.refuse(
            "[task] test_command",
            'missing, and a validator declares the metric "tests"; write the suite, for instance '
            'test_command = "python3 -m unittest".',
        )


def _check_metric(draft: Draft, where: str, metric: str, name: str, owners: dict[str, str]) -> None:
    if CONTROL.search(metric) or metric.strip() != metric:
        draft.refuse(f"{where} metrics", f"found {show(metric)}; write it without outer spaces and control characters.")
    if metric in COLUMNS:
        draft.refuse(
            f"{where} metrics",
            f"{show(metric)} is what the tables call a column of their own; rename the metric, for instance to "
            f"{show(f'{name}_{metric}')}.",
        )
    if len(metric) > METRIC_CHARACTERS:
        draft.refuse(
            f"{where} metrics",
            f"found {show(metric)}, which has {len(metric)} characters; write at most {METRIC_CHARACTERS}.",
        )
    if metric in owners:
        draft.refuse(
            f"{where} metrics",
            f"{show(metric)} is declared by {show(owners[metric])} already; rename one, for instance to "
            f"{show(f'{metric}_{name}')}.",
        )
    owners.setdefault(metric, name)


def _check_custom(draft: Draft, where: str, validator: CustomMetrics) -> None:
    if CONTROL.search(validator.path) or not inside(validator.path):
        draft.refuse(
            f"{where} path", f"found {show(validator.path)}; write a path relative to the tree that stays in it."
        )
    elif ".git" in normal(validator.path).lower().split("/"):
        draft.refuse(f"{where} path", f"found {show(validator.path)}, which is git's own; name a file of the tree.")
    elif re.search(r"[*?[]", validator.path):
        draft.refuse(f"{where} path", f"found {show(validator.path)}, and no pattern is searched; name one file.")
    for position, assertion in enumerate(validator.assertions):
        for problem in (*problems(assertion), *certainties(assertion)):
            draft.refuse(f"{where} assertions[{position}]", problem)
    prefix = f"{validator.name}." if validator.name is not None else ""
    if f"{prefix}passed" in validator.metrics:
        for problem in contradictions(validator.assertions):
            draft.refuse(f"{where} assertions", problem)
    known = [f"{prefix}{metric}" for metric in produced(validator.assertions)]
    for metric in validator.metrics:
        if metric not in known and not metric.startswith(f"{prefix}value."):
            draft.refuse(
                f"{where} metrics",
                f"{show(metric)} is nothing this validator answers{closest(metric, known)}; "
                f"it answers {listed(known)}.",
            )


def check_verdict(draft: Draft, cells: Sequence[str]) -> None:
    """Note a criterion nobody declares, and a reference that is no cell."""
    verdict, validators = draft.file.verdict, draft.file.validation
    if verdict is None:
        return
    if validators and draft.sound("validation"):
        declared = [metric for validator in validators for metric in validator.metrics]
        _check_declared(draft, "criterion", [verdict.criterion], declared)
        _check_declared(draft, "validity", verdict.validity, declared)
    if verdict.criterion in verdict.validity:
        draft.refuse(
            "[verdict] validity",
            f"holds {show(verdict.criterion)}, the criterion: only runs in which it is true would count, and no gap "
            "could be seen; take it out, or judge on another metric.",
        )
    if not cells or any(misread(axis, draft.file) for axis in draft.file.axes.grid):
        return
    reference = verdict.reference
    if not isinstance(reference, str):
        axes = draft.file.axes.grid
        if set(reference) != set(axes):
            draft.refuse(
                "[verdict] reference",
                f"found {show(reference)}, which must give a value for every axis and nothing else; the axes are "
                f"{listed(axes)}: write one value each, or the name of a cell.",
            )
            return
        reference = JOIN.join(reference[axis] for axis in axes)
    if reference not in cells:
        more = ", ..." if len(cells) > 20 else ""
        draft.refuse(
            "[verdict] reference",
            f"there is no cell {show(reference)}{closest(reference, cells)}; write one of {listed(cells[:20])}{more}.",
        )


def _check_declared(draft: Draft, name: str, used: Iterable[str], declared: Sequence[str]) -> None:
    for metric in used:
        if metric not in declared:
            draft.refuse(
                f"[verdict] {name}",
                f"no validator declares {show(metric)}{closest(metric, declared)}; write one of {listed(declared)}, "
                "or declare it.",
            )

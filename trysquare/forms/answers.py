"""The answers that people have given, as they are stored: evidence, one file per run and form."""

from collections.abc import Iterable, Mapping
from typing import Any

from trysquare.errors import TrysquareError
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import Matrix, ValidatorPlan
from trysquare.stored import verdict

PENDING = "pending: nobody has answered yet"
"""Why a metric of a form is unjudged until it is answered; such a metric leaves every table meanwhile."""


Given = Mapping[str, Mapping[str, Any]]
"""Values by run id and metric."""


class FormError(TrysquareError):
    """A form that cannot be written or taken."""


def stored(run: RunLayout, validator: ValidatorPlan) -> Mapping[str, Any]:
    """The answers of one form about one run, by metric."""
    try:
        metrics: Mapping[str, Any] = verdict(run, validator)["metrics"]
    except FileNotFoundError:
        return {}
    return metrics


def answered(run: RunLayout, validator: ValidatorPlan) -> dict[str, Any]:
    """What a form comes to as a verdict: its answers, and what is pending as unjudged."""
    metrics = dict(stored(run, validator))
    return {"metrics": metrics, "unjudged": {name: PENDING for name in validator.metrics if name not in metrics}}


def forms(matrix: Matrix) -> list[ValidatorPlan]:
    """The validators of a plan that are forms."""
    return [validator for validator in matrix.validators.values() if validator.mode == "form"]


def on_disk(layout: Layout, matrix: Matrix) -> Given:
    """Every answer that is archived, by run id and metric."""
    return {
        run.id: {
            name: value for each in forms(matrix) for name, value in stored(layout.run(run.directory), each).items()
        }
        for run in matrix.runs.values()
    }


def pending(matrix: Matrix, validator: ValidatorPlan, given: Given) -> tuple[int, int]:
    """How many answers of a form are pending, out of how many: one for each planned run and metric."""
    asked = len(matrix.runs) * len(validator.metrics)
    return asked - sum(metric in given.get(run, {}) for run in matrix.runs for metric in validator.metrics), asked


def pending_lines(matrix: Matrix, given: Given) -> list[str]:
    """For each form how many of its answers are pending; a form that is answered says nothing."""
    found = [(validator, *pending(matrix, validator, given)) for validator in forms(matrix)]
    return [f"{title(validator.name)}: {left} of {asked} pending" for validator, left, asked in found if left]


def title(name: str) -> str:
    """What a form is called."""
    return name if name == "form" else f"form {name}"


def kind(value: Any) -> str:
    """The type of an answer; empty when it can be none."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number" if abs(value) < float("inf") else ""
    return "a text" if isinstance(value, str) and value.strip() else ""


def differ(one: Any, other: Any) -> bool:
    """Whether two answers are not the same; true is not 1."""
    return bool(one != other or kind(one) != kind(other))


def kinds(values: Iterable[Any]) -> set[str]:
    """The types among several answers."""
    return {kind(value) for value in values}

"""What a matrix has cost so far, and the limit its scenario sets."""

from collections.abc import Iterator, Mapping
from typing import Any

from trysquare import stored
from trysquare.errors import TrysquareError
from trysquare.files import read_json, read_lines
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import Matrix, RunPlan


def refuse_over_budget(layout: Layout, matrix: Matrix, purpose: str) -> None:
    """Refuse to buy anything more, for whatever `purpose`, once `max_cost` is spent.

    Raises
    ------
    TrysquareError
        Saying what was spent.
    """
    limit = matrix.protocol.max_cost
    if limit is None:
        return
    cost = spent(layout, matrix.runs)
    if cost >= limit:
        raise TrysquareError(
            f"the matrix has spent {cost:g} of max_cost = {limit:g}: raise [protocol].max_cost to {purpose}."
        )


def spent(layout: Layout, runs: Mapping[str, RunPlan]) -> float:
    """What the runs of a matrix, their failed attempts and their judges cost, in the provider's currency.

    What has no price counts as nothing.
    """
    total = 0.0
    for planned in runs.values():
        total += sum((line.get("usage") or {}).get("cost") or 0.0 for line in read_lines(layout.attempts(planned.id)))
        run = layout.run(planned.directory)
        try:
            total += read_json(run.record)["usage"].get("cost") or 0.0
        except FileNotFoundError:
            continue
        total += sum(usage.get("cost") or 0.0 for usage in _judged(run))
    return total


def _judged(run: RunLayout) -> Iterator[Mapping[str, Any]]:
    """What every launch of a judge used for a run."""
    for path in run.validation.glob("*/judgements/[0-9]*/verdict.json"):
        yield stored.judgement(run, path.parents[2].name, int(path.parent.name))["usage"]
    for lines in run.validation.glob("*/attempts.jsonl"):
        for line in read_lines(lines):
            yield line["usage"]

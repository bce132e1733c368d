"""How much a launch does at once, and for how long: what the rules of the workflow ask the engine for."""

import math
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

from trysquare.matrix import Matrix

LOCAL_SURPLUS = 5
"""Jobs that use no core the engine runs at once on one machine, beyond its cores."""

SLOTS = "agent_slots"
"""The resource every run takes one of, whoever its provider is."""

MARGIN = 10
"""Minutes a job may take beside its agent or validator."""


def slots(matrix: Matrix) -> str:
    """The resource that the runs of one provider share, whichever scenario they belong to."""
    return f"{SLOTS}_{re.sub(r'[^A-Za-z0-9]', '_', matrix.agent.provider)}"


def limits(matrices: Iterable[Matrix]) -> dict[str, int]:
    """How many runs may be under way at once: for each provider, and in all.

    Scenarios that share a provider share the smallest of their concurrencies, so that no run is measured under more
    load than its scenario declares.
    """
    shared: dict[str, int] = {}
    for matrix in matrices:
        name, declared = slots(matrix), matrix.protocol.concurrency
        shared[name] = min(declared, shared.get(name, declared))
    return {SLOTS: sum(shared.values()) or 1, **shared}


def needs(names: Iterable[str], plan: Callable[[str], Matrix]) -> dict[str, Any]:
    """The resources of a measure job: a slot, and one of its provider when `names` holds several providers'."""

    def taken(name: str) -> Callable[[Any], int]:
        return lambda wildcards: int(slots(plan(wildcards.matrix)) == name)

    return {SLOTS: 1, **{name: taken(name) for name in names if name != SLOTS}}


def concurrency(workflow: Any, matrix: Matrix) -> int:
    """How many runs of a matrix this launch has under way at once, as far as the engine was told."""
    given = [provided(workflow, name) for name in (SLOTS, slots(matrix))]
    jobs = provided(workflow, "_cores") + LOCAL_SURPLUS if workflow.local_exec else provided(workflow, "_nodes")
    return min(*given, jobs)


def provided(workflow: Any, resource: str) -> int:
    """How much of a resource this launch may use at once; as much as there is when nobody said."""
    given = workflow.global_resources[resource]
    amount = getattr(given, "value", given)
    return sys.maxsize if amount is None else int(amount)


def minutes(matrix: Matrix, validator: str | None = None) -> int:
    """How long a job may take at the longest, for clusters that end what takes longer: a run, or a validator."""
    protocol, plan = matrix.protocol, matrix.validators.get(validator or "")
    seconds = protocol.timeout * protocol.attempts if plan is None else plan.timeout
    return math.ceil(seconds / 60) + MARGIN

"""Putting two sides next to each other, or saying why they cannot be."""

import re
from collections.abc import Iterable, Mapping

from trysquare.comparing.model import Comparison, CostRow, Difference, Side
from trysquare.errors import ArchiveError
from trysquare.files import DIGEST
from trysquare.measure import Run, counted, metric_kind, valid_runs
from trysquare.refusals import show
from trysquare.synthesis.building import KINDS
from trysquare.table import Measure, compare_rows, spend_measures
from trysquare.verdict import median, plain

NEAR_ZERO = 0.05
"""The share of valid runs with a retry above which the cost columns are set aside."""

NO_VERDICT = (
    "Rates alone, and no verdict: the runs of two matrices were not interleaved. Whether two configurations differ is "
    "established by one scenario that measures both."
)


class ComparisonError(ArchiveError):
    """Two matrices that measured different things, so that their rates say nothing next to each other."""


def compare(left: Side, right: Side) -> Comparison:
    """Two matrices side by side.

    Raises
    ------
    ComparisonError
        When they were measured at different etalons, with different versions of the agent, under different isolation,
        or when one of them is a rehearsal.
    """
    reasons = _reasons(left, right)
    if reasons:
        raise ComparisonError(f"{left.name} and {right.name} cannot be compared: {'; '.join(reasons)}.")
    tests, others = _metrics(left, right)
    set_aside = _set_aside(left, right)
    return Comparison(
        left=left.name,
        right=right.name,
        rehearsed=left.rehearsed,
        differences=tuple(_differences(left, right)),
        tests=tuple(tests),
        others=others,
        rows=tuple(compare_rows(left.by_cell, right.by_cell, tests)),
        costs=() if set_aside else tuple(_costs(left.by_cell, right.by_cell)),
        set_aside=set_aside,
        notes=tuple(_notes(left, right)),
    )


def _reasons(left: Side, right: Side) -> list[str]:
    """Why they cannot be compared; none when they can."""
    found = []
    if left.etalon != right.etalon:
        found.append(f"the etalon is {show(left.etalon)} on the left and {show(right.etalon)} on the right")
    # Different names are of different commits anyway: that says nothing of a tag.
    commits = (left.commits, right.commits) if left.etalon == right.etalon else ((), ())
    for what, one, other, remedy in (
        (f"{show(left.etalon)} is commit", *commits, "the tag was moved between them"),
        ("the agent is version", left.agents, right.agents, "measure both with one version"),
        ("the isolation is", left.isolations, right.isolations, "measure both under one"),
    ):
        if len({*one, *other}) > 1:
            found.append(f"{what} {_either(one)} on the left and {_either(other)} on the right, {remedy}")
    if left.rehearsed != right.rehearsed:
        which = "left" if left.rehearsed else "right"
        found.append(f"the {which} one is a rehearsal, in which a script played the model")
    return found


def _either(values: Iterable[str]) -> str:
    return " and ".join(value[:12] for value in values) or "not recorded"


def _metrics(left: Side, right: Side) -> tuple[list[str], dict[str, str]]:
    """The declared metrics that are yes or no on both sides, or on the one that has them, and what the others are."""
    tests, others = [], {}
    for name in dict.fromkeys((*left.declared, *right.declared)):
        kinds = [metric_kind(side.rows, name) for side in (left, right)]
        if set(kinds) <= {"rate", None} and "rate" in kinds:
            tests.append(name)
        else:
            said = dict.fromkeys(KINDS[kind] for kind in kinds)
            others[name] = " -> ".join(said)
    return tests, others


def _differences(left: Side, right: Side) -> list[Difference]:
    found = _unlike("", left.settings, right.settings)
    found += _unlike("validator ", *_digests(left, right))
    for cell in left.cells:
        if cell not in right.cells:
            continue
        one, other = left.cells[cell], right.cells[cell]
        if not (_is_whole(one) and _is_whole(other)):
            one, other = ({name: part for name, part in parts.items() if name == "thinking"} for parts in (one, other))
        found += _unlike(f"{cell}: ", _marks(one), _marks(other))
        prints = [side.fingerprints.get(cell, "") for side in (left, right)]
        if all(prints) and prints[0] != prints[1]:
            found.append(Difference(f"{cell}: declaration", prints[0][:6], prints[1][:6]))
    return found


def _is_whole(parts: Mapping[str, str]) -> bool:
    """Whether these are the digests of all a cell is made of, and not only what its runs tell of it."""
    return "prompt" in parts


def _digests(left: Side, right: Side) -> tuple[dict[str, str], dict[str, str]]:
    """The digests of the validators of both sides, without those that either side has and keeps no digest of."""
    unknown = {name for side in (left, right) for name, digest in side.validators.items() if digest is None}
    one, other = (
        {name: digest for name, digest in side.validators.items() if digest and name not in unknown}
        for side in (left, right)
    )
    return _marks(one), _marks(other)


def _marks(values: Mapping[str, str]) -> dict[str, str]:
    """Values as they are shown: digests shortened to what tells them apart."""
    return {name: value[:6] if re.fullmatch(DIGEST, value) else value for name, value in values.items()}


def _unlike(prefix: str, left: Mapping[str, str], right: Mapping[str, str]) -> list[Difference]:
    return [
        Difference(f"{prefix}{name}", left.get(name, "none"), right.get(name, "none"))
        for name in dict.fromkeys((*left, *right))
        if left.get(name) != right.get(name)
    ]


def _set_aside(left: Side, right: Side) -> str:
    """Why the cost columns must not be read, empty when they may be."""
    found = []
    for which, side in (("left", left), ("right", right)):
        counts = [run.usage.get("retries") for run in valid_runs(side.rows)]
        retried = sum(bool(count) for count in counts)
        if None in counts:
            found.append(f"on the {which} it is not known how often the provider's answers were retried")
        elif retried > NEAR_ZERO * len(counts):
            found.append(f"on the {which} {retried} of {len(counts)} runs were retried")
        if cut := sum(run.timed_out for run in valid_runs(side.rows)):
            found.append(f"on the {which} the time limit cut {counted(cut, 'run')} off")
    if not found:
        return ""
    return (
        f"Costs are set aside: {' and '.join(found)}. A retry replays the turn with the whole context, and a run "
        "that is cut off lacks its last request, so that what such a run took says something about the provider."
    )


def _costs(left: Mapping[str, tuple[Run, ...]], right: Mapping[str, tuple[Run, ...]]) -> list[CostRow]:
    runs = [run for side in (left, right) for of_cell in side.values() for run in of_cell]
    turns = Measure("turns", lambda run: run.usage.get("turns"), median, plain)
    measures = (*(measure for measure in spend_measures(runs) if not measure.name.startswith("duration")), turns)
    return [
        CostRow(cell, {each.name: (_median(left, cell, each), _median(right, cell, each)) for each in measures})
        for cell in dict.fromkeys((*left, *right))
    ]


def _median(by_cell: Mapping[str, tuple[Run, ...]], cell: str, measure: Measure) -> str:
    taken = (measure.extract(run) for run in valid_runs(by_cell.get(cell, ())))
    values = [value for value in taken if value is not None]
    return measure.render(median(values)) if values else "-"


def _notes(left: Side, right: Side) -> list[str]:
    of_left, of_right = _said_of(left, right), _said_of(right, left)
    found = [NO_VERDICT]
    for note in dict.fromkeys((*of_left, *of_right)):
        where = "both sides" if note in of_left and note in of_right else "the left" if note in of_left else "the right"
        found.append(f"On {where}: {note}")
    one, other = _digests(left, right)
    if scored := [name for name in one if name in other and one[name] != other[name]]:
        found.append(f"The two were not scored by the same validator ({', '.join(scored)}): rates may differ for that.")
    return found


def _said_of(side: Side, other: Side) -> list[str]:
    """What must be known of one side."""
    recorded = {
        "the commit of the etalon": side.commits,
        "the version of the agent": side.agents,
        "the isolation": side.isolations,
    }
    unknown = [what for what, values in recorded.items() if not values]
    stale = [cell for cell in side.by_cell if cell not in side.cells]
    kept = all(map(_is_whole, side.cells.values())) or not any(map(_is_whole, other.cells.values()))
    return [
        *([f"The matrix is incomplete: {side.standing}."] if side.standing else []),
        *([f"Not recorded, and so not compared: {', '.join(unknown)}."] if unknown else []),
        *([] if kept else ["It keeps no digests of contents, so that what cells are made of cannot be compared."]),
        *([f"The scenario no longer declares {', '.join(stale)}."] if stale else []),
        *side.notes,
    ]

"""What was done to a matrix, as the lines of its launches.jsonl say: launches, carries, discards."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trysquare.errors import ArchiveError
from trysquare.files import read_lines

Line = Mapping[str, Any]


def of_kind(lines: Iterable[Line], kind: str) -> list[Line]:
    """The lines of one kind, the oldest first."""
    return [line for line in lines if line.get("kind") == kind]


def latest(launches: Path) -> Line:
    """The last launch that launches.jsonl names, which is the one under way.

    Raises
    ------
    ArchiveError
        When it names none.
    """
    found = of_kind(read_lines(launches), "launch")
    if not found:
        raise ArchiveError(f"{launches} names no launch: start the matrix with the target `run`.")
    return found[-1]


def carried(lines: Sequence[Line], measured: Mapping[str, str | None]) -> dict[str, Line]:
    """The runs that were carried here, each with the line of the carry that brought it.

    `measured` maps run ids to the launch their record names: a run that a launch of this matrix measured was not
    carried, whatever an interrupted carry had announced.
    """
    own = {line.get("id") for line in of_kind(lines, "launch")}
    return {
        run: line
        for line in of_kind(lines, "carry")
        for run in line.get("runs", ())
        if run in measured and measured[run] not in own
    }


def loads(lines: Sequence[Line]) -> dict[str, Line]:
    """Every launch that a matrix knows of by its id, those of carried runs included."""
    foreign = [launch for line in of_kind(lines, "carry") for launch in line.get("launches", ())]
    return {str(line.get("id")): line for line in [*foreign, *of_kind(lines, "launch")]}


def carries(lines: Sequence[Line], measured: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """What state.json says of carried runs: how many came from where, and under which load they were measured."""
    known = loads(lines)
    counts: Counter[tuple[Any, ...]] = Counter()
    for run, line in carried(lines, measured).items():
        launch = known.get(str(measured[run]), {})
        counts[line["directory"], line["repetitions"], launch.get("concurrency"), launch.get("timeout")] += 1
    names = ("directory", "repetitions", "concurrency", "timeout")
    return [{**dict(zip(names, key, strict=True)), "runs": count} for key, count in counts.items()]


def discarded(lines: Iterable[Line]) -> set[str]:
    """Every run that was ever set aside."""
    return {run for line in of_kind(lines, "discard") for run in line.get("runs", ())}

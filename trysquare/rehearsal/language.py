"""The language of rehearsal scripts, which `docs/rehearsals.md` shows whole: what a scripted model answers, in TOML."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trysquare.rehearsal.reading import ScriptError, key, load

FAULTS = ("cut", "silence", "endless")
ANY = (0, 1e9)
COUNT = (1, 1e9)


@dataclass(frozen=True)
class Call:
    """One tool call; `arguments` reach the tool untouched."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Usage:
    """Tokens one turn reports: `input` without the `cached` ones."""

    input: int = key(default=1500, span=ANY)
    output: int = key(default=60, span=ANY)
    cached: int = key(default=0, span=ANY)


@dataclass(frozen=True)
class Turn:
    """One answer of the model, `pause` in milliseconds."""

    text: str = ""
    calls: tuple[Call, ...] = key("call", default=())
    usage: Usage = Usage()
    pause: float = key(default=0.0, span=ANY)


@dataclass(frozen=True)
class Price:
    """Cost of a million tokens."""

    input: float = key(default=1.0, span=ANY)
    output: float = key(default=2.0, span=ANY)
    cached: float = key(default=0.0, span=ANY)


@dataclass(frozen=True)
class Model:
    """What the provider says of its one model."""

    id: str | None = None
    price: Price = Price()
    spread: float = key(default=0.0, span=(0, 2))


@dataclass(frozen=True)
class Part:
    """A play as declared, with the runs it is for."""

    name: str
    turns: tuple[Turn, ...] = key("turn")
    cells: tuple[str, ...] | None = None
    repetitions: tuple[int, ...] | None = key(default=None, span=ANY)
    weight: float = key(default=1.0, span=ANY)


@dataclass(frozen=True)
class JudgePart(Part):
    """What a judge does, as declared, with the judges and runs it is for."""

    validators: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Scale:
    """Factors on the usage and the pauses of some cells."""

    cells: tuple[str, ...] | None = None
    input: float = key(default=1.0, span=ANY)
    output: float = key(default=1.0, span=ANY)
    cached: float = key(default=1.0, span=ANY)
    pause: float = key(default=1.0, span=ANY)


@dataclass(frozen=True)
class Fault:
    """What the provider does instead of answering, and to which requests."""

    answer: int | str
    cells: tuple[str, ...] | None = None
    repetitions: tuple[int, ...] | None = key(default=None, span=ANY)
    attempt: int | None = key(default=None, span=COUNT)
    request: int = key(default=1, span=COUNT)
    times: int | None = key(default=None, span=COUNT)
    heals_after: int | None = key(default=None, span=COUNT)
    validators: tuple[str, ...] | None = None

    def hits(self, attempt: int, request: int, job: int) -> bool:
        """Whether it meets the `request`-th request of the `attempt`-th launch in the `job`-th job, all from 1."""
        return (
            self.attempt in (None, attempt)
            and self.request <= request
            and (self.times is None or request < self.request + self.times)
            and (self.heals_after is None or job <= self.heals_after)
        )


@dataclass(frozen=True)
class Declared:
    """A whole script as written."""

    plays: tuple[Part, ...] = key("play")
    seed: int = 1
    record: bool = False
    model: Model = Model()
    scales: tuple[Scale, ...] = key("scale", default=())
    faults: tuple[Fault, ...] = key("fault", default=())
    judges: tuple[JudgePart, ...] = key("judge", default=())


def read(text: str, file: str) -> Declared:
    """What a script declares, or the one sentence that says why it cannot be played."""
    declared = load(Declared, text, file)
    _check(declared, file)
    return declared


def _check(declared: Declared, name: str) -> None:
    if not declared.plays:
        raise ScriptError(f"{name}: `play` is empty; write at least one [[play]].")
    _check_parts(declared.plays, f"{name}, play", answers=True)
    _check_parts(declared.judges, f"{name}, judge", answers=False)
    for number, fault in enumerate(declared.faults, 1):
        known = fault.answer in FAULTS if isinstance(fault.answer, str) else 400 <= fault.answer <= 599
        if not known:
            raise ScriptError(
                f"{name}, fault #{number}: `answer` is {fault.answer!r}; "
                f"write a status from 400 to 599, or one of {', '.join(FAULTS)}."
            )


def _check_parts(parts: Sequence[Part], where: str, *, answers: bool) -> None:
    """See that each part can be played; `answers` says that its last turn must be a text."""
    kind = where.rpartition(" ")[2]
    seen = set()
    for part in parts:
        here = f"{where} {part.name!r}"
        if part.name in seen:
            raise ScriptError(f"{here}: `name` is taken by an earlier {kind}; give each its own.")
        seen.add(part.name)
        if part.weight == 0:
            raise ScriptError(f"{here}: `weight` is 0, so it is never played; leave the {kind} out instead.")
        if not part.turns:
            raise ScriptError(f"{here}: `turn` is empty; write at least one [[{kind}.turn]].")
        _check_turns(part.turns, here, answers)


def _check_turns(turns: tuple[Turn, ...], where: str, answers: bool) -> None:
    for number, turn in enumerate(turns, 1):
        for call in turn.calls:
            _check_arguments(call, f"{where}, turn #{number}")
        if number < len(turns) and not turn.calls:
            raise ScriptError(
                f"{where}, turn #{number}: without a `call` the agent stops here and turn #{number + 1} is never "
                "played; add a call, or join the two."
            )
    if answers and (turns[-1].calls or not turns[-1].text):
        raise ScriptError(
            f"{where}, turn #{len(turns)}: the last turn must be the answer; give it a `text` and no `call`."
        )


def _check_arguments(call: Call, where: str) -> None:
    try:
        json.dumps(call.arguments, allow_nan=False)
    except (TypeError, ValueError):
        raise ScriptError(
            f"{where}: the `arguments` of {call.tool!r} hold a date or no finite number; write it as a string."
        ) from None

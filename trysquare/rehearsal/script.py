"""The script of a rehearsal: what a scripted model answers, in TOML.

::

    seed = 1                          # decides every draw, with the cell and the repetition
    record = false                    # true: the request log holds the requests' bodies too

    [model]
    id = "rehearsal-1-large"          # what the declared pattern resolves to (default: the declared model itself)
    price = { input = 1.0, output = 4.0, cached = 0.1 }      # per million tokens
    spread = 0.15                     # sigma of the lognormal jitter of every token count and pause (default 0)

    [[play]]                          # what the model does in one run
    name = "careful"
    cells = ["rule / *"]              # names or patterns of cells (default: every cell)
    repetitions = [0, 3]              # counted from 0 (default: every one)
    weight = 2                        # against the other plays that fit (default 1)

    [[play.turn]]                     # one answer of the model: a text, tool calls, or both
    text = "I will look first."
    call = [{ tool = "read", arguments = { path = "README.md" } }]
    usage = { input = 1500, output = 60, cached = 0 }        # these are the defaults, input without what is cached
    pause = 20                        # milliseconds before the answer (default 0)

    [[play.turn]]                     # the last turn calls nothing: it is the answer
    text = "Done."

    [[scale]]                         # factors on what plays cost in some cells; those that fit multiply
    cells = ["* / high"]
    input = 1.1
    output = 2.0
    cached = 1.0
    pause = 3.0

    [[fault]]                         # what the provider does instead of answering
    answer = 503                      # an HTTP status, or "cut" (mid-turn), "silence", "endless"
    cells = ["rule / high"]
    repetitions = [2]
    attempt = 1                       # in this launch of the agent only (default: in each)
    request = 2                       # from this request of the launch on (default 1)
    times = 1                         # for so many requests (default: for ever)
    heals_after = 1                   # gone once so many jobs have tried the run (default: never)

Which play a run gets: of the plays that fit its cell and repetition, those that name `repetitions` when there are any,
else all; one of these is drawn by weight. The first fault that fits a request wins. The arguments of a call are handed
to the agent's tool as they are written. A request past the last turn gets the last turn again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from random import Random
from typing import Any

from trysquare.rehearsal.reading import ScriptError, key, load

FAULTS = ("cut", "silence", "endless")


@dataclass(frozen=True)
class Call:
    """One tool call; `arguments` reach the tool untouched."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Usage:
    """Tokens one turn reports: `input` without the `cached` ones."""

    input: int = key(default=1500, least=0)
    output: int = key(default=60, least=0)
    cached: int = key(default=0, least=0)


@dataclass(frozen=True)
class Turn:
    """One answer of the model, `pause` in milliseconds."""

    text: str = ""
    calls: tuple[Call, ...] = key("call", default=())
    usage: Usage = Usage()
    pause: float = key(default=0.0, least=0)


@dataclass(frozen=True)
class Price:
    """Cost of a million tokens."""

    input: float = key(default=1.0, least=0)
    output: float = key(default=2.0, least=0)
    cached: float = key(default=0.0, least=0)


@dataclass(frozen=True)
class Model:
    """What the provider says of its one model."""

    id: str | None = None
    price: Price = Price()
    spread: float = key(default=0.0, least=0)


@dataclass(frozen=True)
class Part:
    """A play as declared, with the runs it is for."""

    name: str
    turns: tuple[Turn, ...] = key("turn")
    cells: tuple[str, ...] | None = None
    repetitions: tuple[int, ...] | None = key(default=None, least=0)
    weight: float = key(default=1.0, least=0)


@dataclass(frozen=True)
class Scale:
    """Factors on the usage and the pauses of some cells."""

    cells: tuple[str, ...] | None = None
    input: float = key(default=1.0, least=0)
    output: float = key(default=1.0, least=0)
    cached: float = key(default=1.0, least=0)
    pause: float = key(default=1.0, least=0)


@dataclass(frozen=True)
class Fault:
    """What the provider does instead of answering, and to which requests."""

    answer: int | str
    cells: tuple[str, ...] | None = None
    repetitions: tuple[int, ...] | None = key(default=None, least=0)
    attempt: int | None = key(default=None, least=1)
    request: int = key(default=1, least=1)
    times: int | None = key(default=None, least=1)
    heals_after: int | None = key(default=None, least=1)

    def hits(self, attempt: int, request: int, job: int) -> bool:
        """Whether it meets the `request`-th request of the `attempt`-th launch in the `job`-th job, all from 1."""
        return (
            self.attempt in (None, attempt)
            and self.request <= request
            and (self.times is None or request < self.request + self.times)
            and (self.heals_after is None or job <= self.heals_after)
        )


@dataclass(frozen=True)
class Play:
    """What one run meets: every draw made, every factor applied."""

    name: str
    turns: tuple[Turn, ...]
    faults: tuple[Fault, ...] = ()

    def turn(self, answered: int) -> Turn:
        """The turn due in a conversation the model has answered `answered` times."""
        return self.turns[min(answered, len(self.turns) - 1)]

    def fault(self, attempt: int, request: int, job: int = 1) -> Fault | None:
        """The fault that meets a request, if any; see `Fault.hits`."""
        return next((fault for fault in self.faults if fault.hits(attempt, request, job)), None)


@dataclass(frozen=True)
class _Text:
    plays: tuple[Part, ...] = key("play")
    seed: int = 1
    record: bool = False
    model: Model = Model()
    scales: tuple[Scale, ...] = key("scale", default=())
    faults: tuple[Fault, ...] = key("fault", default=())


@dataclass(frozen=True)
class Script:
    """A parsed script. It holds no state: the same cell and repetition always meet the same play."""

    name: str
    plays: tuple[Part, ...]
    seed: int = 1
    record: bool = False
    model: Model = Model()
    scales: tuple[Scale, ...] = ()
    faults: tuple[Fault, ...] = ()

    @classmethod
    def parse(cls, text: str, name: str = "rehearsal.toml") -> "Script":
        """The script a TOML text says; `name` is what refusals call it.

        Raises
        ------
        ScriptError
            When the text is not TOML, has an unknown key or a wrong type, or declares something that cannot be played.
        """
        told = load(_Text, text, name)
        _check(told, name)
        return cls(name, told.plays, told.seed, told.record, told.model, told.scales, told.faults)

    @classmethod
    def default(cls) -> "Script":
        """What is played for a scenario without a script: a look at the tree, one small file, an answer."""
        return cls.parse(DEFAULT, "the default rehearsal script")

    def model_id(self, declared: str) -> str:
        """The id the provider lists, which the declared pattern must resolve to.

        Raises
        ------
        ScriptError
            When the script names an id that the pattern is no part of, so that the agent would find no model.
        """
        named = self.model.id
        if named is not None and declared.lower() not in named.lower():
            raise ScriptError(
                f"{self.name}: `model.id` is {named!r}, which the scenario's model {declared!r} does not resolve to; "
                "write an id that contains it, or leave `id` out."
            )
        return named or declared

    def play(self, cell: str, repetition: int) -> Play:
        """The play of one run, drawn from the seed, the cell and the repetition alone.

        Raises
        ------
        ScriptError
            When no play fits.
        """
        fitting = [part for part in self.plays if _fits(part, cell, repetition)]
        chosen = [part for part in fitting if part.repetitions is not None] or fitting
        if not chosen:
            raise ScriptError(
                f"{self.name}: no [[play]] fits repetition {repetition} of cell {cell!r}; "
                "add one without `cells` and `repetitions`."
            )
        draw = Random(f"{self.seed}/{cell}/{repetition}")
        [part] = draw.choices(chosen, [part.weight for part in chosen])
        scales = [scale for scale in self.scales if _named(scale.cells, cell)]
        turns = tuple(_scaled(turn, scales, draw, self.model.spread) for turn in part.turns)
        return Play(part.name, turns, tuple(fault for fault in self.faults if _fits(fault, cell, repetition)))


def _named(patterns: tuple[str, ...] | None, cell: str) -> bool:
    return patterns is None or any(cell == pattern or fnmatchcase(cell, pattern) for pattern in patterns)


def _fits(entry: Part | Fault, cell: str, repetition: int) -> bool:
    return _named(entry.cells, cell) and (entry.repetitions is None or repetition in entry.repetitions)


def _scaled(turn: Turn, scales: list[Scale], draw: Random, spread: float) -> Turn:
    values = {"input": turn.usage.input, "output": turn.usage.output, "cached": turn.usage.cached, "pause": turn.pause}
    for name in values:
        jitter = draw.lognormvariate(0, spread)
        for scale in scales:
            jitter *= getattr(scale, name)
        values[name] *= jitter
    pause = values.pop("pause")
    return replace(turn, usage=Usage(**{name: round(value) for name, value in values.items()}), pause=pause)


def _check(told: _Text, name: str) -> None:
    if not told.plays:
        raise ScriptError(f"{name}: `play` is empty; write at least one [[play]].")
    seen = set()
    for part in told.plays:
        where = f"{name}, play {part.name!r}"
        if part.name in seen:
            raise ScriptError(f"{where}: `name` is taken by an earlier play; give each its own.")
        seen.add(part.name)
        if part.weight == 0:
            raise ScriptError(f"{where}: `weight` is 0, so it is never played; leave the play out instead.")
        _check_turns(part.turns, where)
    for number, fault in enumerate(told.faults, 1):
        known = fault.answer in FAULTS if isinstance(fault.answer, str) else 400 <= fault.answer <= 599
        if not known:
            words = ", ".join(f'"{word}"' for word in FAULTS)
            raise ScriptError(
                f"{name}, fault #{number}: `answer` is {fault.answer!r}; write a status from 400 to 599, or one of {words}."
            )


def _check_turns(turns: tuple[Turn, ...], where: str) -> None:
    if not turns:
        raise ScriptError(f"{where}: `turn` is empty; write at least one [[play.turn]].")
    for number, turn in enumerate(turns, 1):
        if number < len(turns) and not turn.calls:
            raise ScriptError(
                f"{where}, turn #{number}: without a `call` the agent stops here and turn #{number + 1} is never played; "
                "add a call, or join the two."
            )
    if turns[-1].calls or not turns[-1].text:
        raise ScriptError(
            f"{where}, turn #{len(turns)}: the last turn must be the answer; give it a `text` and no `call`."
        )


DEFAULT = """\
# Played for a scenario that has no script of its own.
[[play]]
name = "note"

[[play.turn]]
text = "I look at what is here."
call = [{ tool = "bash", arguments = { command = "ls" } }]
usage = { input = 1500, output = 40 }

[[play.turn]]
text = "I leave a note."
call = [{ tool = "write", arguments = { path = "NOTES-rehearsal.md", content = "A scripted model was here.\\n" } }]
usage = { input = 150, output = 60, cached = 1500 }

[[play.turn]]
text = "A rehearsal: a scripted model left NOTES-rehearsal.md and did nothing else."
usage = { input = 100, output = 30, cached = 1650 }
"""

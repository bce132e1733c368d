"""What one run of a rehearsal meets: a play drawn from the script, deterministic in seed, cell and repetition."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random

from trysquare.refusals import closest, listed, show
from trysquare.rehearsal.language import Call, Declared, Fault, Part, Price, Scale, Turn, Usage, read
from trysquare.rehearsal.reading import ScriptError

FILE = "rehearsal.toml"
"""The name of a script beside its scenario."""

_DEFAULT = Path(__file__).with_name("default.toml")


def path_for(scenario: Path) -> Path:
    """The script a scenario file is rehearsed with: its own, else the `FILE` beside it, else the default script."""
    beside = (scenario.with_name(f"{scenario.stem}.{FILE}"), scenario.with_name(FILE))
    return next((path for path in beside if path.is_file()), _DEFAULT)


def text_for(scenario: Path) -> tuple[str, str]:
    """The text of the script a scenario file is rehearsed with, and its name.

    Raises
    ------
    ScriptError
        When it is no UTF-8.
    """
    path = path_for(scenario)
    try:
        return path.read_bytes().decode("utf-8"), str(path)
    except UnicodeDecodeError as error:
        raise ScriptError(f"{path} is not UTF-8 (byte {error.start + 1}): write it as UTF-8.") from None


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
class Script:
    """A parsed script. It holds no state: the same cell and repetition always meet the same play."""

    name: str
    declared: Declared

    @classmethod
    def parse(cls, text: str, name: str = FILE) -> "Script":
        """The script a TOML text says; `name` is what refusals call it.

        Raises
        ------
        ScriptError
            When the text is not TOML, has an unknown key or a wrong type, or declares something that cannot be played.
        """
        return cls(name, read(text, name))

    @classmethod
    def default(cls) -> "Script":
        """What is played for a scenario without a script: a look at the tree, one small file, an answer."""
        return cls.parse(_DEFAULT.read_text(encoding="utf-8"), "the default rehearsal script")

    @property
    def record(self) -> bool:
        """Whether the request log holds bodies."""
        return self.declared.record

    @property
    def price(self) -> Price:
        """What a million tokens cost."""
        return self.declared.model.price

    def model_id(self, pattern: str) -> str:
        """The id the provider lists, which the declared `pattern` must resolve to.

        Raises
        ------
        ScriptError
            When the script names an id that the pattern is no part of, so that the agent would find no model.
        """
        named = self.declared.model.id
        if named is not None and pattern.lower() not in named.lower():
            raise ScriptError(
                f"{self.name}: `model.id` is {named!r}, which the scenario's model {pattern!r} does not resolve to; "
                "write an id that contains it, or leave `id` out."
            )
        return named or pattern

    def check(self, cells: Collection[str], repetitions: int) -> None:
        """See that every run of a scenario has a play, and that every entry is for one of its cells.

        Raises
        ------
        ScriptError
            Naming the first that has none.
        """
        entries: Mapping[str, Sequence[Part | Scale | Fault]]
        entries = {
            "play": self.declared.plays,
            "scale": self.declared.scales,
            "fault": self.declared.faults,
            "judge": self.declared.judges,
        }
        for kind, declared in entries.items():
            for number, entry in enumerate(declared, 1):
                if not any(_named(entry.cells, cell) for cell in cells):
                    raise ScriptError(
                        f"{self.name}, {kind} #{number}: `cells` fits no cell of the scenario; "
                        f"these are {', '.join(cells)}."
                    )
        for cell in cells:
            for repetition in range(repetitions):
                self._candidates(cell, repetition)

    def check_tools(self, known: Collection[str]) -> None:
        """See that every play calls tools that the agent has; `known` are those.

        Raises
        ------
        ScriptError
            Naming the first call of another one, which the agent would answer with an error.
        """
        for kind, parts, tools in (("play", self.declared.plays, known), ("judge", self.declared.judges, ("verdict",))):
            for number, part in enumerate(parts, 1):
                for call in (call for turn in part.turns for call in turn.calls):
                    if call.tool not in tools:
                        raise ScriptError(
                            f"{self.name}, {kind} #{number}: the agent has no tool {show(call.tool)}"
                            f"{closest(call.tool, tools)}; the tools are {listed(tools)}."
                        )

    def play(self, cell: str, repetition: int) -> Play:
        """The play of one run, drawn from the seed, the cell and the repetition alone.

        Raises
        ------
        ScriptError
            When no play fits.
        """
        draw = Random(f"{self.declared.seed}/{cell}/{repetition}")
        part = _drawn(self._candidates(cell, repetition), draw)
        scales = [scale for scale in self.declared.scales if _named(scale.cells, cell)]
        turns = tuple(_scaled(turn, scales, draw, self.declared.model.spread) for turn in part.turns)
        faults = [fault for fault in self.declared.faults if fault.validators is None]
        return Play(part.name, turns, tuple(fault for fault in faults if _fits(fault, cell, repetition)))

    def judgement(self, validator: str, keys: Sequence[str], cell: str, repetition: int) -> Play:
        """What a judge does with one run; where no [[judge]] fits, it calls true what each of `keys` asks."""
        fitting = [part for part in self.declared.judges if _named(part.validators, validator)]
        chosen = _preferred(fitting, cell, repetition)
        faults = [fault for fault in self.declared.faults if fault.validators and _named(fault.validators, validator)]
        met = tuple(fault for fault in faults if _fits(fault, cell, repetition))
        if not chosen:
            answers = {key: {"value": True, "reason": "A rehearsal: nobody looked."} for key in keys}
            return Play("rehearsed", (Turn(calls=(Call("verdict", answers),)),), met)
        draw = Random(f"{self.declared.seed}/{cell}/{repetition}/{validator}")
        part = _drawn(chosen, draw)
        return Play(part.name, tuple(_scaled(turn, [], draw, self.declared.model.spread) for turn in part.turns), met)

    def _candidates(self, cell: str, repetition: int) -> Sequence[Part]:
        chosen = _preferred(self.declared.plays, cell, repetition)
        if not chosen:
            raise ScriptError(
                f"{self.name}: no [[play]] fits repetition {repetition} of cell {cell!r}; "
                "add one without `cells` and `repetitions`."
            )
        return chosen


def _preferred(parts: Iterable[Part], cell: str, repetition: int) -> Sequence[Part]:
    """The parts for one run: those that name its repetition when there are any."""
    fitting = [part for part in parts if _fits(part, cell, repetition)]
    return [part for part in fitting if part.repetitions is not None] or fitting


def _drawn(parts: Sequence[Part], draw: Random) -> Part:
    [part] = draw.choices(parts, [part.weight for part in parts])
    return part


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

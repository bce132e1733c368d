"""The custom-metrics blocks of an evaluation, each with the stimuli it grades."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from trysquare.custom_metrics import DEFAULT_PATH
from trysquare.errors import TrysquareError
from trysquare.refusals import Refusals, closest, listed, show
from trysquare.scenario.assertions import Assertion, problems
from trysquare.vally.yaml12 import read_yaml

TYPE = "custom-metrics"
SECTIONS = ("config", "defaults")
"""Sections that may hold `graders` for every stimulus, or settings of a type of grader under its name."""

KEYS = ("path", "assertions", "turn")


class EvaluationError(TrysquareError):
    """An evaluation whose custom-metrics blocks cannot be graded."""


@dataclass(frozen=True)
class Block:
    """One custom-metrics grader; `turn` says that it asks for a turn, which makes it fail whatever the file holds."""

    name: str
    path: str
    assertions: tuple[Mapping[str, Any], ...]
    turn: bool = False


@dataclass(frozen=True)
class Evaluation:
    """What an evaluation grades with custom-metrics: `common` in every stimulus, `own` in one by its name."""

    name: str
    common: tuple[Block, ...]
    own: Mapping[str, tuple[Block, ...]]

    def blocks(self, stimulus: str | None) -> tuple[Block, ...]:
        """The blocks that grade a trial of a stimulus."""
        return (*self.common, *self.own.get(stimulus or "", ()))

    @property
    def every(self) -> tuple[Block, ...]:
        """Every block, once."""
        return (*self.common, *(block for blocks in self.own.values() for block in blocks))


def load(path: Path) -> Evaluation:
    """The custom-metrics blocks of an evaluation file.

    Raises
    ------
    YamlError, EvaluationError
        With one line for each problem.
    """
    data = read_yaml(path)
    refusals = Refusals(path, EvaluationError)
    if not isinstance(data, Mapping):
        refusals.add("", f"holds {show(data)}, where an evaluation with `graders` or `stimuli` belongs.")
        refusals.settle()
    settings = _settings(data, refusals)
    common = [*_blocks(data.get("graders"), "graders", settings, refusals)]
    for section in SECTIONS:
        held = data.get(section)
        if isinstance(held, Mapping):
            common += _blocks(held.get("graders"), f"{section}.graders", settings, refusals)
    own: dict[str, tuple[Block, ...]] = {}
    for where, stimulus in _items(data.get("stimuli"), "stimuli", refusals):
        name = str(stimulus.get("name", stimulus.get("id", where)))
        if name in own:
            refusals.add(where, f"there is another stimulus {show(name)}; give each its own name.")
        own[name] = tuple(_blocks(stimulus.get("graders"), f"{where}.graders", settings, refusals))
    found = Evaluation(str(data.get("name", path.stem)), tuple(common), own)
    if not refusals.problems and not found.every:
        refusals.add("", f"has no grader of type {TYPE}; there is nothing to grade here.")
    refusals.settle()
    return found


def _settings(data: Mapping[str, Any], refusals: Refusals) -> dict[str, Any]:
    """What a section says of every custom-metrics block; a block's own config wins."""
    merged: dict[str, Any] = {}
    for section in SECTIONS:
        held = data.get(section)
        shared = held.get(TYPE) if isinstance(held, Mapping) else None
        if isinstance(shared, Mapping):
            merged |= shared
        elif shared is not None:
            refusals.add(f"{section}.{TYPE}", f"found {show(shared)}; write its keys below it.")
    return merged


def _items(value: Any, where: str, refusals: Refusals) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if value is None:
        return
    if not isinstance(value, Sequence) or isinstance(value, str):
        refusals.add(where, f"found {show(value)}; write a list.")
        return
    for position, item in enumerate(value):
        if isinstance(item, Mapping):
            yield f"{where}[{position}]", item
        else:
            refusals.add(f"{where}[{position}]", f"found {show(item)}; write its keys below it.")


def _blocks(value: Any, where: str, settings: Mapping[str, Any], refusals: Refusals) -> Iterator[Block]:
    for here, grader in _items(value, where, refusals):
        if grader.get("type") != TYPE:
            continue
        config = grader.get("config") or {}
        if not isinstance(config, Mapping):
            refusals.add(f"{here}.config", f"found {show(config)}; write path and assertions below it.")
            continue
        if stray := [name for name in ("path", "assertions") if name in grader]:
            refusals.add(here, f"{' and '.join(stray)} stand beside config; put them below config:.")
        yield _block(str(grader.get("name", TYPE)), {**settings, **config}, "turn" in grader, here, refusals)


def _block(name: str, config: Mapping[str, Any], turn: bool, where: str, refusals: Refusals) -> Block:
    for key in config:
        if key not in KEYS:
            refusals.add(
                f"{where}.config", f"unknown key {show(key)}{closest(str(key), KEYS)}; known are {listed(KEYS)}."
            )
    path = config.get("path", DEFAULT_PATH)
    if not isinstance(path, str):
        refusals.add(f"{where}.config.path", f"found {show(path)}; write a text, or quote it.")
    asserted = config.get("assertions")
    if asserted is None or asserted == []:
        refusals.add(f"{where}.config.assertions", "has no assertion; write at least one.")
    assertions = [
        made
        for here, item in _items(asserted, f"{where}.config.assertions", refusals)
        if (made := _assertion(here, item, refusals)) is not None
    ]
    return Block(name, str(path), tuple(assertions), turn or "turn" in config)


def _assertion(where: str, item: Mapping[str, Any], refusals: Refusals) -> Mapping[str, Any] | None:
    for key, value in item.items():
        if value is None:
            refusals.add(f"{where}.{key}", "found null; write a value, or take the line out.")
    known = list(Assertion.model_fields)
    try:
        made = Assertion.model_validate(dict(item))
    except ValidationError as error:
        for problem in error.errors(include_url=False):
            key = ".".join(map(str, problem["loc"]))
            if problem["type"] == "extra_forbidden":
                refusals.add(where, f"unknown key {show(key)}{closest(key, known)}; known are {listed(known)}.")
            elif problem["type"] == "missing":
                refusals.add(where, f"names no {key}; write the key of the file it is about.")
            elif problem["input"] is not None:
                refusals.add(f"{where}.{key}", f"found {show(problem['input'])}, expected {_expected(problem['msg'])}.")
        return None
    for said in problems(made):
        refusals.add(where, said)
    return made.model_dump(exclude_none=True)


def _expected(message: str) -> str:
    """What a type error of the model expected, as the end of a sentence."""
    return message.removeprefix("Input should be ").replace("a valid boolean", "true or false").replace("valid ", "")

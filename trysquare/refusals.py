"""Saying what is wrong with an input: collected, shown together, each naming a file, a key and a way out."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trysquare.errors import TrysquareError, refused

SHOWN = 60
"""Characters of a value that a refusal repeats."""

LISTED = 40
"""Problems that one refusal lists."""


def closest(name: str, known: Iterable[str]) -> str:
    """A parenthetical for a refusal when `name` looks like a misspelt one of `known`, else the empty text.

    The cut-off is difflib's own, so that a far miss stays silent.
    """
    import difflib

    found = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {show(found[0])}?)" if found else ""


def misspelt(missing: Iterable[str], answered: Iterable[str], declared: Iterable[str]) -> str:
    """The end of a sentence on missing metrics where one that was answered and not declared looks like one of them."""
    import difflib

    spare = sorted({*answered} - {*declared})
    pairs = [(found, name) for name in missing for found in difflib.get_close_matches(name, spare, n=1)]
    return "".join(f"; {found!r} is not declared, did you mean {name!r}?" for found, name in pairs)


def show(value: Any) -> str:
    """A value as a refusal repeats it: quoted, on one line, cut when long."""
    text = _visible(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def _visible(text: str) -> str:
    """A text with everything escaped that a terminal would act on or hide."""
    return "".join(letter if letter.isprintable() else _escaped(ord(letter)) for letter in text)


def _escaped(number: int) -> str:
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def listed(names: Iterable[str]) -> str:
    """Several names, quoted, for the end of a refusal."""
    return ", ".join(show(name) for name in names) or "none"


def key(name: str) -> str:
    """One key as TOML writes it."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _visible(json.dumps(name, ensure_ascii=False))


def toml(value: Any) -> str:
    """A value as TOML writes it on one line, for the remedy of a refusal."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key(name)} = {toml(item)}" for name, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def located(path: Sequence[str | int], depth: int = 1) -> str:
    """A place in a TOML file: the header of its table (`depth` keys long), then the key.

    An index right after the first name is an array of tables: `[[validation]] #1 metrics`.
    """
    if len(path) > 1 and isinstance(path[1], int):
        head, rest = f"[[{path[0]}]] #{path[1] + 1}", path[2:]
    else:
        head, rest = "[" + ".".join(key(str(part)) for part in path[:depth]) + "]", path[depth:]
    text = ""
    for part in rest:
        text += f"[{part}]" if isinstance(part, int) else f".{key(part)}"
    return f"{head} {text.removeprefix('.')}".rstrip()


class Refusals:
    """The problems of one file, collected so that all of them are shown at once."""

    def __init__(self, file: str | Path, error: type[TrysquareError]) -> None:
        self.file = str(file)
        self.error = error
        self.problems: list[str] = []

    def add(self, where: str, text: str) -> None:
        """Note a problem at one place of the file; the text says what was found and what to write instead."""
        problem = f"{self.file}: {where}: {text}" if where else f"{self.file}: {text}"
        if problem not in self.problems:
            self.problems.append(problem)

    def settle(self) -> None:
        """Raise when anything was noted.

        Raises
        ------
        TrysquareError
            Of the kind given at construction; its text has one line per problem.
        """
        if self.problems:
            raise self.error(together(self.problems))


def together(problems: Sequence[str]) -> str:
    """Several problems as the text of one error, one line each."""
    more = len(problems) - LISTED
    return "\n".join([*problems[:LISTED], *([f"... and {more} more of the same kind"] if more > 0 else [])])


class Gathering:
    """The refusals of several steps, shown together once all of them were tried."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    @contextmanager
    def part(self) -> Iterator[None]:
        """Try one step; what it refuses is noted, and so is a path that the system refuses."""
        try:
            yield
        except TrysquareError as error:
            self._note(str(error))
        except OSError as error:
            if not (sentence := refused(error)):
                raise
            self._note(sentence)

    def _note(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)

    def settle(self, error: type[TrysquareError]) -> None:
        """Raise when any step refused.

        Raises
        ------
        TrysquareError
            Of the kind given; its text has every refusal.
        """
        if self.problems:
            raise error(together(self.problems))

"""A scenario file while it is being checked."""

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from trysquare.refusals import Refusals, show
from trysquare.scenario.language import ScenarioFile

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that no name, path or pattern may hold."""


WORD_BYTES = 100
"""Bytes a name may have that is one part of the name of a directory."""


@dataclass(frozen=True)
class Draft:
    """The sections of a file that have the right shape, the names of the others, and the problems noted so far.

    `base` is the directory that paths of the file are relative to.
    """

    file: ScenarioFile
    broken: frozenset[str]
    refusals: Refusals
    base: Path = Path()

    def sound(self, *sections: str) -> bool:
        """Whether none of these sections was left out because of its shape."""
        return self.broken.isdisjoint(sections)

    def refuse(self, where: str, text: str) -> None:
        """Note a problem."""
        self.refusals.add(where, text)

    def check_word(self, where: str, value: str) -> None:
        """A value that becomes an argument or a part of a directory name."""
        if CONTROL.search(value) or value.startswith("-") or value.strip() != value:
            self.refuse(
                where, f"found {show(value)}; write it without a leading dash, outer spaces and control characters."
            )

    def check_size(self, where: str, value: str) -> None:
        """A value that becomes a part of the name of a directory."""
        size = len(value.encode())
        if size > WORD_BYTES:
            self.refuse(where, f"found {show(value)}, which has {size} bytes; write at most {WORD_BYTES}.")


def seen(name: str) -> str:
    """A name as a reader sees it: composed, one kind of space, nothing that has no shape."""
    shaped = (letter for letter in name if unicodedata.category(letter) != "Cf")
    return unicodedata.normalize("NFC", "".join(" " if letter.isspace() else letter for letter in shaped))


def escapes(path: str) -> bool:
    """Whether a path is absolute, climbs, is empty or cannot be a path at all."""
    pure = PurePosixPath(path)
    return pure.is_absolute() or ".." in pure.parts or bool(CONTROL.search(path)) or not pure.parts

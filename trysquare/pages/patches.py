"""A patch as a page shows it: file by file, with what was added and taken away."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

BYTES = 2 * 10**6
"""Bytes of a patch that are read for its page; all of it is in diff.patch."""

LINES = 4000
"""Lines of a patch that its page shows."""

WIDTH = 500
"""Characters of a line that its page shows."""

KINDS = {"+": "added", "-": "removed", "@": "place", "\\": "told"}
"""What a line of a patch is, by its first character; any other one is as it was."""

TOLD = re.compile(r"(new|deleted|old) (file )?mode|rename|copy|similarity|Binary files")
"""Lines above the changes of a file that say something to a reader."""


@dataclass(frozen=True)
class Line:
    """One line; `kind` is `added`, `removed`, `place`, `told` or empty."""

    kind: str
    text: str


@dataclass(frozen=True)
class Change:
    """What happened to one file."""

    name: str
    lines: tuple[Line, ...]

    @property
    def added(self) -> int:
        """How many lines it gained, as far as they are shown."""
        return sum(line.kind == "added" for line in self.lines)

    @property
    def removed(self) -> int:
        """How many lines it lost, as far as they are shown."""
        return sum(line.kind == "removed" for line in self.lines)


@dataclass(frozen=True)
class Patch:
    """The files of a patch; `whole` is false when more of it is in diff.patch than is shown."""

    changes: tuple[Change, ...] = ()
    whole: bool = True


def read(path: Path) -> Patch:
    """The patch in a file, cut where it is too large for a page; none where there is no file."""
    try:
        with path.open("rb") as file:
            data = file.read(BYTES + 1)
    except FileNotFoundError:
        return Patch()
    lines = data[:BYTES].decode("utf-8", "backslashreplace").split("\n")
    kept = lines[:LINES]
    return Patch(tuple(_changes(kept)), len(data) <= BYTES and len(lines) == len(kept))


def _changes(lines: list[str]) -> Iterator[Change]:
    starts = [number for number, line in enumerate(lines) if line.startswith("diff --git ")]
    for start, end in pairwise([*starts, len(lines)]):
        yield Change(_name(lines[start]), tuple(_lines(lines[start + 1 : end])))


def _name(header: str) -> str:
    """The file of a header `diff --git a/x b/x`; both names of one that was renamed."""
    names = header.removeprefix("diff --git ")
    half = len(names) // 2
    same = names[half] == " " and names[1:half].lstrip('"/a') == names[half + 2 :].lstrip('"/b')
    return re.sub('^"?b/', "", names[half + 1 :]).rstrip('"') if same else names


def _lines(lines: list[str]) -> Iterator[Line]:
    inside = False
    for line in lines:
        if line == "GIT binary patch":
            yield Line("told", "binary: its bytes are in diff.patch")
            return
        inside = inside or line.startswith("@@")
        if inside and line:
            yield Line(KINDS.get(line[0], ""), line[:WIDTH] + ("…" if len(line) > WIDTH else ""))
        elif TOLD.match(line):
            yield Line("told", line)

"""Tables as markdown, and names as they are inside of it."""

import re
from collections.abc import Iterable, Sequence

SPECIAL = re.compile(r"[\\`*\[\]|]|~(?=~)|&(?=#?\w+;)|<(?=[A-Za-z/!?])|(?<![^\W_])_|_(?![^\W_])")
"""What markdown would read as more than the character it is."""


def escaped(text: str) -> str:
    """A text that is only itself in markdown, on one line that it does not begin."""
    return SPECIAL.sub(r"\\\g<0>", " ".join(str(text).split()))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with the first column to the left and the others to the right; ends with a newline.

    The head and the first column are names, shown as they are; the entries are markdown.
    """
    lines = ([escaped(first), *map(_entry, others)] for first, *others in rows)
    return "".join(f"| {' | '.join(line)} |\n" for line in [[*map(escaped, head)], _rule(head), *lines])


def _rule(head: Sequence[str]) -> list[str]:
    return ["---", *["---:"] * (len(head) - 1)]


def _entry(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split("\n"))

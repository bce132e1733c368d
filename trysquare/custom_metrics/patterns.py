"""Searching a text for a regular expression, in bounded time, with a `$` that means the end."""

import re
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SEARCH_LIMIT = 1.0
"""Seconds of processor time one search may take."""

TEXT_LIMIT = 100_000
"""Characters of the longest text that is searched; it also bounds how late a search notices its limit."""

_END = r"(?:$(?!\n))"
_CLASS = r"\[\^?\]?(?:\\.|[^\]\\])*\]"
_TOKEN = re.compile(rf"\\.|{_CLASS}|\(\?#[^)]*\)|\(\?[a-zA-Z]+\)|\(\?[a-zA-Z]*(?:-[a-zA-Z]+)?:|.", re.DOTALL)


class Unsearched(Exception):
    """A search that was not finished; its text says why."""


def search(pattern: str, text: str) -> bool:
    """Whether a pattern is found anywhere in a text; `$` is the end of the text, or of a line under the flag `m`.

    Must be called from the main thread, as a signal bounds its time.

    Raises
    ------
    Unsearched
        When it takes too long, or the text is too long to try.
    """
    if len(text) > TEXT_LIMIT:
        raise Unsearched(f"the text has more than {TEXT_LIMIT} characters")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = re.compile(true_end(pattern))
    with _bounded():
        return compiled.search(text) is not None


def true_end(pattern: str) -> str:
    """The pattern with every `$` that would also match before a final line break made to mean the end alone."""
    parts: list[str] = []
    lines = [False]
    for found in _TOKEN.findall(pattern):
        if found.startswith("(?") and found.endswith(")"):
            lines[-1] |= "m" in found and not found.startswith("(?#")
        elif found.startswith("("):
            on, _, off = found.strip("(?:").partition("-")
            lines.append("m" in on or (lines[-1] and "m" not in off))
        elif found == ")" and len(lines) > 1:
            lines.pop()
        parts.append(_END if found == "$" and not lines[-1] else found)
    return "".join(parts)


@contextmanager
def _bounded() -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise Unsearched(f"the search took more than {SEARCH_LIMIT:g} s")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, SEARCH_LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)

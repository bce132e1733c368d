"""The part of a runner's output that says how it went."""

import re

from trysquare.assay.evidence import COLOUR

LONGEST = 4000
"""Characters of a summary."""
FALLBACK_LINES = 10

NEVER = r"(?!)"
PYTEST = r"^=+ short test summary info =+$"
RUNNERS = (
    (rf"^(?:=+ )?(?:no tests ran|\d+ [a-z]+(?:, \d+ [a-z]+)*) in \d[\d.]*s\b|{PYTEST}", PYTEST),
    (r"^Ran \d+ tests? in ", NEVER),
    (r"^test result: ", r"^failures:\n(?=    )"),
    (r"^(?:FAIL|ok  )\t", r"^--- FAIL: [\s\S]*"),
    (r"^(?:#|ℹ) tests \d+$", NEVER),
    (r"^Tests: +\d", NEVER),
    (r"^ *Tests +\d", NEVER),
    (r"^ *\d+ passing\b", NEVER),
)
"""pytest, unittest, cargo, go, node, jest, vitest, mocha: its last line, and where its summary opens if earlier."""


def summarise(output: str) -> str:
    """The runner's own summary, from its marker to the end, or the last lines, saying that they are a fallback."""
    text = re.sub(COLOUR, "", output).strip()
    last = max(
        (
            (found.start(), opening)
            for closing, opening in RUNNERS
            for found in re.finditer(closing, text, re.MULTILINE)
        ),
        key=lambda each: each[0],
        default=None,
    )
    if last is None:
        lines = [line for line in text.splitlines() if line.strip()][-FALLBACK_LINES:]
        return _bounded(
            "\n".join(["no summary of a known runner; the output ends with:", *lines]) if lines else "no output"
        )
    start, opening = last
    openings = [found.start() for found in re.finditer(opening, text, re.MULTILINE) if found.start() < start]
    return _bounded(text[openings[-1] if openings else start :])


def _bounded(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}\n[...]\n{text[-half:]}"

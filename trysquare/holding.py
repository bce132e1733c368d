"""Backing off: once a provider refuses everybody, a launch starts no further run of a matrix.

Every refused run costs its attempts and leaves a line; what was never started costs nothing and stays missing.
"""

import re
from collections.abc import Mapping
from typing import Any

from trysquare.agent import Outcome
from trysquare.errors import TrysquareError
from trysquare.files import append_line, read_lines
from trysquare.layout import Layout
from trysquare.measure.stream import one_line

NOT_STARTED = "not started: "
"""How the line begins that a run which was held back leaves in its log."""

REFUSAL = re.compile(r"\b(429|503|529)\b|rate.?limit|too many requests|overloaded|service unavailable", re.IGNORECASE)
"""What providers say when they serve nobody for now; a wrong key or an unknown model is another matter."""

FEWEST = 2
"""Refused runs in a row it takes at least: one alone may have been bad luck."""


def held(layout: Layout, launch: Mapping[str, Any]) -> str:
    """Why no further run of this launch is started; empty when one may be.

    It takes as many refused runs in a row as run at once: then there was nobody whom the provider still served.
    """
    enough = max(FEWEST, launch["concurrency"])
    last = [line for line in read_lines(layout.refusals(launch["id"])) if isinstance(line, dict)][-enough:]
    if len(last) < enough or not all(line.get("refused") for line in last):
        return ""
    return f"{NOT_STARTED}the provider refused the last {enough} runs ({last[-1].get('said')}); launch again later."


def refuse_held(layout: Layout, launch: Mapping[str, Any]) -> None:
    """Refuse to start a run while the provider refuses.

    Raises
    ------
    TrysquareError
        With what `held` says.
    """
    sentence = held(layout, launch)
    if sentence:
        raise TrysquareError(sentence)


def note(layout: Layout, launch: Mapping[str, Any], run: str, outcome: Outcome) -> None:
    """Note whether the provider served a run, from the first one of a launch that it refused."""
    ledger = layout.refusals(launch["id"])
    said = "" if outcome.produced_something else one_line(f"{outcome.gave_up} {outcome.error}")
    refused = bool(REFUSAL.search(said))
    if refused or ledger.exists():
        append_line(ledger, {"run": run, "refused": refused, "said": outcome.detail})

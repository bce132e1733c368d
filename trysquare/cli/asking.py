"""The one question `trysquare run` asks: on a terminal, when results exist and no flag says what to do with them."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from trysquare import runner
from trysquare.outputs import prior


@dataclass(frozen=True)
class Answer:
    """What to do with results that exist: cells to measure again, or nothing at all."""

    overwrite: tuple[str, ...] = ()
    abort: bool = False


DIFFERENCE, ABORT = Answer(), Answer(abort=True)


def possible() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(plans: Sequence[runner.Plan]) -> Answer:
    """Ask until one of the three is answered; the difference, unasked, when there is no result yet."""
    held: dict[str, None] = {}
    lines = []
    for plan in plans:
        found = prior(plan.output, plan.matrix)
        held.update(dict.fromkeys(plan.matrix.runs[name].cell for name in found.kept))
        if found.kept:
            lines.append(f"{plan.directory} holds {len(found.kept)} of {len(plan.matrix.runs)} runs.")
    if not lines:
        return DIFFERENCE
    missing = sum(len(plan.todo) for plan in plans)
    print("\n".join(lines), file=sys.stderr)
    print(f"  difference   keep them, and measure the {missing} that are missing", file=sys.stderr)
    print("  everything   set them aside, and measure all again", file=sys.stderr)
    print("  abort        do nothing", file=sys.stderr)
    answers = {"difference": DIFFERENCE, "everything": Answer(tuple(held)), "abort": ABORT}
    while True:
        print("difference, everything or abort? ", end="", file=sys.stderr, flush=True)
        said = sys.stdin.readline()
        if not said:
            return ABORT
        given = [answer for word, answer in answers.items() if said.strip() and word.startswith(said.strip().lower())]
        if len(given) == 1:
            return given[0]

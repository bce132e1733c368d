"""The console command: a thin second spelling of the workflow's targets. It never schedules by itself.

Each module of this package registers the commands of one kind.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from trysquare.cli import archives, comparisons, exports, forms, launches, power, scenarios, upkeep, vally, watches
from trysquare.errors import TrysquareError, refused, unheard

GROUPS = (scenarios, launches, archives, upkeep, comparisons, exports, forms, power, watches, vally)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns 0, or 1 after one sentence, or 2 for a misuse of the command line."""
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        return unheard()


def _run(arguments: Sequence[str] | None) -> int:
    made = parser()
    options, unknown = made.parse_known_args(arguments)
    if unknown:
        launching = hasattr(options, "profile") and unknown[0].startswith("-")
        hint = launches.hint(options, unknown) if launching else ""
        made.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except TrysquareError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        if not (sentence := refused(error)):
            raise
        print(sentence, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


class _Exact(argparse.ArgumentParser):
    """A parser of options that are written out: `--over` must not become what buys a cell again."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)


def parser() -> argparse.ArgumentParser:
    """Every command and its options."""
    made = _Exact(
        prog="trysquare",
        description="Says of every measured difference between agent configurations whether it is established.",
    )
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    for group in GROUPS:
        group.register(commands)
    return made

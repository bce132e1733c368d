"""Commands about what people answer, and how far they and a judge agree: form, agreement."""

import argparse
import os
from pathlib import Path
from typing import Any

from trysquare.layout import Layout


def register(commands: Any) -> None:
    """Add the commands of this module."""
    form = commands.add_parser("form", help="write the forms of a matrix, or take the answers of filled ones")
    form.add_argument("matrix", type=Path, help="a matrix directory")
    form.add_argument(
        "--ingest",
        type=Path,
        nargs="*",
        metavar="FILE",
        help="take the answers of these forms (default: those that lie in the matrix)",
    )
    form.set_defaults(command=fill)
    agreement = commands.add_parser("agreement", help="how far two metrics of the same runs agree: a judge and people")
    agreement.add_argument("matrix", type=Path, help="a matrix directory")
    agreement.add_argument("first", help="a metric, for instance of a judge")
    agreement.add_argument("second", help="a metric, for instance of a form")
    agreement.set_defaults(command=agree)


def fill(options: argparse.Namespace) -> int:
    """Write the forms of a matrix, or take their answers; 1 when an answer was refused."""
    from trysquare import launching
    from trysquare.forms.acts import ask, take

    layout = Layout(options.matrix)
    lock = launching.hold(layout) if layout.plan.exists() else None
    try:
        said, taken = (ask(layout), True) if options.ingest is None else take(layout, options.ingest or None)
    finally:
        if lock is not None:
            os.close(lock)
    print("\n".join(said))
    return 0 if taken else 1


def agree(options: argparse.Namespace) -> int:
    """Say how far two metrics of a matrix agree."""
    from trysquare.agreement import agreement, describe
    from trysquare.rendering import measures

    print("\n".join(describe(agreement(measures(Layout(options.matrix)), options.first, options.second))))
    return 0

"""Commands over a matrix directory: render, status."""

import argparse
from pathlib import Path
from typing import Any

from trysquare.collecting import derive, status_line
from trysquare.layout import Layout
from trysquare.matrix import Matrix


def register(commands: Any) -> None:
    """Add the commands of this module."""
    rendering = commands.add_parser("render", help="write the tables and pages again, from stored measures")
    rendering.add_argument("matrix", type=Path, help="a matrix directory")
    rendering.set_defaults(command=render)
    standing = commands.add_parser("status", help="how far a matrix is; writes nothing")
    standing.add_argument("matrix", type=Path, help="a matrix directory")
    standing.set_defaults(command=status)


def render(options: argparse.Namespace) -> int:
    """Write the synthesis of one matrix from its measures."""
    from trysquare.rendering import render as write

    print(write(Layout(options.matrix)))
    return 0


def status(options: argparse.Namespace) -> int:
    """Say how far one matrix is, and what is wrong with each run that is not valid."""
    state = derive(Layout(options.matrix), Matrix.load(Layout(options.matrix).plan))
    print(status_line(options.matrix, state))
    for run in state.runs:
        if run.state != "valid":
            print(f"  {run.state}  {run.cell} / repetition {run.repetition}  {run.detail}")
    return 0

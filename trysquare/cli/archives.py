"""Commands over a matrix directory: render, pages, status."""

import argparse
import os
from pathlib import Path
from typing import Any

from trysquare import locks
from trysquare.cli import engine
from trysquare.cli.asked import filled, positive
from trysquare.collecting import closing, derive, problem_lines
from trysquare.errors import ArchiveError
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.readers import is_original, open_archive


def register(commands: Any) -> None:
    """Add the commands of this module."""
    rendering = commands.add_parser("render", help="write the tables and pages again, from stored measures")
    rendering.add_argument("matrix", type=Path, help="a matrix directory, or the scenario of one")
    rendering.add_argument(
        "-o", "--output", type=filled, help="directory the matrix of a scenario is under (default: results)"
    )
    rendering.add_argument("--scenario", type=Path, help="the scenario of an archive that keeps no plan")
    rendering.add_argument(
        "--reference", type=filled, metavar="CELL", help="compare with this cell instead, in files of its own"
    )
    rendering.set_defaults(command=render)
    exporting = commands.add_parser("pages", help="have the agent make a page of every session of a complete matrix")
    exporting.add_argument("matrix", type=Path, help="a matrix directory, or the scenario of one")
    exporting.add_argument(
        "-o", "--output", type=filled, help="directory the matrix of a scenario is under (default: results)"
    )
    exporting.add_argument(
        "--cores", type=positive, default=os.cpu_count() or 1, help="sessions at once (default: all)"
    )
    exporting.set_defaults(command=pages)
    standing = commands.add_parser("status", help="how far a matrix is; writes nothing")
    standing.add_argument("matrix", type=Path, help="a matrix directory")
    standing.set_defaults(command=status)


def render(options: argparse.Namespace) -> int:
    """Write the synthesis of one matrix from its measures."""
    if options.matrix.is_file():
        config = {"scenario": str(options.matrix), "output": options.output, "reference": options.reference}
        return engine.become(engine.command("render", config))
    if is_original(options.matrix):
        return _render_original(options)
    from trysquare.rendering import render as write

    print(write(Layout(options.matrix), options.reference or ""))
    return 0


def _render_original(options: argparse.Namespace) -> int:
    """Write the synthesis of an archive of the original trysquare, which itself stays as it is."""
    lacking = {
        "--scenario FILE, which says its criterion, reference and validity": options.scenario,
        "-o DIRECTORY, where its pages go": options.output,
    }
    if absent := [what for what, given in lacking.items() if given is None]:
        raise ArchiveError(
            f"{options.matrix} was written by the original trysquare and keeps no plan: add {', and '.join(absent)}; "
            "the archive itself stays as it is."
        )
    from trysquare.readers.pages import render_original

    print(render_original(open_archive(options.matrix), options.scenario, Path(options.output), options.reference))
    return 0


def pages(options: argparse.Namespace) -> int:
    """Have the agent make the pages of sessions, which the pages of runs then link to."""
    if is_original(options.matrix):
        raise ArchiveError(f"{options.matrix} was written by the original trysquare: open its sessions with the agent.")
    return engine.become(engine.command("pages", {"scenario": str(options.matrix), "output": options.output}, options))


def status(options: argparse.Namespace) -> int:
    """Say how far one matrix is, and what is wrong with the runs that are not valid."""
    if is_original(options.matrix):
        print(f"{options.matrix}: {open_archive(options.matrix).standing()}")
        return 0
    state = derive(Layout(options.matrix), Matrix.load(Layout(options.matrix).plan))
    print(closing(options.matrix, state, at_work=locks.at_work(Layout(options.matrix))))
    for line in problem_lines(state):
        print(f"  {line}")
    return 0

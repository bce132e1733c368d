"""Commands over more than one archive: compare, parity."""

import argparse
from pathlib import Path
from typing import Any


def register(commands: Any) -> None:
    """Add the commands of this module."""
    comparing = commands.add_parser("compare", help="the rates of two matrices side by side; there is no verdict")
    comparing.add_argument("left", type=Path, help="a matrix directory")
    comparing.add_argument("right", type=Path, help="another one")
    comparing.add_argument("--json", action="store_true", help="as JSON")
    comparing.add_argument("--html", type=Path, metavar="FILE", help="write it as a page too")
    comparing.set_defaults(command=compare)
    proving = commands.add_parser("parity", help="whether this tool reproduces what an earlier one published")
    what = proving.add_mutually_exclusive_group(required=True)
    what.add_argument("measures", type=Path, nargs="?", help="the rows the earlier bench published, a JSON list")
    what.add_argument("--smoke", type=Path, metavar="DIR", help="check how a matrix was measured, and nothing else")
    proving.add_argument("--archive", type=Path, metavar="DIR", help="the archived runs of these rows: layers 1 and 2")
    proving.add_argument("--scenario", type=Path, help="their scenario: what layer 2 scores with and layer 3 judges")
    proving.add_argument("--table", type=Path, metavar="FILE", help="the published gap table, as JSON: layer 3")
    proving.set_defaults(command=parity)


def compare(options: argparse.Namespace) -> int:
    """Print two matrices side by side."""
    from trysquare import comparing
    from trysquare.files import write_text
    from trysquare.readers import open_archive

    left, right = (comparing.side_of(open_archive(path), str(path)) for path in (options.left, options.right))
    found = comparing.compare(left, right)
    if options.html is not None:
        write_text(options.html, comparing.page(found))
    print(comparing.data(found) if options.json else comparing.text(found), end="")
    return 0


def parity(options: argparse.Namespace) -> int:
    """Run the layers that what was given allows; 1 when one of them does not hold."""
    from trysquare.parity import layer4
    from trysquare.parity.passing import passes

    if options.smoke is not None:
        found = {"smoke": layer4(options.smoke)}
    else:
        found = passes(options.measures, options.archive, options.scenario, options.table)
    for name, report in found.items():
        print("\n".join([f"{name}: {report.standing}", *map(_indented, report.lines())]))
    return 0 if all(report.holds for report in found.values()) else 1


def _indented(line: str) -> str:
    return f"  {line}" if line else ""

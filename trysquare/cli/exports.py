"""The command that takes a matrix elsewhere: export."""

import argparse
from pathlib import Path
from typing import Any

FORMATS = ("csv", "parquet", "jsonl")


def register(commands: Any) -> None:
    """Add the commands of this module."""
    exporting = commands.add_parser("export", help="the runs of a matrix as a table, or all of it in a zip")
    exporting.add_argument("matrix", type=Path, help="a matrix directory")
    how = exporting.add_mutually_exclusive_group(required=True)
    how.add_argument("--format", choices=FORMATS, help="a table, one run a row")
    how.add_argument("--zip", action="store_true", help="everything, to open or render it elsewhere")
    exporting.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: here, named as the matrix")
    exporting.set_defaults(command=export)


def export(options: argparse.Namespace) -> int:
    """Write one matrix as one file."""
    from trysquare import exporting
    from trysquare.readers import open_archive

    archive = open_archive(options.matrix)
    form = options.format or "zip"
    target = options.output or Path(f"{options.matrix.absolute().name}.{form}")
    print(exporting.pack(archive, target) if options.zip else exporting.export(archive, form, target))
    return 0

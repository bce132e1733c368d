"""The command that watches: watch."""

import argparse
from pathlib import Path
from typing import Any


def register(commands: Any) -> None:
    """Add the commands of this module."""
    watching = commands.add_parser(
        "watch", help="a page on this machine that shows how far a matrix is; writes nothing"
    )
    watching.add_argument("directory", type=Path, help="a matrix directory, or the results that hold some")
    watching.add_argument("--port", type=int, default=0, help="port of the page (default: any free one)")
    watching.set_defaults(command=watch)


def watch(options: argparse.Namespace) -> int:
    """Serve the page until interrupted."""
    from trysquare.watching.server import Server

    with Server(options.directory, options.port) as server:
        print(f"watching {options.directory} at {server.url} (Ctrl-C ends the watch, not the runs)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0

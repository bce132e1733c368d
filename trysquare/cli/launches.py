"""Commands that hand over to the engine: run, rehearse."""

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any, NoReturn

from trysquare.errors import TrysquareError


def register(commands: Any) -> None:
    """Add the commands of this module."""
    run = commands.add_parser("run", help="measure what is not measured yet, score it, and write the synthesis")
    _options(run)
    run.set_defaults(command=launch)
    rehearse = commands.add_parser("rehearse", help="the same with a scripted model, at no cost, under rehearsals/")
    _options(rehearse)
    rehearse.set_defaults(command=lambda options: launch(options, rehearse=True))


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", type=Path, help="the scenario file")
    parser.add_argument("-o", "--output", help="directory the matrix is written under (default: results)")
    parser.add_argument("--repetitions", type=int, help="another number of repetitions, in a directory of its own")
    parser.add_argument("--concurrency", type=int, help="runs at once")
    parser.add_argument("--timeout", type=float, help="seconds one run may take")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="cores for scoring (default: all)")
    parser.add_argument("--profile", help="a Snakemake profile, for instance one for a cluster")
    parser.add_argument("-n", "--dry-run", action="store_true", help="say what would be done; write nothing")


def workflow_root() -> Path:
    """Where the Snakefile is: beside the package in a checkout, inside it when installed.

    Raises
    ------
    TrysquareError
        When it is in neither place.
    """
    package = Path(__file__).resolve().parents[1]
    for root in (package / "_workflow", package.parent):
        if (root / "Snakefile").is_file():
            return root
    raise TrysquareError(f"no Snakefile beside {package}: install trysquare again.")


def launch(options: argparse.Namespace, rehearse: bool = False) -> NoReturn:
    """Print the engine's command line for these options, and become it."""
    config = {"scenario": str(options.scenario), "rehearse": True if rehearse else None}
    config |= {key: getattr(options, key) for key in ("output", "repetitions", "concurrency", "timeout")}
    command = [sys.executable, "-m", "snakemake", "-s", str(workflow_root() / "Snakefile"), "run"]
    command += ["--cores", str(options.cores)]
    command += ["--profile", options.profile] if options.profile else []
    command += ["--dry-run"] if options.dry_run else []
    command += ["--config", *(setting(key, value) for key, value in config.items() if value is not None)]
    print(shlex.join(["snakemake", *command[3:]]), file=sys.stderr, flush=True)
    os.execv(sys.executable, command)


def setting(key: str, value: Any) -> str:
    """One `key=value` of the engine; text is quoted, since the engine reads bare values as YAML."""
    return f"{key}={json.dumps(value, ensure_ascii=False)}"

"""The console command: a thin second spelling of the workflow's targets. It never schedules by itself."""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from trysquare.errors import TrysquareError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns 0, or 1 after one sentence, or 2 for a misuse of the command line."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except TrysquareError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="trysquare",
        description="Says of every measured difference between agent configurations whether it is established.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="measure what is not measured yet, score it, and write the synthesis")
    _scenario_options(run)
    run.set_defaults(command=_run)
    rehearse = commands.add_parser("rehearse", help="the same with a scripted model, at no cost, under rehearsals/")
    _scenario_options(rehearse)
    rehearse.set_defaults(command=lambda options: _run(options, rehearse=True))
    render = commands.add_parser("render", help="write the tables and pages again, from stored measures")
    render.add_argument("matrix", type=Path, help="a matrix directory")
    render.set_defaults(command=_render)
    status = commands.add_parser("status", help="how far a matrix is; writes nothing")
    status.add_argument("matrix", type=Path, help="a matrix directory")
    status.set_defaults(command=_status)
    return parser


def _scenario_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", type=Path, help="the scenario file")
    parser.add_argument("-o", "--output", help="directory the matrix is written under (default: results)")
    parser.add_argument("--repetitions", type=int, help="another number of repetitions, in a directory of its own")
    parser.add_argument("--concurrency", type=int, help="runs at once")
    parser.add_argument("--timeout", type=float, help="seconds one run may take")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="cores for scoring (default: all)")
    parser.add_argument("--profile", help="a Snakemake profile, for instance one for a cluster")
    parser.add_argument("-n", "--dry-run", action="store_true", help="say what would be done; write nothing")


def workflow_root() -> Path:
    """Where the Snakefile is: beside the package in a checkout, inside it when installed."""
    package = Path(__file__).resolve().parent
    for root in (package / "_workflow", package.parent):
        if (root / "Snakefile").is_file():
            return root
    raise TrysquareError(f"no Snakefile beside {package}: install trysquare again.")


def _run(options: argparse.Namespace, rehearse: bool = False) -> NoReturn:
    config = {"scenario": str(options.scenario), "rehearse": True if rehearse else None}
    config |= {key: getattr(options, key) for key in ("output", "repetitions", "concurrency", "timeout")}
    command = [sys.executable, "-m", "snakemake", "-s", str(workflow_root() / "Snakefile"), "run"]
    command += ["--cores", str(options.cores)]
    command += ["--profile", options.profile] if options.profile else []
    command += ["--dry-run"] if options.dry_run else []
    command += ["--config", *(_setting(key, value) for key, value in config.items() if value is not None)]
    print(shlex.join(["snakemake", *command[3:]]), file=sys.stderr, flush=True)
    os.execv(sys.executable, command)


def _setting(key: str, value: Any) -> str:
    """One `key=value` of the engine; text is quoted, since the engine reads bare values as YAML."""
    return f"{key}={json.dumps(value, ensure_ascii=False)}"


def _render(options: argparse.Namespace) -> int:
    from trysquare.layout import Layout
    from trysquare.rendering import render

    print(render(Layout(options.matrix)))
    return 0


def _status(options: argparse.Namespace) -> int:
    from trysquare.collecting import derive, status_line
    from trysquare.layout import Layout
    from trysquare.matrix import Matrix

    layout = Layout(options.matrix)
    state = derive(layout, Matrix.load(layout.plan))
    print(status_line(options.matrix, state))
    for run in state.runs:
        if run.state != "valid":
            print(f"  {run.state}  {run.cell} / repetition {run.repetition}  {run.detail}")
    return 0

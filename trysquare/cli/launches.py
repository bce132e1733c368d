"""Commands that hand over to the engine: run, rehearse."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trysquare import history, runner
from trysquare.cli import asking, engine
from trysquare.cli.asked import filled, positive
from trysquare.collecting import derive
from trysquare.errors import TrysquareError
from trysquare.files import read_lines


def register(commands: Any) -> None:
    """Add the commands of this module."""
    run = commands.add_parser("run", help="measure what is not measured yet, score it, and write the synthesis")
    _options(run)
    run.set_defaults(command=launch, rehearse=False)
    rehearse = commands.add_parser("rehearse", help="the same with a scripted model, at no cost, under rehearsals/")
    _options(rehearse)
    rehearse.set_defaults(command=launch, rehearse=True)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", type=Path, help="the scenario file")
    parser.add_argument("-o", "--output", type=filled, help="directory the matrix is written under (default: results)")
    parser.add_argument("--repetitions", type=int, help="another number of repetitions, in a directory of its own")
    parser.add_argument("--concurrency", type=int, help="runs at once")
    parser.add_argument("--timeout", type=float, help="seconds one run may take")
    parser.add_argument(
        "--only", action="append", type=filled, metavar="CELL", help="measure this cell only; may be repeated"
    )
    parser.add_argument(
        "--overwrite",
        action="append",
        type=filled,
        metavar="CELL",
        help="set the runs of this cell aside and measure it again",
    )
    parser.add_argument("--extend", action="store_true", help="carry the runs that a smaller matrix holds")
    parser.add_argument(
        "--until-complete",
        type=positive,
        metavar="N",
        help="launch again, at most N times, while runs produced nothing",
    )
    parser.add_argument(
        "--group-by-cell",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="lay runs out as runs/<cell>/<id>, or blind as runs/<id>",
    )
    parser.add_argument("--cores", type=positive, default=os.cpu_count() or 1, help="cores for scoring (default: all)")
    parser.add_argument("--profile", type=filled, help="a Snakemake profile, for instance one for a cluster")
    parser.add_argument("-n", "--dry-run", action="store_true", help="say what would be done; write nothing")


def launch(options: argparse.Namespace) -> int:
    """Do what the options say, by one command line of the engine or by several."""
    config = settings(options)
    overwrite: Sequence[str] = options.overwrite or ()
    said = overwrite or options.only or options.extend or options.until_complete or options.dry_run
    if not said and not options.rehearse and asking.possible():
        answer = asking.ask(_plans(config))
        if answer.abort:
            raise TrysquareError("nothing was done.")
        overwrite = answer.overwrite
    if overwrite:
        _plans({**config, "overwrite": list(overwrite)})
        if options.dry_run:
            return engine.become(engine.command("run", {**config, "overwrite": list(overwrite)}, options))
        aside = {key: value for key, value in config.items() if key not in ("only", "extend")}
        code = engine.call(engine.command("discard", {**aside, "cell": list(overwrite)}, options))
        if code:
            return code
    command = engine.command("run", config, options)
    if options.until_complete and not options.dry_run:
        return _until_complete(command, _plans(config), options.until_complete)
    return engine.become(command)


def settings(options: argparse.Namespace) -> dict[str, Any]:
    """The config of the engine that the options ask for."""
    config = {"scenario": str(options.scenario), "rehearse": options.rehearse or None, "extend": options.extend or None}
    config |= {key: getattr(options, key) for key in ("output", "repetitions", "concurrency", "timeout", "only")}
    if options.group_by_cell is not None:
        config["layout"] = "grouped" if options.group_by_cell else "blind"
    return {key: value for key, value in config.items() if value is not None}


def hint(options: argparse.Namespace, unknown: Sequence[str]) -> str:
    """What is said of options that are none of these commands: the engine may know them."""
    command = engine.command("run", {**settings(options), "overwrite": options.overwrite}, options, unknown)
    return f"\nAn option of Snakemake goes into a profile, or to Snakemake itself:\n  {engine.shown(command)}"


def _plans(config: dict[str, Any]) -> tuple[runner.Plan, ...]:
    return runner.resolve_all(runner.Settings.of(config, config))


def _until_complete(command: Sequence[str], plans: Sequence[runner.Plan], rounds: int) -> int:
    """Launch until everything asked for is complete, at most `rounds` times.

    A launch that was refused, or after which no run is left that produced nothing, is the last.
    """
    code = 1
    for _ in range(rounds):
        before = _launches(plans)
        code = engine.call(command)
        if code != 1 or _launches(plans) == before or not any(_untried(plan) for plan in plans):
            break
    return code


def _launches(plans: Sequence[runner.Plan]) -> int:
    return sum(len(history.of_kind(read_lines(plan.output.launches), "launch")) for plan in plans)


def _untried(plan: runner.Plan) -> bool:
    """Whether a run that was asked for has produced nothing yet."""
    states = derive(plan.output, plan.matrix).states
    wanted = [name for name, run in plan.matrix.runs.items() if not plan.only or run.cell in plan.only]
    return any(states[name] in ("missing", "empty") for name in wanted)

"""Commands that look after what was measured: replay, clean."""

import argparse
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

from trysquare import archive, replaying, workplace
from trysquare import config as machine
from trysquare.cli import engine
from trysquare.cli.asked import filled, positive
from trysquare.errors import ArchiveError
from trysquare.layout import Layout
from trysquare.measure.stream import counted
from trysquare.readers import is_original, open_archive


def register(commands: Any) -> None:
    """Add the commands of this module."""
    replay = commands.add_parser("replay", help="rebuild the trees of archived runs, or score them all again")
    replay.add_argument("matrix", type=Path, help="a matrix directory, of this machine or another")
    replay.add_argument("--rescore", action="store_true", help="run every free validator over every run again")
    replay.add_argument("--scenario", type=Path, help="the scenario of an archive that keeps no plan")
    replay.add_argument(
        "--machine-file",
        type=filled,
        help="the machine file (default: found upwards from the matrix, then from here)",
    )
    replay.add_argument("--cores", type=positive, default=os.cpu_count() or 1, help="cores for scoring (default: all)")
    replay.set_defaults(command=again)
    clean = commands.add_parser("clean", help="say what the work directory holds that could be freed")
    clean.add_argument("matrix", type=Path, nargs="*", help="matrix directories whose staging places are looked at too")
    clean.add_argument("--machine-file", type=filled, help="the machine file (default: found upwards from here)")
    clean.add_argument("--yes", action="store_true", help="free it")
    clean.set_defaults(command=tidy)


def again(options: argparse.Namespace) -> int:
    """Rebuild the trees of a matrix, or have its validators run again; 1 when any run is damaged."""
    if is_original(options.matrix):
        return _again_original(options)
    if options.scenario is not None:
        raise ArchiveError(f"{options.matrix} keeps its own plan: leave --scenario out.")
    [(path, matrix)] = replaying.archived([str(options.matrix)]).values() or [(options.matrix, None)]
    if matrix is None:
        raise ArchiveError(f"{path} is no directory: name the directory of a matrix.")
    if options.rescore:
        config = {"scenario": str(path), "machine_file": options.machine_file}
        return engine.become(engine.command("score", config, options, ["--forcerun", "score_run"]))
    here = Layout(path)
    return _said(replaying.replay(here, replaying.localised(matrix, here, options.machine_file)))


def _again_original(options: argparse.Namespace) -> int:
    if options.scenario is None:
        raise ArchiveError(
            f"{options.matrix} was written by the original trysquare and keeps no plan: add --scenario FILE."
        )
    from trysquare.readers.replaying import replay_original, rescore_original

    act = rescore_original if options.rescore else replay_original
    return _said(act(open_archive(options.matrix), options.scenario, options.machine_file))


def _said(lines: Any) -> int:
    damaged = False
    for line in lines:
        print(line, flush=True)
        damaged |= line.startswith(archive.DAMAGED)
    return 1 if damaged else 0


def tidy(options: argparse.Namespace) -> int:
    """Say what could be freed, and free it when told to."""
    given = options.machine_file
    config = machine.load(Path(given) if given else machine.find(Path("trysquare")))
    found = workplace.leftovers(config.workdir, map(Layout, options.matrix))
    kinds = defaultdict(list)
    for each in found:
        kinds[each.what, each.kept].append(each)
    for (what, kept), members in kinds.items():
        total = _megabytes(sum(each.size for each in members))
        why = f", kept: {kept}" if kept else ""
        print(f"{counted(len(members), what)} in {members[0].path.parent}: {total}{why}")
    if not any(not each.kept for each in found):
        print(f"{config.workdir}: nothing to free")
    elif options.yes:
        print(f"{_megabytes(workplace.free(found))} freed")
    else:
        size = sum(each.size for each in found if not each.kept)
        print(f"{_megabytes(size)} can be freed: add --yes to do it. Stores are made again when they are needed.")
    return 0


def _megabytes(size: int) -> str:
    return f"{size / 10**6:.1f} MB"

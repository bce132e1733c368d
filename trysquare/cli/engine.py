"""The engine as the commands start it: its command line, printed before it is used."""

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from trysquare import interrupt, places, shipped
from trysquare.errors import TrysquareError


def command(
    target: str, config: Mapping[str, Any], options: argparse.Namespace | None = None, flags: Sequence[str] = ()
) -> list[str]:
    """The command line for one target; `options` may hold cores, profile and dry_run."""
    cores = getattr(options, "cores", None) or os.cpu_count() or 1
    profile = getattr(options, "profile", None)
    made = [sys.executable, "-m", "trysquare.engine", "-s", shipped.snakefile(), target, "--cores", str(cores)]
    made += ["--profile", shipped.profile(profile)] if profile else []
    made += ["--dry-run"] if getattr(options, "dry_run", False) else []
    return [*made, *flags, "--config", *(setting(key, value) for key, value in config.items() if value is not None)]


def setting(key: str, value: Any) -> str:
    """One `key=value` of the engine.

    A text goes as a list of one: around a bare one the engine takes the quotes away, and reads what is left as YAML.
    """
    return f"{key}={json.dumps([value] if isinstance(value, str) else value, ensure_ascii=False)}"


def become(argv: Sequence[str]) -> NoReturn:
    """Print a command line and hand over to it."""
    _refuse_place()
    signal.pthread_sigmask(signal.SIG_BLOCK, interrupt.REQUESTS)  # until trysquare.engine can answer them
    print(shown(argv), file=sys.stderr, flush=True)
    os.execv(argv[0], list(argv))


def call(argv: Sequence[str]) -> int:
    """Print a command line and run it to its end; returns its exit code. A stop that is asked for here ends it too."""
    _refuse_place()
    print(shown(argv), file=sys.stderr, flush=True)
    with interrupt.handled():
        return interrupt.run(argv, stdin=subprocess.DEVNULL).returncode


def _refuse_place() -> None:
    """Refuse to start the engine where it cannot keep its own notes, which it says with a traceback."""
    try:
        problem = places.unusable(Path.cwd() / ".snakemake", tried=True)
    except FileNotFoundError:
        problem = "it is gone"
    if problem:
        raise TrysquareError(
            f"the engine keeps its notes in the directory it is started in, but {problem}: start it from a directory "
            "that can be written into, and name the scenario by its whole path."
        )


def shown(argv: Sequence[str]) -> str:
    """A command line as a person would type it."""
    return shlex.join(["snakemake", *argv[3:]])

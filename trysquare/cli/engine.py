"""The engine as the commands start it: its command line, printed before it is used."""

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from trysquare import interrupt
from trysquare.errors import TrysquareError


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


def command(
    target: str, config: Mapping[str, Any], options: argparse.Namespace | None = None, flags: Sequence[str] = ()
) -> list[str]:
    """The command line for one target; `options` may hold cores, profile and dry_run."""
    cores = getattr(options, "cores", None) or os.cpu_count() or 1
    profile = getattr(options, "profile", None)
    made = [sys.executable, "-m", "snakemake", "-s", str(workflow_root() / "Snakefile"), target, "--cores", str(cores)]
    made += ["--profile", profile] if profile else []
    made += ["--dry-run"] if getattr(options, "dry_run", False) else []
    return [*made, *flags, "--config", *(setting(key, value) for key, value in config.items() if value)]


def setting(key: str, value: Any) -> str:
    """One `key=value` of the engine.

    A text goes as a list of one: around a bare one the engine takes the quotes away, and reads what is left as YAML.
    """
    return f"{key}={json.dumps([value] if isinstance(value, str) else value, ensure_ascii=False)}"


def become(argv: Sequence[str]) -> NoReturn:
    """Print a command line and hand over to it."""
    _show(argv)
    os.execv(argv[0], list(argv))


def call(argv: Sequence[str]) -> int:
    """Print a command line and run it to its end; returns its exit code. A stop that is asked for here ends it too."""
    _show(argv)
    with interrupt.handled():
        return interrupt.run(argv, stdin=subprocess.DEVNULL).returncode


def _show(argv: Sequence[str]) -> None:
    print(shlex.join(["snakemake", *argv[3:]]), file=sys.stderr, flush=True)

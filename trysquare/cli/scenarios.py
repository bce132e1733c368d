"""Commands about a scenario before anything is measured: init, validate."""

import argparse
import shlex
import shutil
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

from trysquare import interrupt, shipped
from trysquare.cli.asked import filled
from trysquare.errors import TrysquareError

SKELETON = ("scenario.toml", "prompt.md", "hypothesis.md", "trysquare.toml")

DEMO_MACHINE = '# Where the repository of the demo is, relative to this file.\n[repos]\ntally = "repository"\n'


def register(commands: Any) -> None:
    """Add the commands of this module."""
    starting = commands.add_parser("init", help="write a scenario, its prompt and hypothesis, and a machine file")
    starting.add_argument("directory", type=Path, nargs="?", default=Path(), help="where to (default: here)")
    starting.add_argument("--demo", action="store_true", help="write the demo with its repository instead")
    starting.set_defaults(command=init)
    checking = commands.add_parser("validate", help="make every refusal a run would make, without measuring anything")
    checking.add_argument("scenario", type=Path, help="the scenario file")
    checking.add_argument(
        "-o", "--output", type=filled, help="directory the matrix would be written under (default: results)"
    )
    checking.add_argument("--ping", action="store_true", help="also send one short prompt to each model, which costs")
    checking.set_defaults(command=validate)


def init(options: argparse.Namespace) -> int:
    """Write the files of a new experiment, or none of them when any is there.

    Raises
    ------
    TrysquareError
        Naming the files that are there, or why nothing can be written.
    """
    directory: Path = options.directory
    names = (*_demo(), "repository", "trysquare.toml") if options.demo else SKELETON
    taken = [name for name in names if (directory / name).exists() or (directory / name).is_symlink()]
    if taken:
        raise TrysquareError(
            f"{directory}: {', '.join(taken)} {'is' if len(taken) == 1 else 'are'} there already and nothing is "
            "overwritten; name another directory."
        )
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if options.demo:
            return _write_demo(directory)
        for name in SKELETON:
            with (directory / name).open("x", encoding="utf-8") as file:
                file.write((files(__package__) / "skeleton" / name).read_text(encoding="utf-8"))
    except OSError as error:
        raise TrysquareError(f"{directory}: cannot be written to ({error.strerror}); name another directory.") from None
    print(
        f"wrote {', '.join(str(directory / name) for name in SKELETON)}\n"
        f"next: fill them in, write {directory / 'validator.py'}, and see what `trysquare validate "
        f"{directory / 'scenario.toml'}` says"
    )
    return 0


def _demo() -> dict[str, Path]:
    """What the demo is made of, by the name at the top of its directory."""
    place = shipped.root() / "examples" / "demo"
    return {
        path.name: path for path in sorted(place.iterdir()) if path.name[0] not in "._" and path.name != "repository"
    }


def _write_demo(directory: Path) -> int:
    for name, source in _demo().items():
        if source.is_dir():
            shutil.copytree(source, directory / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, directory / name)
    (directory / "trysquare.toml").write_text(DEMO_MACHINE, encoding="utf-8")
    built = interrupt.run([sys.executable, str(directory / "build.py")], capture_output=True, text=True)
    if built.returncode:
        raise TrysquareError(f"{built.stderr.strip()}: the demo was written without its repository.")
    print(f"wrote the demo into {directory}\nnext: trysquare run {shlex.quote(str(directory / 'scenario.toml'))}")
    return 0


def validate(options: argparse.Namespace) -> int:
    """Say what a run of a scenario would do, or refuse what it would refuse.

    Raises
    ------
    TrysquareError
        With every refusal there is.
    """
    from trysquare import validating

    plan = validating.check(options.scenario, options.output)
    print("\n".join(validating.described(plan)))
    if options.ping:
        for line in validating.ping(plan):
            print(line, flush=True)
    return 0

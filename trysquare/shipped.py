"""What lies beside the code: the workflow, its profiles, the pin of the agent, the demo."""

import json
from pathlib import Path

from trysquare.errors import TrysquareError


def root() -> Path:
    """Where the Snakefile is: beside the package in a checkout, inside it when installed.

    Raises
    ------
    TrysquareError
        When it is in neither place.
    """
    package = Path(__file__).resolve().parent
    for place in (package / "_workflow", package.parent):
        if (place / "Snakefile").is_file():
            return place
    raise TrysquareError(f"no Snakefile beside {package}: install trysquare again.")


def snakefile() -> str:
    """The workflow, for another one to use as a module."""
    return str(root() / "Snakefile")


def pinned_agent() -> str:
    """The agent this version was tested with, as npm names it: `<package>@<version>`."""
    wanted = json.loads((root() / "envs" / "agent" / "package.json").read_text(encoding="utf-8"))["dependencies"]
    [(name, version)] = wanted.items()
    return f"{name}@{version}"


def profile(name: str) -> str:
    """A profile as the engine is told of it: `profiles/slurm` is the shipped one where there is none of that name."""
    shipped = root() / name
    return (
        str(shipped) if Path(name).parent == Path("profiles") and not Path(name).exists() and shipped.is_dir() else name
    )

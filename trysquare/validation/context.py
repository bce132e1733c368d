"""The context file a validator is handed."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from trysquare.files import write_json

CONFIGURATION = frozenset({"cell", "repetition", "given", "session", "trace", "base_commit"})
"""Keys that name or show the configuration, which a blind context lacks."""
PLACES = ("repo", "prompt", "response", "collected")


def where(path: str | Path) -> str:
    """A path as a context carries it: absolute, always."""
    return str(Path(path).resolve())


def write_context(
    directory: str | Path,
    repo: str | Path | None,
    etalon: str,
    etalon_checkout: str | Path,
    prompt_file: str | Path | None,
    session_dir: str | Path | None,
    trace: str | Path | None,
    cell: str,
    repetition: int,
    blind: bool = False,
    response_file: str | Path | None = None,
    test_command: str | None = None,
    prepare: Sequence[str] | None = None,
    artefacts: Sequence[str] | None = None,
    touched: Iterable[str] | None = None,
    files: Iterable[str] | None = None,
    given: Iterable[str] | None = None,
    declared: Sequence[str] = (),
    *,
    etalon_commit: str | None = None,
    collected: str | Path | None = None,
    base_commit: str | None = None,
) -> Path:
    """Write `<directory>/context.json` and return its path.

    What is None is absent from the file, what is empty is there and empty. A blind context lacks everything that
    names or shows the configuration.

    Raises
    ------
    ValueError
        When a blind context would name the cell through a path of the archive.
    """
    pinned = {"tag": etalon, "checkout": where(etalon_checkout), "commit": etalon_commit}
    paths = {
        "repo": repo,
        "prompt": prompt_file,
        "response": response_file,
        "session": session_dir,
        "trace": trace,
        "collected": collected,
    }
    context: dict[str, Any] = {
        **{key: None if path is None else where(path) for key, path in paths.items()},
        "etalon": {key: value for key, value in pinned.items() if value is not None},
        "cell": cell,
        "repetition": repetition,
        "test_command": test_command,
        "prepare": None if prepare is None else list(prepare),
        "artefacts": None if artefacts is None else list(artefacts),
        "touched": None if touched is None else sorted(touched),
        "files": None if files is None else sorted(files),
        "given": None if given is None else sorted(given),
        "declared": list(declared),
        "base_commit": base_commit,
    }
    hidden = CONFIGURATION if blind else frozenset()
    context = {key: value for key, value in context.items() if value is not None and key not in hidden}
    if blind:
        _refuse_telling(context, cell)
    path = Path(directory).resolve() / "context.json"
    write_json(path, context)
    return path


def _refuse_telling(context: dict[str, Any], cell: str) -> None:
    slug = cell.replace(" / ", "_").replace("/", "-").replace(" ", "-")
    for key in PLACES:
        if f"/runs/{slug}/" in context.get(key, ""):
            raise ValueError(f"a blind context cannot point `{key}` at {context[key]}, which names the cell")

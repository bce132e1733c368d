"""The files a run left, and the links to them; `gather` alone reads a matrix directory."""

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from trysquare import stored
from trysquare.assay.patterns import is_artefact
from trysquare.files import read_json
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import Matrix
from trysquare.measure import Run
from trysquare.synthesis.model import Evidence, Link

TEXTS = {"diff.patch": "diff", "response.md": "response", "prompt.md": "prompt"}


def gather(layout: Layout, matrix: Matrix, runs: Iterable[Run]) -> dict[str, Evidence]:
    """What is archived of each run, by run id; a run whose directory is gone is left out."""
    planned = {run.id: layout.run(run.directory).root for run in matrix.runs.values()}
    found, shared = {}, dict[tuple[str, ...], tuple[str, ...]]()
    for run in runs:
        root = planned.get(run.id) or _strayed(layout, run.id)
        if root is not None and root.is_dir():
            files = [path for pattern in ("*", "session/*", "validation/*.json") for path in root.glob(pattern)]
            names = tuple(sorted(path.relative_to(root).as_posix() for path in files if path.is_file()))
            directory, judges = root.relative_to(layout.root).as_posix(), _judges(matrix, root)
            configuration = _configuration(root)
            model, hidden = configuration.get("model_id"), _hidden(matrix, configuration)
            page = layout.run_page(RunLayout(root)).relative_to(layout.root).as_posix()
            names = shared.setdefault(names, names)  # most runs have the same files: one list for all of them
            found[run.id] = Evidence(directory, names, (str(model),) if model else (), judges, hidden, page)
    return found


def planned(matrix: Matrix, run_id: str) -> Evidence | None:
    """Where a planned run's files are when its directory was not looked at."""
    run = matrix.runs.get(run_id)
    if run is None:
        return None
    verdicts = (f"validation/{name}.json" for name in matrix.validators)
    return Evidence(f"runs/{run.directory}", (*TEXTS, "session/", *verdicts))


def links(evidence: Evidence) -> tuple[Link, ...]:
    """The links of a run: its page, diff, response, prompt, its sessions, its verdicts."""
    sessions = [name for name in evidence.files if name.startswith("session/")]
    pages = [name for name in sessions if name.endswith(".html")]
    labels = {name: label for name, label in TEXTS.items() if name in evidence.files}
    labels |= _numbered("session page", pages)
    labels |= _numbered("session", [name for name in sessions if name not in pages])
    labels |= {
        name: f"verdict {PurePosixPath(name).stem}"
        for name in evidence.files
        if name.startswith("validation/") and not name.endswith(".previous.json")
    }
    own = (Link("page", address(evidence.page)),) if evidence.page else ()
    return (*own, *(Link(label, address(f"{evidence.directory}/{name}")) for name, label in labels.items()))


def address(path: str) -> str:
    """A relative path as a URL, whatever its name holds."""
    return quote(path, errors="surrogateescape")


def _numbered(label: str, names: list[str]) -> Mapping[str, str]:
    return {name: label if len(names) == 1 else f"{label} {i}" for i, name in enumerate(names, 1)}


def _strayed(layout: Layout, run_id: str) -> Path | None:
    runs = layout.root / "runs"
    return next((path for path in (runs / run_id, *sorted(runs.glob(f"*/{run_id}"))) if path.is_dir()), None)


def _configuration(root: Path) -> Mapping[str, Any]:
    try:
        return dict(read_json(root / "configuration.json"))
    except FileNotFoundError:
        return {}


def _hidden(matrix: Matrix, configuration: Mapping[str, Any]) -> tuple[str, ...]:
    patterns = matrix.task.artefacts or ()
    return tuple(name for name in configuration.get("hidden", ()) if not is_artefact(name.rstrip("/"), patterns))


def _judges(matrix: Matrix, root: Path) -> dict[str, tuple[str, str | None]]:
    found = {}
    for name, validator in [each for each in matrix.validators.items() if each[1].mode == "judge"]:
        try:
            verdict = stored.verdict(RunLayout(root), validator)
        except FileNotFoundError:
            continue
        found[name] = (str(verdict.get("criteria")), verdict.get("model_id"))
    return found

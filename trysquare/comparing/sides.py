"""From a matrix directory to one side of a comparison."""

from collections.abc import Iterable

from trysquare.comparing.model import Side
from trysquare.readers import Archive
from trysquare.table import group
from trysquare.verdict import plain


def side_of(archive: Archive, name: str) -> Side:
    """What a comparison needs of an archive, called `name` in it. Reads the configurations of its runs."""
    by_cell = {cell: tuple(runs) for cell, runs in group(archive.rows, tuple(archive.cells)).items()}
    configurations = [archived.configuration for archived in archive.runs]
    notes = list(archive.lacks)
    digests = {name: validator.digest for name, validator in archive.validators.items()}
    if None in digests.values():
        notes.append("By which version of its validators it was scored is not recorded.")
    return Side(
        name=name,
        standing="" if archive.complete else archive.standing(),
        settings=_settings(archive),
        cells={cell: _parts(archive, cell) for cell in archive.cells},
        fingerprints=_fingerprints(archive) if archive.original else {},
        validators=digests,
        etalon=archive.etalon,
        commits=_known([archive.commit, *(said.get("etalon_commit") for said in configurations)]),
        agents=_known(run.agent_version for run in archive.rows),
        isolations=_known(run.isolation for run in archive.rows),
        declared=archive.declared or tuple(dict.fromkeys(name for run in archive.rows for name in run.metrics)),
        by_cell=by_cell,
        rehearsed=archive.rehearsed,
        notes=tuple(notes),
    )


def _known(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(sorted({str(value) for value in values if value}))


def _settings(archive: Archive) -> dict[str, str]:
    models = {model for archived in archive.runs if archived.run is not None for model in archived.models}
    said: dict[str, object] = {
        "scenario": archive.scenario,
        "title": archive.title if archive.title != archive.scenario else None,
        "repository": archive.repo,
        "provider": archive.provider,
        "model": archive.model,
        "models that answered": ", ".join(sorted(models)) or None,
        "repetitions": archive.repetitions,
        "concurrency": archive.concurrency,
        "timeout": None if archive.timeout is None else f"{plain(archive.timeout)} s",
        "overrides": ", ".join(archive.overrides) or "none",
        "declared metrics": ", ".join(archive.declared) or None,
    }
    return {name: "not recorded" if value is None else str(value) for name, value in said.items()}


def _parts(archive: Archive, cell: str) -> dict[str, str]:
    """What a cell is made of; without digests, the thinking level its runs were launched with."""
    archived = archive.cells[cell]
    if archived.parts:
        return {name: value for name, value in archived.parts.items() if name != "agent"}
    levels = _known(run.configuration.get("thinking") for run in archive.runs if run.cell == cell)
    level = archived.thinking or ", ".join(levels)
    return {"thinking": level} if level else {}


def _fingerprints(archive: Archive) -> dict[str, str]:
    return {name: cell.fingerprint for name, cell in archive.cells.items() if cell.fingerprint}

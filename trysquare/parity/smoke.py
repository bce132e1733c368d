"""Layer 4: whether a matrix was measured the way it says, by criteria that do not depend on the sample."""

from pathlib import Path

from trysquare import wholeness
from trysquare.agent import resolves_to
from trysquare.archive import damage
from trysquare.measure import counted, models, thinking_levels
from trysquare.parity.report import Report
from trysquare.readers import Archive, ArchivedRun, open_archive

WITH_CONTEXT = ("script", "custom-metrics")
"""Modes of validators that are handed a context file."""


def layer4(experiment: str | Path, workdir: str | Path | None = None) -> Report:
    """The smoke pass over a matrix directory, of this tool or of the original one.

    Every run is valid and the outputs of a complete matrix are there; each run has its context, configuration, patch
    and verdicts, its files are those that were committed, and there is one session per attempt; the thinking level
    every session recorded is the one its cell declares, the models that answered are named by the declared pattern,
    and all of it was one version of the agent.

    Parameters
    ----------
    workdir : path, optional
        The work directory it was measured in: no tree of its runs may be left there.

    Raises
    ------
    ArchiveError
        When the directory holds no matrix.
    """
    archive = open_archive(experiment)
    if archive.imported is not None:
        return Report(problems=[f"its measures were imported from {archive.imported}; nothing of them can be checked"])
    report = Report()
    report.observed.append(archive.standing())
    for archived in archive.runs:
        if archived.cell in archive.cells:
            report.problems.extend(f"{archived.id} ({archived.cell}): {what}" for what in _of_run(archive, archived))
    report.problems.extend(_outputs(archive))
    _versions(archive, report)
    if workdir is not None:
        report.problems.extend(_left_over(archive, Path(workdir)))
    report.observed.extend(f"note: {note}" for note in archive.lacks)
    return report


def _of_run(archive: Archive, archived: ArchivedRun) -> list[str]:
    if archived.state != "valid":
        detail = archived.run.detail if archived.run is not None else ""
        return [f"is {archived.state}{f', {detail}' if detail else ''}"]
    return [
        *([archived.damage] if archived.damage else []),
        *([] if archive.original else damage(archived.files)),
        *_files(archive, archived),
        *_sessions(archive, archived),
    ]


def _files(archive: Archive, archived: ArchivedRun) -> list[str]:
    """What is missing in the directory of a run."""
    files = archived.files
    evidence = [files.configuration, files.patch] if archive.original else []  # of others `damage` says it
    owed = [*evidence, *(files.verdict(name) for name in archive.validators)]
    missing = [path.relative_to(files.root).as_posix() for path in owed if not path.is_file()]
    for name, validator in archive.validators.items():
        places = [files.context(name), *([files.root / "context.json"] if archive.original else [])]
        if validator.mode in WITH_CONTEXT and not any(path.is_file() for path in places):
            missing.append(files.context(name).relative_to(files.root).as_posix())
    if not archive.validators:
        missing.append("validation/*.json")
    return [f"lacks {', '.join(missing)}"] if missing else []


def _sessions(archive: Archive, archived: ArchivedRun) -> list[str]:
    """What the sessions of a run say that is not what was declared."""
    assert archived.run is not None
    found = []
    sessions, attempts = archived.sessions, archived.run.attempts
    if len(sessions) != attempts:
        found.append(f"has {counted(len(sessions), 'session')} for {counted(attempts, 'attempt')}")
    declared = archive.cells[archived.cell].thinking or archived.configuration.get("thinking")
    if declared is None:
        found.append("declares no thinking level that its sessions could be held against")
    answered: set[str] = set()
    for path in sessions:
        text = path.read_text(encoding="utf-8", errors="replace")
        answered.update(models(text))
        levels = thinking_levels(text)
        if declared is not None and levels != [declared]:
            ran = " and ".join(levels) or "no level at all"
            found.append(f"declares thinking {declared}, and {path.name} recorded {ran}")
    if not answered:
        found.append("no session says which model answered")
    found += [
        f"asked for the model {archive.model}, and {model} answered"
        for model in sorted(answered)
        if not resolves_to(archive.model, model)
    ]
    return found


def _outputs(archive: Archive) -> list[str]:
    """What a complete matrix owes beside its runs, and what of it is not there or cannot be read."""
    lacking = [*wholeness.absent(archive), *(f"bricks/{name}" for name in wholeness.missing_bricks(archive))]
    return [
        *([f"the matrix lacks {', '.join(lacking)}"] if lacking else []),
        *(f"{name} is empty or cut off" for name in wholeness.unreadable(archive)),
    ]


def _versions(archive: Archive, report: Report) -> None:
    versions = {run.agent_version for run in archive.rows if run.state == "valid"}
    named = sorted(version or "an unknown one" for version in versions)
    if len(named) > 1:
        report.problems.append(f"the version of the agent is not constant: {', '.join(named)}")
    elif versions - {None}:
        report.observed.append(f"every run was measured with version {named[0]} of the agent")


def _left_over(archive: Archive, workdir: Path) -> list[str]:
    left = [path.name for run in archive.runs for path in sorted((workdir / "trees").glob(f"*{run.id}-*"))]
    return [f"{counted(len(left), 'tree')} left in {workdir}: {', '.join(left[:5])}"] if left else []

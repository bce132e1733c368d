"""Refusals that look beyond the scenario file: at the archive, the repository and the machine."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trysquare import archive, places
from trysquare.errors import ArchiveError, TrysquareError
from trysquare.files import read_json
from trysquare.layout import RunLayout
from trysquare.matrix import CellPlan, Matrix, Source
from trysquare.outputs import Carried, identity, matrices
from trysquare.refusals import closest, listed, show
from trysquare.runner.bricks import preflight
from trysquare.runner.plan import Plan
from trysquare.runner.trees import above
from trysquare.scenario import Scenario, ScenarioError

CONTEXT_NAMES = ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
"""Files that the agent's context discovery takes from a directory and from all above it."""


def refuse_unknown_cells(flag: str, given: Sequence[str], names: Iterable[str]) -> None:
    """Refuse a cell name that no cell answers to, listing every cell.

    Raises
    ------
    ScenarioError
        Naming the flag that gave it.
    """
    names = list(names)
    for name in given:
        if name not in names:
            raise ScenarioError(
                f"{flag}: there is no cell {show(name)}{closest(name, names)}; the cells are {listed(names)}."
            )


def refuse_unmeasurable(scenario: Scenario) -> None:
    """The refusals that spend nothing, shared by planning and validating.

    Raises
    ------
    ScenarioError
        When a file the scenario points at is not there.
    """
    preflight(scenario, scenario.base)


def refuse_tracked(scenario: Scenario, cells: Mapping[str, CellPlan], source: Source) -> None:
    """Refuse a files brick that would replace what the etalon tracks; needs the commit.

    Raises
    ------
    ScenarioError
        Naming the destination and the tracked path.
    """
    given = sorted({path for cell in cells.values() for path in cell.files})
    if not given or not source.commit:
        return
    from trysquare import repo

    tracked = set(repo.etalon_files(Path(source.checkout), source.commit))
    folders = {folder for path in tracked for folder in above(path)}
    for path in given:
        taken = next((name for name in [path, *above(path)] if name in tracked), None)
        if taken is None and path in folders:
            taken = f"{path}/"
        if taken is not None:
            raise ScenarioError(
                f"{scenario.path}: [harness] files: {show(path)} would replace {show(taken)}, which {source.etalon} "
                "tracks, and the measured code would change unseen; choose another destination."
            )


def refuse_foreign(plan: Plan) -> None:
    """Refuse a directory whose plan.json is of another experiment.

    Raises
    ------
    ArchiveError
        When names that differ gave the same directory.
    """
    if not plan.output.plan.exists():
        return
    there, here = Matrix.load(plan.output.plan), plan.matrix
    for what, found, wanted in (
        ("the scenario", there.experiment.name, here.experiment.name),
        ("the etalon", there.source.etalon, here.source.etalon),
        ("the provider", there.agent.provider, here.agent.provider),
        ("the model", there.agent.model, here.agent.model),
        ("the repository", there.source.repo, here.source.repo),
        ("a rehearsal", there.rehearsal is not None, here.rehearsal is not None),
    ):
        if found != wanted:
            raise ArchiveError(
                f"{plan.directory} holds another experiment: {what} is {show(found)} there and {show(wanted)} here; "
                "give the scenario another name, or write to another output."
            )


def refuse_measured(plan: Plan) -> None:
    """Refuse a plan whose cells are not what their recorded runs were measured as. The records are the authority.

    Raises
    ------
    ArchiveError
        Naming each cell, what changed, and the ways out.
    """
    changed: dict[str, str] = {}
    commits: dict[str, str] = {}
    for run in plan.matrix.runs.values():
        if run.cell in plan.replay or run.cell in changed:
            continue
        found = RunLayout(plan.output.run(run.directory).root)
        try:
            record = archive.read_record(found)
        except (FileNotFoundError, NotADirectoryError):
            archive.refuse_lost(found)
            continue
        what = _difference(record, plan.matrix.cells[run.cell], found)
        if what and not archive.pointer_differs(found):
            changed[run.cell] = what
        commit = _commit(found)
        if commit and plan.matrix.source.commit not in ("", commit):
            commits[run.id] = commit
    if changed:
        raise ArchiveError(refuse_changed(plan, changed))
    if commits:
        name, commit = next(iter(commits.items()))
        raise ArchiveError(
            f"{plan.directory}: {len(commits)} recorded runs ({name} first) were measured at commit {commit[:12]}, but "
            f"{show(plan.matrix.source.etalon)} is {plan.matrix.source.commit[:12]} now: the tag was moved; "
            "put it back, or measure the new state under a tag of its own."
        )


def _difference(record: Any, cell: CellPlan, found: RunLayout) -> str:
    try:
        if record["fingerprint"] == cell.fingerprint:
            return ""
        before, now = dict(record["parts"]), dict(cell.parts)
    except (KeyError, TypeError, ValueError):
        raise ArchiveError(f"{found.record} is not a record of a run: {archive.remedy(found)}.") from None
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    return ", ".join(names) or "declaration"


def _commit(found: RunLayout) -> str | None:
    try:
        commit: str | None = read_json(found.configuration)["etalon_commit"]
    except (FileNotFoundError, KeyError, TypeError):
        return None
    return commit


def refuse_changed(plan: Plan, changed: dict[str, str]) -> str:
    """Why recorded runs of changed cells cannot be kept, one line per cell with the ways out."""
    path, act = plan.scenario.path, "run" if plan.matrix.rehearsal is None else "rehearse"
    return "\n".join(
        f"{path}: the cell {show(cell)} has measured runs in {plan.directory} and its {what} changed since: rename "
        f"the cell, or set its runs aside and measure it again (trysquare {act} {path} --overwrite {show(cell)})."
        for cell, what in changed.items()
    )


def refuse_inherited_context(plan: Plan) -> None:
    """Refuse a work directory below a context file, which cells with a context, or with agents, would inherit.

    Raises
    ------
    TrysquareError
        Naming the file, when any cell leaves context discovery on.
    """
    cells = {cell.name: "injects agents" for cell in plan.matrix.cells.values() if cell.agents}
    cells |= {
        cell.name: "has a context"
        for cell in plan.matrix.cells.values()
        if cell.context is not None or cell.keep_context
    }
    if not cells:
        return
    cell, why = next(iter(cells.items()))
    workdir = Path(plan.matrix.workdir)
    levels = {level: None for start in (workdir, Path(os.path.realpath(workdir))) for level in (start, *start.parents)}
    for level in levels:
        for name in CONTEXT_NAMES:
            if (level / name).is_file():
                raise TrysquareError(
                    f"the cell {show(cell)} {why}, and an agent would also read {level / name}, above the "
                    f"work directory {workdir}: move that file, or set [defaults] workdir of the machine file to a "
                    "place that has none above it."
                )


def refuse_unusable_places(plan: Plan, *, tried: bool = False) -> None:
    """Refuse a work directory, or a directory of results, that nothing can be written into; see `places.unusable`.

    Raises
    ------
    TrysquareError
        Naming both when both are.
    """
    problems = []
    machine = plan.config.path or "the machine file"
    if problem := places.unusable(Path(plan.matrix.workdir), tried=tried):
        problems.append(
            f"{machine}: [defaults] workdir: {plan.matrix.workdir} cannot be used: {problem}; set it to a directory "
            "that can be written into."
        )
    if problem := places.unusable(plan.directory, tried=tried):
        problems.append(
            f"{plan.directory} cannot be used: {problem}; name another directory for the results (--config output=DIR)."
        )
    if problems:
        raise TrysquareError("\n".join(problems))


def refuse_moved(plan: Plan) -> None:
    """Refuse to carry runs that saw another commit than the etalon turned out to be.

    Raises
    ------
    ArchiveError
        Naming both commits.
    """
    carried, now = plan.carried, plan.matrix.source.commit
    if carried is not None and carried.etalon_commit not in (None, now):
        raise ArchiveError(
            f"extend: the runs of {carried.directory} cannot be carried: the etalon was commit "
            f"{str(carried.etalon_commit)[:12]} and is {now[:12]}. Put the tag back, or leave extend out."
        )


def refuse_carry(carried: Carried | None, root: Path, scenario: Scenario, repetitions: int) -> None:
    """Refuse an extension that has nothing to work with, or whose runs were measured as something else.

    Raises
    ------
    ArchiveError
        Naming what is on disk.
    """
    if carried is not None and carried.mismatch:
        raise ArchiveError(
            f"extend: the runs of {carried.directory} cannot be carried: {'; '.join(carried.mismatch)}. "
            "Put that back, or leave extend out and measure every run."
        )
    if any(count < repetitions for count in matrices(root, scenario)):
        return
    held = [path.name for path in matrices(root, scenario).values()]
    raise ArchiveError(
        f"extend: {root} holds no matrix of {identity(scenario)} with fewer than {repetitions} repetitions (it holds "
        f"{listed(held)}); leave extend out, or name the output that holds one."
    )

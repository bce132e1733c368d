"""Runs that a smaller matrix of the same experiment already holds: paid for, and of the same id here."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trysquare import archive
from trysquare.errors import ArchiveError
from trysquare.files import read_json, read_lines
from trysquare.history import discarded
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import Matrix
from trysquare.outputs.paths import archived_run_dirs, matrices

if TYPE_CHECKING:
    from trysquare.scenario import Scenario


@dataclass(frozen=True)
class Prior:
    """What a launch finds on disk and may have to decide about.

    `kept` are the recorded runs of the plan, `leftovers` those of its runs that were tried and produced nothing,
    `source` a smaller matrix whose runs could be carried.
    """

    kept: tuple[str, ...]
    leftovers: tuple[str, ...]
    source: "Carried | None" = None


def prior(layout: Layout, matrix: Matrix, source: "Carried | None" = None) -> Prior:
    """What is on disk already of a planned matrix. Reads and decides nothing."""
    kept = tuple(name for name, run in matrix.runs.items() if layout.run(run.directory).record.exists())
    tried = tuple(name for name in matrix.runs if name not in kept and layout.attempts(name).exists())
    return Prior(kept, tried, source)


@dataclass(frozen=True)
class Carried:
    """What one carry would copy from `directory`, a matrix of `repetitions` repetitions.

    `entries` maps run ids to their records, `trees` to their directories. `mismatch` says, one sentence each, why runs
    were measured as something else; with any of them nothing may be carried.
    """

    directory: Path
    repetitions: int
    entries: Mapping[str, Mapping[str, Any]]
    trees: Mapping[str, Path]
    etalon_commit: str | None
    mismatch: tuple[str, ...] = ()


def carryable(
    root: Path, scenario: "Scenario", matrix: Matrix, repetitions: int, only: Collection[str] = ()
) -> Carried | None:
    """The runs that the best smaller matrix under `root` holds and the planned one lacks, or None. Reads only.

    A run that was set aside here is to be measured again, so it is never carried. One source, never two: a matrix that
    agrees on what is measured comes first, then the one with most repetitions.
    """
    here = Layout(root / matrix.name)
    aside = discarded(read_lines(here.launches))
    lacking = {
        name
        for name, run in matrix.runs.items()
        if name not in aside and (not only or run.cell in only) and not here.run(run.directory).record.exists()
    }
    smaller = {count: path for count, path in matrices(root, scenario).items() if count < repetitions}
    found = [_offer(path, count, matrix, lacking) for count, path in smaller.items()] if lacking else []
    offers = [offer for offer in found if offer.entries]
    return max(offers, key=lambda offer: (not offer.mismatch, offer.repetitions), default=None)


def _offer(directory: Path, repetitions: int, matrix: Matrix, lacking: set[str]) -> Carried:
    entries, trees = {}, {}
    mismatch: dict[str, None] = {}
    commit = None
    for tree in archived_run_dirs(directory):
        if tree.name not in lacking or not (tree / "run.json").exists():
            continue
        run = RunLayout(tree)
        try:
            record, configuration = read_json(run.record), read_json(run.configuration)
            mismatch.update(dict.fromkeys(mismatches(record, configuration, matrix)))
            mismatch.update(dict.fromkeys(f"{tree} is damaged ({problem})" for problem in archive.damage(run)))
            commit = configuration.get("etalon_commit")
        except (ArchiveError, FileNotFoundError, KeyError, TypeError, AttributeError) as error:
            mismatch[f"{tree} cannot be read ({error})"] = None
            record = {}
        entries[tree.name], trees[tree.name] = record, tree
    return Carried(directory, repetitions, entries, trees, commit, tuple(mismatch))


def fits(run: RunLayout, matrix: Matrix) -> bool:
    """Whether a recorded run was measured as the plan would measure it."""
    return not mismatches(read_json(run.record), read_json(run.configuration), matrix)


def mismatches(record: Mapping[str, Any], configuration: Mapping[str, Any], matrix: Matrix) -> list[str]:
    """Why a run was measured as something else than the plan would measure, one clause each."""
    cell = matrix.cells[record["cell"]]
    found = []
    if record["fingerprint"] != cell.fingerprint:
        before, now = record["parts"], cell.parts
        names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        found.append(f"the cell '{cell.name}' had another {', '.join(names) or 'declaration'}")
    if configuration["repo"] != matrix.source.repo:
        found.append(f"the repository was '{configuration['repo']}' and is '{matrix.source.repo}'")
    commit = configuration["etalon_commit"]
    if matrix.source.commit not in ("", commit):
        found.append(f"the etalon was commit {commit[:12]} and is {matrix.source.commit[:12]}")
    return found

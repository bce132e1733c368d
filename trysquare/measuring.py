"""Measuring one run: clone, bricks, agent, archive. Knows nothing of validators."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from trysquare import agent, archive, history, holding, remote, repo, spending, workplace
from trysquare.errors import ArchiveError, RepoError, TrysquareError
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import CellPlan, Extension, Matrix, RunPlan
from trysquare.outputs.carry import fits
from trysquare.recording import EMPTY, Bench, empty, failed, last_attempt, stage_run
from trysquare.watching import Heart

ROOM = 10**6
"""Bytes that must be free where a run is worked on and where it is archived, before anything is spent on it."""

SPACE = 4 * 10**9
"""Bytes one run may write to disk beyond the tree it is given."""


def measure(layout: Layout, matrix: Matrix, directory: str, *, may_spend: bool) -> int:
    """Measure one planned run unless it is recorded, and commit it; returns the job's exit status.

    Raises
    ------
    TrysquareError
        When the plan has no such run, nothing may be spent, or the budget of the scenario is used up.
    """
    run = layout.run(directory)
    planned = matrix.runs.get(run.id)
    if planned is None or planned.directory != directory:
        raise ArchiveError(f"{layout.plan} plans no run {directory}: launch `run` with the scenario that declares it.")
    with archive.locked(layout.lock(run.id)):
        if run.record.exists():
            archive.emit_pointer(run)
            print(f"{run.id}: measured before, kept")
            return 0
        archive.refuse_occupied(run)
        if archive.recover(layout, run, lambda staged: fits(staged, matrix)):
            print(f"{run.id}: measured before by a job that was killed while committing it, kept")
            return 0
        if not may_spend:
            raise TrysquareError(f"run {run.id} is not measured yet: only the target `run` may spend; ask for it.")
        spending.refuse_over_budget(layout, matrix, "measure the rest")
        launch = history.latest(layout.launches)
        remote.refuse_unseen(layout, matrix, launch)
        holding.refuse_held(layout, launch)
        with _bench(layout, matrix, planned) as bench:
            _refuse_full(bench)
            return _measure(bench, run)


def _refuse_full(bench: Bench) -> None:
    for place, holds in ((bench.stage, bench.layout.root), (bench.work, Path(bench.matrix.workdir))):
        if (free := shutil.disk_usage(place).free) < ROOM:
            raise TrysquareError(
                f"no space left in {holds} for a run ({free / 10**6:.1f} MB free): free some and launch again; "
                "nothing was spent on it."
            )


@contextmanager
def _bench(layout: Layout, matrix: Matrix, planned: RunPlan) -> Iterator[Bench]:
    layout.incoming.mkdir(parents=True, exist_ok=True)
    with workplace.private(Path(matrix.workdir), f"{planned.id}-") as work:
        stage = Path(tempfile.mkdtemp(dir=layout.incoming, prefix=f"{planned.id}-"))
        stage.chmod(0o755)
        try:
            yield Bench(layout, matrix, planned, history.latest(layout.launches), work, stage)
        finally:
            if not (stage / "run.json").exists():
                shutil.rmtree(stage, ignore_errors=True)


def _measure(bench: Bench, run: RunLayout) -> int:
    matrix, cell = bench.matrix, bench.cell
    source, workdir = Path(matrix.source.checkout), Path(matrix.workdir)
    try:
        tree = repo.prepare(source, workdir, bench.layout.bricks, cell, matrix.source.commit, bench.work)
    except repo.SetupFailed as error:
        return empty(bench, {"attempt": None, "detail": str(error)})
    with Heart(bench.layout, bench.planned) as heart:
        outcome = _launch(bench, tree, heart)
    holding.note(bench.layout, bench.launch, run.id, outcome)
    if not outcome.produced_something:
        print(f"{bench.planned.id}: {outcome.detail}")
        return EMPTY
    try:
        change = repo.capture(tree)
    except RepoError as error:
        return failed(bench, last_attempt(bench), outcome, str(error))
    stage_run(bench, tree, change, outcome)
    archive.commit(bench.stage, run)
    usage = outcome.usage
    print(f"{run.id}: {usage['turns']} turns, {usage['input']} in, {usage['output']} out, {outcome.duration:.1f} s")
    return 0


def _provider(bench: Bench) -> Any:
    """The scripted provider of a rehearsal, playing for the length of a block; nothing for a measurement."""
    if bench.matrix.rehearsal is None:
        return nullcontext()
    from trysquare import rehearsal

    text = bench.layout.brick(bench.matrix.rehearsal.script).read_text(encoding="utf-8")
    return rehearsal.Provider(
        rehearsal.Script.parse(text),
        bench.planned.cell,
        bench.planned.repetition,
        log=bench.layout.requests,
        run=bench.planned.id,
    )


def _launch(bench: Bench, tree: repo.Prepared, watch: Heart) -> agent.Outcome:
    cell, declared, protocol = bench.cell, bench.matrix.agent, bench.matrix.protocol
    with _provider(bench) as provider:
        offered = None if provider is None else provider.models(declared.model)
        agent.home(bench.work / "home", cell.thinking, offered)
        extensions = [_extension(bench, extension) for extension in cell.extensions]
        if cell.agents:
            extensions.append(agent.subagent_gate(bench.work / "gate", tree.agents))

        def arguments(attempt: int) -> Sequence[str]:
            sessions = bench.work / f"session-{attempt}"
            sessions.mkdir()
            return agent.argv(
                bench.prompt,
                declared.provider if provider is None else "rehearsal",
                declared.model,
                cell.thinking,
                sessions,
                extensions=extensions,
                skills=[tree.path / ".pi" / "skills" / name for name in _skills(cell)],
                has_context=cell.context is not None or cell.keep_context,
            )

        return agent.run_until_productive(
            tree.path,
            arguments,
            protocol.timeout,
            protocol.attempts,
            bench.work / "trace.jsonl",
            ceiling=protocol.stream_limit,
            space=agent.Space(bench.work, SPACE),
            watch=watch,
            env=agent.environment(bench.work / "home", offered),
            failed=lambda attempt, outcome: failed(bench, attempt, outcome),
        )


def _extension(bench: Bench, extension: Extension) -> Path:
    """Where an extension is loaded from: its pinned repository, or its frozen files put beside the tree."""
    if extension.origin is not None:
        from trysquare.runner.sources import extension_path

        return extension_path(Path(bench.matrix.workdir), extension)
    target = bench.work / "extensions" / extension.brick
    return repo.materialise(bench.layout.bricks, extension.tree, target) / extension.load


def _skills(cell: CellPlan) -> list[str]:
    return sorted({name.split("/", 1)[0] for name in cell.skills})

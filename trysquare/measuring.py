"""Measuring one run: clone, bricks, agent, archive. Knows nothing of validators."""

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trysquare import agent, archive, holding, remote, repo, workplace
from trysquare.errors import ArchiveError, RepoError, TrysquareError
from trysquare.files import append_line, read_lines, write_bytes, write_json, write_text
from trysquare.frozen import encode
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import CellPlan, Extension, Matrix, RunPlan
from trysquare.outputs.carry import fits
from trysquare.watching import Heart

EMPTY = 1
"""Exit status of a job whose run produced nothing."""

SPACE = 4 * 10**9
"""Bytes one run may write to disk beyond the tree it is given."""


@dataclass(frozen=True)
class Bench:
    """All that measuring one run needs: the plan, the launch it belongs to, and a private place on either side."""

    layout: Layout
    matrix: Matrix
    planned: RunPlan
    launch: Mapping[str, Any]
    work: Path
    stage: Path

    @property
    def cell(self) -> CellPlan:
        """The configuration under measurement."""
        return self.matrix.cells[self.planned.cell]

    @property
    def prompt(self) -> str:
        """The text the agent is given."""
        return self.layout.brick(self.cell.prompt).read_text(encoding="utf-8")


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
        _refuse_over_budget(layout, matrix)
        launch = _launch_line(layout)
        remote.refuse_unseen(layout, matrix, launch)
        holding.refuse_held(layout, launch)
        with _bench(layout, matrix, planned) as bench:
            return _measure(bench, run)


def _refuse_over_budget(layout: Layout, matrix: Matrix) -> None:
    limit = matrix.protocol.max_cost
    if limit is None:
        return
    spent = archive.spent(layout, matrix.runs)
    if spent >= limit:
        raise TrysquareError(
            f"the matrix has spent {spent:g} of max_cost = {limit:g}: raise [protocol].max_cost to measure the rest."
        )


def _launch_line(layout: Layout) -> dict[str, Any]:
    launches = [line for line in read_lines(layout.launches) if line.get("kind") == "launch"]
    if not launches:
        raise ArchiveError(f"{layout.launches} names no launch: start the matrix with the target `run`.")
    return dict(launches[-1])


@contextmanager
def _bench(layout: Layout, matrix: Matrix, planned: RunPlan) -> Iterator[Bench]:
    layout.incoming.mkdir(parents=True, exist_ok=True)
    with workplace.private(Path(matrix.workdir), f"{planned.id}-") as work:
        stage = Path(tempfile.mkdtemp(dir=layout.incoming, prefix=f"{planned.id}-"))
        stage.chmod(0o755)
        try:
            yield Bench(layout, matrix, planned, _launch_line(layout), work, stage)
        finally:
            if not (stage / "run.json").exists():
                shutil.rmtree(stage, ignore_errors=True)


def _measure(bench: Bench, run: RunLayout) -> int:
    matrix, cell = bench.matrix, bench.cell
    source, workdir = Path(matrix.source.checkout), Path(matrix.workdir)
    try:
        tree = repo.prepare(source, workdir, bench.layout.bricks, cell, matrix.source.commit, bench.work)
    except repo.SetupFailed as error:
        return _empty(bench, {"attempt": None, "detail": str(error)})
    with Heart(bench.layout, bench.planned) as heart:
        outcome = _launch(bench, tree, heart)
    holding.note(bench.layout, bench.launch, run.id, outcome)
    if not outcome.produced_something:
        print(f"{bench.planned.id}: {outcome.detail}")
        return EMPTY
    try:
        change = repo.capture(tree)
    except RepoError as error:
        return _failed(bench, _last_attempt(bench), outcome, str(error))
    _stage(bench, tree, change, outcome)
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
            failed=lambda attempt, outcome: _failed(bench, attempt, outcome),
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


def _last_attempt(bench: Bench) -> int:
    return max(int(path.name.rpartition("-")[2]) for path in bench.work.glob("session-*"))


def _sessions(bench: Bench, attempt: int) -> list[Path]:
    return sorted((bench.work / f"session-{attempt}").glob("*.jsonl"))


def _failed(bench: Bench, attempt: int, outcome: agent.Outcome, detail: str = "") -> int:
    """Keep the trace of an attempt that gave no measurement: one line, and its session beside it."""
    before = _attempts(bench)
    for session in _sessions(bench, attempt):
        data = session.read_bytes()
        write_bytes(bench.layout.attempt_sessions(bench.planned.id) / f"attempt-{before + 1:02}.jsonl", data)
    line = {"attempt": before + 1, "detail": detail or outcome.detail, "duration": round(outcome.duration, 3)}
    return _empty(bench, line)


def _empty(bench: Bench, line: Mapping[str, Any]) -> int:
    line = {**line, "launch": bench.launch["id"], "at": time.time()}
    append_line(bench.layout.attempts(bench.planned.id), line)
    print(f"{bench.planned.id}: {line['detail']}")
    return EMPTY


def _attempts(bench: Bench) -> int:
    lines = read_lines(bench.layout.attempts(bench.planned.id))
    return sum(line.get("attempt") is not None for line in lines)


def _stage(bench: Bench, tree: repo.Prepared, change: repo.Change, outcome: agent.Outcome) -> None:
    stage = RunLayout(bench.stage)
    before = _attempts(bench)
    sessions = _archive_sessions(bench, stage, before)
    write_text(stage.prompt, bench.prompt)
    write_text(stage.response, outcome.response)
    write_bytes(stage.patch, change.patch)
    collected = archive.collect_files(tree.path, bench.matrix.task.collect, stage.collected)
    write_json(stage.configuration, _configuration(bench, tree, change, collected, agent.recorded_model(sessions)))
    write_json(stage.record, {**_record(bench, outcome, before + 1), "evidence": archive.evidence(stage)})


def _archive_sessions(bench: Bench, stage: RunLayout, before: int) -> list[Path]:
    """One file per attempt, byte for byte; the last is the attempt that was measured."""
    stage.session.mkdir()
    earlier = sorted(bench.layout.attempt_sessions(bench.planned.id).glob("*.jsonl"))
    for session in earlier:
        shutil.copyfile(session, stage.session / session.name)
    for session in _sessions(bench, _last_attempt(bench)):
        shutil.copyfile(session, stage.session / f"attempt-{before + 1:02}.jsonl")
    return sorted(stage.session.glob("*.jsonl"))


def _record(bench: Bench, outcome: agent.Outcome, attempts: int) -> dict[str, Any]:
    launch = bench.launch
    record = {
        "id": bench.planned.id,
        "cell": bench.planned.cell,
        "repetition": bench.planned.repetition,
        "usage": outcome.usage,
        "duration": round(outcome.duration, 3),
        "attempts": attempts,
        "timed_out": outcome.timed_out,
        "fingerprint": bench.cell.fingerprint,
        "parts": dict(bench.cell.parts),
        "launch": {key: launch[key] for key in ("id", "started", "concurrency", "timeout", "host", "executor")},
        "agent": launch["agent"],
        "harness": launch["harness"],
        "isolation": bench.matrix.isolation,
    }
    if bench.matrix.rehearsal is not None:
        record["rehearsed"] = True
    return record


def _configuration(
    bench: Bench, tree: repo.Prepared, change: repo.Change, collected: archive.Collected, model_id: str | None
) -> dict[str, Any]:
    matrix, cell = bench.matrix, bench.cell
    return {
        "cell": cell.name,
        "repo": matrix.source.repo,
        "origin": matrix.source.origin,
        "etalon": matrix.source.etalon,
        "etalon_commit": matrix.source.commit,
        "base_commit": tree.base_commit,
        "base_tree": tree.base_tree,
        "tree": change.tree,
        "provider": matrix.agent.provider,
        "model": matrix.agent.model,
        "model_id": model_id,
        "thinking": cell.thinking,
        "injected": sorted(tree.injected),
        "given": sorted(tree.given),
        "agents": tree.agents,
        "history": cell.history,
        "setup": None if cell.setup is None else cell.setup.digest,
        "parts": dict(cell.parts),
        "base": encode(tree.base),
        "touched": list(change.touched),
        "ignored": list(change.ignored),
        "hidden": list(change.hidden),
        "collected": encode(collected),
    }

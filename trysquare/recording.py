"""What is kept of a run: staged whole for its commit, or one line of every attempt that gave no measurement."""

import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trysquare import agent, archive, repo
from trysquare.files import append_line, read_lines, write_bytes, write_json, write_text
from trysquare.frozen import encode
from trysquare.layout import Layout, RunLayout
from trysquare.matrix import CellPlan, Matrix, RunPlan

EMPTY = 1
"""Exit status of a job whose run produced nothing."""


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


def last_attempt(bench: Bench) -> int:
    """The number of the latest launch of the agent within this job."""
    return max(int(path.name.rpartition("-")[2]) for path in bench.work.glob("session-*"))


def _sessions(bench: Bench, attempt: int) -> list[Path]:
    return sorted((bench.work / f"session-{attempt}").glob("*.jsonl"))


def failed(bench: Bench, attempt: int, outcome: agent.Outcome, detail: str = "") -> int:
    """Keep the trace of an attempt that gave no measurement: one line, and its session beside it."""
    before = _attempts(bench)
    for session in _sessions(bench, attempt):
        data = session.read_bytes()
        write_bytes(bench.layout.attempt_sessions(bench.planned.id) / f"attempt-{before + 1:02}.jsonl", data)
    took = {"duration": round(outcome.duration, 3), "usage": outcome.usage}
    return empty(bench, {"attempt": before + 1, "detail": detail or outcome.detail, **took})


def empty(bench: Bench, line: Mapping[str, Any]) -> int:
    """Note in one line why there is no measurement, and print it; returns the exit status of the job."""
    line = {**line, "launch": bench.launch["id"], "at": time.time()}
    append_line(bench.layout.attempts(bench.planned.id), line)
    print(f"{bench.planned.id}: {line['detail']}")
    return EMPTY


def _attempts(bench: Bench) -> int:
    lines = read_lines(bench.layout.attempts(bench.planned.id))
    return sum(line.get("attempt") is not None for line in lines)


def stage_run(bench: Bench, tree: repo.Prepared, change: repo.Change, outcome: agent.Outcome) -> None:
    """Write everything that is kept of a measurement to the stage of its job, the record last."""
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
    for session in _sessions(bench, last_attempt(bench)):
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

"""Archives that other tools wrote, made from a seed: matrices of the original trysquare, and a bench before that."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.foreign_runs import CELLS, MODEL, Measured, experiment, git, measured, repository

# The original trysquare


@dataclass
class Original:
    """A matrix directory of the original trysquare at `root`, and the scenario it was measured with."""

    root: Path
    scenario: Path
    runs: list[Measured] = field(default_factory=list)

    def directory(self, run: Measured) -> Path:
        return self.root / "runs" / run.cell.replace(" / ", "_").replace(" ", "-") / run.id

    def edit(self, name: str, change: Any) -> None:
        """Change a JSON file of the archive in place."""
        path = self.root / name
        data = json.loads(path.read_text(encoding="utf-8"))
        change(data)
        write_json(path, data)

    def bytes(self) -> dict[str, bytes]:
        """Every byte of the archive."""
        files = (path for path in sorted(self.root.rglob("*")) if path.is_file())
        return {str(path.relative_to(self.root)): path.read_bytes() for path in files}


def write_json(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def original(root: Path, seed: int = 1, repetitions: int = 6) -> Original:
    """An archive as the original wrote it: no plan, no prompts, no record of the agent's version."""
    scenario = experiment(root)
    patches = repository(root / "repository")
    commit = git(root / "repository", "rev-parse", "v1^{commit}").decode().strip()
    made = Original(root / f"counter_v1_maker_maker-4_n{repetitions}", scenario, list(measured(seed, repetitions)))
    for run in made.runs:
        directory = made.directory(run)
        run.archive(directory, patches, CELLS[run.cell])
        write_json(
            directory / "configuration.json",
            {
                "cell": run.cell,
                "repo": "counter",
                "repo_source": "~/src/counter",
                "etalon": "v1",
                "etalon_commit": commit,
                "provider": "maker",
                "model": "maker-4",
                "model_id": MODEL,
                "thinking": CELLS[run.cell],
                "injected": ["AGENTS.md"] if "ticket" in run.cell else [],
                "given": [],
                "agents": {},
            },
        )
        context = {"repo": f"/gone/{run.id}/repo", "etalon": {"tag": "v1", "checkout": "/gone/counter"}}
        declared = ["in_scope", "delivered", "tests", "overflow", "issues"]
        write_json(
            directory / "validation/script/context.json",
            {**context, "cell": run.cell, "repetition": run.repetition, "declared": declared},
        )
        write_json(directory / "validation/script.json", {"metrics": run.metrics, "reasons": {}})
        (directory / "validation/script.stderr").write_text("")
    write_json(made.root / "state.json", _ledger(made, repetitions))
    write_json(made.root / "measures.json", [_row(run) for run in made.runs])
    (made.root / "synthesis.md").write_text("# Does a rule keep the fix small?\n")
    return made


def _ledger(made: Original, repetitions: int) -> dict[str, Any]:
    return {
        "scenario": "counter",
        "etalon": "v1",
        "provider": "maker",
        "model": "maker-4",
        "repo": "counter",
        "repetitions": repetitions,
        "concurrency": 4,
        "timeout": 600,
        "overrides": {},
        "layout": "grouped",
        "complete": True,
        "cells": {cell: sha256(cell.encode()).hexdigest()[:12] for cell in CELLS},
        "runs": {
            run.id: {"cell": run.cell, "repetition": run.repetition, "state": "valid", "attempts": run.attempts}
            for run in made.runs
        },
    }


def _row(run: Measured) -> dict[str, Any]:
    return {
        "id": run.id,
        "cell": run.cell,
        "repetition": run.repetition,
        "usage": run.usage,
        "duration": run.duration,
        "metrics": run.metrics,
        "reasons": {"overflow": "also changed theme.py"} if run.beyond else {},
        "state": "valid",
        "detail": "",
        "attempts": run.attempts,
    }


# The bench before it


@dataclass
class Bench:
    """What the bench published, `measures`, and the archive of its runs."""

    measures: Path
    archive: Path
    scenario: Path

    @property
    def rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(self.measures.read_text(encoding="utf-8"))
        return rows

    def publish(self, rows: Sequence[Mapping[str, Any]]) -> None:
        write_json(self.measures, list(rows))


def bench(root: Path, seed: int = 1, repetitions: int = 8) -> Bench:
    """Published rows in an order of their own, sessions and patches; one run was never scored, and one was silent."""
    made = Bench(root / "mesures.json", root / "archive", experiment(root))
    patches = repository(root / "repository")
    runs = list(measured(seed, repetitions))
    random.Random(seed).shuffle(runs)
    for run in runs:
        run.archive(made.archive / run.id, patches, CELLS[run.cell])
        write_json(made.archive / run.id / "configuration.json", {"cell": run.cell, "etalon": "v1"})
    rows = [_published(run) for run in runs]
    rows += [
        {**_published(runs[0]), "identifiant": "neverscd", "note": None},
        {**_published(runs[1]), "identifiant": "silent00", "input": 0, "cacheRead": 0, "output": 0, "tours": 0},
    ]
    made.publish(rows)
    return made


def _published(run: Measured) -> dict[str, Any]:
    usage, metrics = run.usage, run.metrics
    return {
        "cellule": run.cell,
        "modele": "maker-4",
        "fournisseur": "maker",
        "etalon": "v1",
        "input": usage["input"],
        "cacheRead": usage["cacheRead"],
        "output": usage["output"],
        "cout": usage["cost"],
        "tours": usage["turns"],
        "duree": run.duration,
        "reprises": usage["retries"],
        "essais": run.attempts,
        "note": {
            "debordement": metrics["overflow"],
            "livre": metrics["delivered"],
            "perimetre": metrics["in_scope"],
            "tests": metrics["tests"],
            "issues": metrics["issues"],
            "apiStable": True,
        },
        "identifiant": run.id,
    }

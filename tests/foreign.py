"""Archives that other tools wrote, made from a seed: matrices of the original trysquare, and a bench before that."""

import json
import random
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

MODEL = "maker-4-large"
SOURCES = {"counter.py": "def bump(n):\n    return n - 1\n", "theme.py": "BLUE = 1\n"}
FIXED = {"counter.py": "def bump(n):\n    return n + 1\n"}
BEYOND = {**FIXED, "theme.py": "BLUE = 2\n"}

SCENARIO = """
[scenario]
name = "counter"
title = "Does a rule keep the fix small?"

[task]
repo = "counter"
etalon = "v1"
prompt = "The counter goes down. Fix it."
test_command = "python3 -m unittest"

[agent]
provider = "maker"
model = "maker-4"
thinking = "off"

[protocol]
repetitions = 6

[variants."base"]

[variants."+ticket soigné"]
context = "rule.md"

[variants."+réflexion"]
thinking = "high"

[[validation]]
mode = "script"
command = "validator.py"
metrics = ["in_scope", "delivered", "tests", "overflow", "issues"]

[verdict]
criterion = "overflow"
reference = "base"
validity = ["delivered", "tests"]
"""

VALIDATOR = """
from trysquare.assay import Assay, validator


@validator
def evaluate(run: Assay) -> dict:
    beyond = run.touched - {"counter.py"}
    fixed = "n + 1" in (run.repo / "counter.py").read_text()
    return {
        "in_scope": not beyond,
        "delivered": bool(run.touched),
        "tests": fixed,
        "overflow": bool(beyond),
        "issues": sorted(f"#{name}" for name in beyond),
    }


if __name__ == "__main__":
    raise SystemExit(evaluate.cli())
"""

CELLS = {"base": "off", "+ticket soigné": "off", "+réflexion": "high"}
"""Names no file system and no table has an easy time with, and the thinking level of each."""


def git(directory: Path, *arguments: str) -> bytes:
    identity = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.invalid", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *identity, *arguments], cwd=directory, check=True, capture_output=True).stdout


def repository(root: Path) -> dict[bool, bytes]:
    """A repository tagged v1 at `root`; returns the patches of a fix that stays in scope (False) and of one beyond."""
    root.mkdir(parents=True)
    for name, text in SOURCES.items():
        (root / name).write_text(text)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "A counter")
    git(root, "tag", "v1")
    patches = {}
    for beyond, files in ((False, FIXED), (True, BEYOND)):
        for name, text in files.items():
            (root / name).write_text(text)
        patches[beyond] = git(root, "diff", "--binary")
        git(root, "checkout", "-q", "--", ".")
    return patches


def experiment(root: Path) -> Path:
    """The scenario of all that is made here, with its validator and its machine file; returns the scenario's path."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "rule.md").write_text("Change nothing but counter.py.\n")
    (root / "validator.py").write_text(VALIDATOR)
    (root / "trysquare.toml").write_text(
        f'[repos]\ncounter = "{root / "repository"}"\n\n[defaults]\nworkdir = "{root / "work"}"\n'
    )
    (root / "scenario.toml").write_text(SCENARIO)
    return root / "scenario.toml"


Turn = tuple[int, int, int]
"""Tokens in, tokens out, tokens from the cache."""


def session(turns: Sequence[Turn], thinking: str, model: str = MODEL) -> str:
    """A session file as pi writes it."""
    entries: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s", "cwd": "/somewhere"},
        {"type": "model_change", "provider": "maker", "modelId": model},
        {"type": "thinking_level_change", "thinkingLevel": thinking},
        {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": "Fix it."}]}},
    ]
    for number, (sent, said, cached) in enumerate(turns, 1):
        usage = {"input": sent, "output": said, "cacheRead": cached, "cacheWrite": 0, "cost": {"total": sent / 1e6}}
        message = {"role": "assistant", "content": [{"type": "text", "text": f"Turn {number}."}], "model": model}
        entries.append({"type": "message", "message": {**message, "usage": usage, "stopReason": "stop"}})
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)


@dataclass
class Measured:
    """One made-up run of either tool."""

    id: str
    cell: str
    repetition: int
    turns: list[Turn]
    beyond: bool
    duration: float
    attempts: int = 1

    @property
    def usage(self) -> dict[str, Any]:
        sums = [sum(turn[part] for turn in self.turns) for part in range(3)]
        return {
            "input": sums[0],
            "output": sums[1],
            "cacheRead": sums[2],
            "cacheWrite": 0,
            "turns": len(self.turns),
            "retries": 0,
            "cost": sum(turn[0] / 1e6 for turn in self.turns),
        }

    def archive(self, directory: Path, patches: Mapping[bool, bytes], thinking: str) -> None:
        """What both tools leave of a run."""
        (directory / "session").mkdir(parents=True)
        (directory / "diff.patch").write_bytes(patches[self.beyond])
        for attempt in range(1, self.attempts + 1):
            turns = self.turns if attempt == self.attempts else []
            name = f"2026-05-0{attempt}T10-00-00-000Z_{self.id}.jsonl"
            (directory / "session" / name).write_text(session(turns, thinking), encoding="utf-8")

    @property
    def metrics(self) -> dict[str, Any]:
        issues = ["#theme.py"] if self.beyond else []
        return {
            "in_scope": not self.beyond,
            "delivered": True,
            "tests": True,
            "overflow": self.beyond,
            "issues": issues,
        }


def measured(seed: int, repetitions: int) -> Iterator[Measured]:
    """Runs in which a ticket keeps the scope and costs input, and thinking costs output and time."""
    dice = random.Random(seed)
    for repetition in range(repetitions):
        for cell in CELLS:
            ticket, thinks = "ticket" in cell, CELLS[cell] == "high"
            turns = [
                (
                    dice.randint(900, 1100) + 400 * ticket,
                    dice.randint(40, 90) * (3 if thinks else 1),
                    dice.randint(0, 50),
                )
                for _ in range(dice.randint(3, 5))
            ]
            yield Measured(
                sha256(f"{seed} {cell} {repetition}".encode()).hexdigest()[:8],
                cell,
                repetition,
                turns,
                beyond=dice.random() < (0.1 if ticket else 0.7),
                duration=round(dice.lognormvariate(3 + thinks, 0.2), 2),
                attempts=2 if repetition == 1 and cell == "base" else 1,
            )


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

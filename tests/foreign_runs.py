"""Runs that other tools measured, made up from a seed: their experiment, their repository, their sessions."""

import json
import random
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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

"""A finished 2x2 experiment, made from a seed: its frozen plan and its rows, for tests that need results to show."""

import random
from dataclasses import replace
from pathlib import Path

from trysquare.files import digest, write_json
from trysquare.matrix import (
    Agent,
    CellPlan,
    Experiment,
    Matrix,
    Protocol,
    Rehearsal,
    RunPlan,
    Source,
    Task,
    ValidatorPlan,
    VerdictPlan,
)
from trysquare.measure import Run

CELLS = ("nothing / off", "nothing / high", "rule / off", "rule / high")
LAUNCH = "20260729T101500-4242"
LAUNCHES = [
    {
        "kind": "launch",
        "id": LAUNCH,
        "started": "2026-07-29T10:15:00+00:00",
        "concurrency": 2,
        "timeout": 900.0,
        "harness": {"version": "0.1.0", "revision": None},
    }
]


def cell_plan(name: str, **parts) -> CellPlan:
    return CellPlan(
        **{"name": name, "fingerprint": digest(name), "parts": {}, "thinking": "off", "prompt": "a" * 24} | parts
    )


def matrix(cells=CELLS, repetitions=10, draws=400, rehearsed=False) -> Matrix:
    plans = {
        name: cell_plan(
            name,
            context="b" * 24 if name.startswith("rule") else None,
            thinking="high" if name.endswith("high") else "off",
        )
        for name in cells
    }
    runs = {}
    for number, name in enumerate(cells):
        for repetition in range(1, repetitions + 1):
            run_id = f"{number:02x}{repetition:04x}"
            runs[run_id] = RunPlan(run_id, name, repetition, f"{name.replace(' / ', '_')}/{run_id}")
    return Matrix(
        name="small-fix_v1_maker_model-4_n10",
        experiment=Experiment("small-fix", "Does a rule keep a fix small?", "scenario.toml", "It does.\n\nAt a price."),
        source=Source("shop", "shop", "shop", "v1", "3f2c9a7d5e1b8c4f6a0d2e9b7c5a3f1d8e6b4c20"),
        task=Task("python -m unittest"),
        agent=Agent("pi", "maker", "model-4"),
        protocol=Protocol(repetitions, 2, 900.0, 3, 2**26),
        cells=plans,
        runs=runs,
        validators={"script": ValidatorPlan("script", "script", ("in_scope", "delivered", "files"), "d" * 24)},
        verdict=VerdictPlan("in_scope", cells[0], ("delivered",), draws, 20260729),
        workdir="work",
        rehearsal=Rehearsal("c" * 24) if rehearsed else None,
    )


def rows(plan: Matrix) -> list[Run]:
    """Runs in which a rule keeps the scope and costs input, and thinking costs output and time."""
    return [_run(planned, plan.rehearsal is not None) for planned in plan.runs.values()]


def written(directory: Path, plan: Matrix, runs: list[Run]) -> Path:
    """A matrix directory with the plan and the measures, and nothing else."""
    plan.save(directory / "plan.json")
    write_json(directory / "measures.json", [run.row() for run in runs])
    return directory


def _run(planned: RunPlan, rehearsed: bool) -> Run:
    dice = random.Random(planned.id)
    rule, high = planned.cell.startswith("rule"), planned.cell.endswith("high")
    in_scope = planned.repetition % 9 > 0 if rule else planned.repetition % 5 == 0
    usage = {
        "input": round(3300 + 600 * rule + dice.gauss(0, 140)),
        "output": round((140 + 180 * high) * dice.lognormvariate(0, 0.25)),
        "cacheRead": 0,
        "cacheWrite": 0,
        "turns": 3 + (dice.random() < 0.3),
        "retries": 0,
        "cost": 0.0,
    }
    return Run(
        id=planned.id,
        cell=planned.cell,
        repetition=planned.repetition,
        usage=usage,
        duration=round(dice.lognormvariate(0.2, 0.2) * (40 if high else 20), 2),
        metrics={"in_scope": in_scope, "delivered": True, "files": ["cart.py"] if in_scope else ["cart.py", "README"]},
        reasons={} if in_scope else {"in_scope": "touched README"},
        agent_version="1.6.0",
        isolation="none",
        launch=LAUNCH,
        rehearsed=rehearsed,
    )


def renamed(plan: Matrix, runs: list[Run], names: dict[str, str]) -> tuple[Matrix, list[Run]]:
    """The same experiment with other names of cells."""
    cells = {names.get(name, name): replace(cell, name=names.get(name, name)) for name, cell in plan.cells.items()}
    planned = {key: replace(run, cell=names.get(run.cell, run.cell)) for key, run in plan.runs.items()}
    verdict = replace(plan.verdict, reference=names.get(plan.verdict.reference, plan.verdict.reference))
    return (
        replace(plan, cells=cells, runs=planned, verdict=verdict),
        [replace(run, cell=names.get(run.cell, run.cell)) for run in runs],
    )

"""What collecting and rendering a large finished matrix costs: `python benchmarks/rows.py --rows 100000`.

One run of each cell is measured, with an agent that does nothing. Its archive is then written again for every further
repetition, with links to its evidence and a record that differs in what the run cost. Collect and render are the jobs
of the workflow, in one process each, and the memory is the most that either had at once.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

from scale import CELLS, ROOT, engine, prepared, timed, written

DRAWS = 100
PLAN = """
import sys
from trysquare import runner
[plan] = runner.resolve_all(runner.Settings.of({"scenario": sys.argv[1]}))
plan.matrix.save(plan.output.plan)
"""
COPIED = ("configuration.json", "prompt.md", "response.md", "diff.patch", "session/attempt-01.jsonl")


def finished(place: Path, rows: int, environment: dict[str, str]) -> Path:
    """The directory of a matrix of so many finished runs."""
    python = str(place / "python" / "bin" / "python")
    for number in count():  # of so many ids of eight digits two may be one, and other names of cells give others
        [name] = written(place, CELLS, prefix=f"c{number}_")
        large = written(place, rows, prefix=f"c{number}_")
        planned = subprocess.run([python, "-c", PLAN, *large], cwd=place, env=environment, capture_output=True)
        if planned.returncode == 0:
            break
    [large_matrix] = (place / "results").iterdir()
    written(place, CELLS, prefix=f"c{number}_")
    engine(place, [name], environment)
    [small] = (path for path in (place / "results").iterdir() if path != large_matrix)
    plan = json.loads((large_matrix / "plan.json").read_text(encoding="utf-8"))
    plan["verdict"]["draws"] = DRAWS
    (large_matrix / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    (large_matrix / "launches.jsonl").write_bytes((small / "launches.jsonl").read_bytes())
    multiply(small, large_matrix, plan["runs"].values())
    return large_matrix


def multiply(small: Path, large: Path, runs: Any) -> None:
    """Write the archive of every run of a plan after that of the one run its cell has."""
    from trysquare import archive
    from trysquare.layout import RunLayout

    dice = random.Random(0)
    for run in runs:
        [source] = (small / "runs" / run["cell"]).iterdir()
        target = RunLayout(large / "runs" / run["directory"])
        (target.root / "validation").mkdir(parents=True)
        (target.root / "session").mkdir()
        for name in COPIED:
            os.link(source / name, target.root / name)
        for path in (source / "validation").iterdir():
            if path.is_file():
                os.link(path, target.root / "validation" / path.name)
        record = json.loads((source / "run.json").read_text(encoding="utf-8"))
        record |= {"id": run["id"], "repetition": run["repetition"], "duration": round(dice.lognormvariate(5, 1), 3)}
        record["usage"] |= {"output": dice.randrange(100, 10_000), "turns": dice.randrange(1, 30)}
        target.record.write_text(json.dumps(record), encoding="utf-8")
        archive.emit_pointer(target)


def main() -> None:
    """Measure and print the rows as a table of Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        environment = {**prepared(place), "PYTHONPATH": str(ROOT)}
        matrix = finished(place, rows, environment)
        python = str(place / "python" / "bin" / "python")
        print(f"| {rows} rows, {CELLS} cells, {DRAWS} draws | | largest memory |\n| --- | --- | --- |")
        for job in ("collect", "render"):
            ledger = matrix / "ledger" / f"{job}.0"
            argv = [python, "-m", f"trysquare.jobs.{job}", "--pointer", str(ledger), str(matrix)]
            cost = timed(argv, place, environment)
            print(f"| {job} | {cost} | {cost.memory:.0f} MB |", flush=True)
        page = (matrix / "synthesis.html").stat().st_size
        print(f"| the page | {page / 1e6:.0f} MB | |")


if __name__ == "__main__":
    main()

"""What the harness costs beside the bare agent: `make bench`.

In one call and on one machine: the bare agent on the demo's own turns, and the whole workflow on the same turns, both
with two runs at once. Medians of ROUNDS rounds; the marginal cost is the slope between 20 and 40 runs, so that neither
start-up nor rendering is in it. The validators' own time is taken off, since it belongs to the scenario.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from trysquare import agent, rehearsal

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "examples" / "demo"
CELLS, WORKERS = 4, 2


@dataclass(frozen=True)
class Round:
    """Seconds of one round, at five and at ten repetitions of four cells."""

    bare: tuple[float, float]
    whole: tuple[float, float]
    validators: tuple[float, float]
    rescore: float
    idle: float


def bare(repetitions: int, place: Path) -> float:
    """The agent alone, two at once, on fresh copies of the demo's repository."""
    script = rehearsal.Script.parse((DEMO / "rehearsal.toml").read_text(encoding="utf-8"))
    cells = ("nothing / off", "nothing / high", "rule / off", "rule / high")

    def one(job: tuple[int, str]) -> None:
        repetition, cell = job
        work = Path(tempfile.mkdtemp(dir=place))
        subprocess.run(["git", "clone", "-q", str(DEMO / "repository"), str(work / "tree")], check=True)
        (work / "session").mkdir()
        with rehearsal.Provider(script, cell, repetition, log=work / "log", run="bare") as provider:
            offered = provider.models("rehearsal-1")
            agent.home(work / "home", cell.split(" / ")[1], offered)
            thinking = cell.split(" / ")[1]
            prompt = (DEMO / "prompt.md").read_text(encoding="utf-8")
            arguments = agent.argv(prompt, "rehearsal", "rehearsal-1", thinking, work / "session")
            environment = agent.environment(work / "home", offered)
            subprocess.run(
                [*agent.command(), *arguments[1:]],
                cwd=work / "tree",
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                check=True,
            )

    jobs = [(repetition, cell) for repetition in range(repetitions) for cell in cells]
    began = time.perf_counter()
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(one, jobs))
    return time.perf_counter() - began


def engine(place: Path, repetitions: int) -> float:
    """One invocation of the engine, in seconds; the matrices share nothing that a launch would look at."""
    command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--cores", "2", "run", "--config"]
    settings = [
        f'scenario="{place}/scenario.toml"',
        f'machine_file="{place}/trysquare.toml"',
        f'output="{place}/results-{repetitions}"',
        f"repetitions={repetitions}",
    ]
    began = time.perf_counter()
    done = subprocess.run([*command, *settings], cwd=place, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return time.perf_counter() - began


def validator_seconds(place: Path, repetitions: int) -> float:
    """What the validators themselves took, two at once."""
    verdicts = list((place / f"results-{repetitions}" / "rehearsals").glob("*/runs/*/*/validation/*.json"))
    assert len(verdicts) == CELLS * repetitions
    return sum(json.loads(path.read_text())["validator_seconds"] for path in verdicts) / WORKERS


def round_(place: Path) -> Round:
    """Measure everything once, from nothing."""
    shutil.copytree(DEMO, place, dirs_exist_ok=True)
    (place / "trysquare.toml").write_text(
        f'[repos]\ntally = "{DEMO / "repository"}"\n[defaults]\nworkdir = "{place}/work"\n', encoding="utf-8"
    )
    five, ten = bare(5, place), bare(10, place)
    whole = (engine(place, 5), engine(place, 10))
    validators = (validator_seconds(place, 5), validator_seconds(place, 10))
    idle = engine(place, 10)
    validator = place / "validator.py"
    validator.write_text(validator.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")
    rescore = engine(place, 10)
    return Round((five, ten), whole, validators, rescore, idle)


def report(rounds: list[Round]) -> None:
    """Print the medians, each beside the bare agent."""
    runs = 5 * CELLS
    bare_run = median((r.bare[1] - r.bare[0]) / runs for r in rounds)
    whole_run = median((r.whole[1] - r.whole[0]) / runs for r in rounds)
    validator_run = median((r.validators[1] - r.validators[0]) / runs for r in rounds)
    marginal = median(
        ((r.whole[1] - r.whole[0]) - (r.bare[1] - r.bare[0]) - (r.validators[1] - r.validators[0])) / runs
        for r in rounds
    )
    fixed = median(r.whole[0] - (r.whole[1] - r.whole[0]) for r in rounds)
    rescore = median((r.rescore - r.idle) / (2 * runs) for r in rounds)
    rows = (
        ("bare agent, per run (two at once)", bare_run),
        ("whole workflow, per run", whole_run),
        ("of which the validators themselves", validator_run),
        ("harness, marginal per run (at most 0.25)", marginal),
        ("fixed cost of a launch, rendering included", fixed),
        ("re-scoring, per run", rescore),
        ("idle launch (under 2)", median(r.idle for r in rounds)),
    )
    for name, seconds in rows:
        print(f"{name:<46}{seconds:8.3f} s   {seconds / bare_run:6.2f} x bare run")


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = []
    for number in range(parser.parse_args().rounds):
        print(f"round {number + 1}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as place:
            rounds.append(round_(Path(place)))
    report(rounds)


if __name__ == "__main__":
    main()

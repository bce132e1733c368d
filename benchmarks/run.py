"""What the harness costs beside the bare agent: `make bench`.

In one call and on one machine: the bare agent on the demo's own turns, and the whole workflow on the same turns, both
with two runs at once. Medians of ROUNDS rounds; the marginal cost is the slope between 20 and 40 runs, so that neither
start-up nor rendering is in it. The validators' own time is taken off, since it belongs to the scenario. Beside the
time on the clock, which other programs on the machine lengthen, stands the processor time, which they hardly do: with
two runs at once on two cores, a run that keeps them busy takes half of it on the clock.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from trysquare import agent, rehearsal

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "examples" / "demo"
CELLS, WORKERS = 4, 2


CLOCKED = """import atexit as _a, resource as _r
_a.register(lambda: open({log!r}, "a").write(
    f"{{sum(sum(_r.getrusage(who)[:2]) for who in (_r.RUSAGE_SELF, _r.RUSAGE_CHILDREN))}}\\n"))
"""
"""What a validator of the benchmark begins with, so that it leaves its processor time behind."""


@dataclass(frozen=True)
class Spent:
    """Seconds on the clock, and seconds of processors."""

    clock: float
    processor: float

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(self.clock - other.clock, self.processor - other.processor)

    def __truediv__(self, runs: int) -> "Spent":
        return Spent(self.clock / runs, self.processor / runs)


@dataclass(frozen=True)
class Round:
    """What one round took, at five and at ten repetitions of four cells."""

    bare: tuple[Spent, Spent]
    whole: tuple[Spent, Spent]
    validators: tuple[Spent, Spent]
    rescore: Spent
    idle: Spent


def spent(work: Callable[[], object]) -> Spent:
    """What something took, in this process and in those it waited for."""
    began, before = time.perf_counter(), _processor()
    work()
    return Spent(time.perf_counter() - began, _processor() - before)


def _processor() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def bare(repetitions: int, place: Path) -> Spent:
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
    with ThreadPoolExecutor(WORKERS) as pool:
        return spent(lambda: list(pool.map(one, jobs)))


def engine(place: Path, repetitions: int) -> Spent:
    """One invocation of the engine; the matrices share nothing that a launch would look at."""
    command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--cores", "2", "run", "--config"]
    settings = [
        f'scenario="{place}/scenario.toml"',
        f'machine_file="{place}/trysquare.toml"',
        f'output="{place}/results-{repetitions}"',
        f"repetitions={repetitions}",
    ]

    def launch() -> None:
        done = subprocess.run([*command, *settings], cwd=place, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)

    return spent(launch)


def validators(place: Path, repetitions: int) -> Spent:
    """What the validators themselves took since this was asked last, two at once."""
    verdicts = list((place / f"results-{repetitions}" / "rehearsals").glob("*/runs/*/*/validation/*.json"))
    assert len(verdicts) == CELLS * repetitions
    clock = sum(json.loads(path.read_text())["validator_seconds"] for path in verdicts) / WORKERS
    log = place / "processor.log"
    lines = log.read_text(encoding="utf-8").split()
    assert len(lines) == len(verdicts)
    log.unlink()
    return Spent(clock, sum(map(float, lines)))


def round_(place: Path) -> Round:
    """Measure everything once, from nothing."""
    shutil.copytree(DEMO, place, dirs_exist_ok=True)
    (place / "trysquare.toml").write_text(
        f'[repos]\ntally = "{DEMO / "repository"}"\n[defaults]\nworkdir = "{place}/work"\n', encoding="utf-8"
    )
    validator = place / "validator.py"
    text = validator.read_text(encoding="utf-8")
    validator.write_text(CLOCKED.format(log=str(place / "processor.log")) + text, encoding="utf-8")
    five, ten = bare(5, place), bare(10, place)
    measured = [(engine(place, repetitions), validators(place, repetitions)) for repetitions in (5, 10)]
    whole, scoring = zip(*measured, strict=True)
    idle = engine(place, 10)
    validator.write_text(validator.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")
    return Round((five, ten), whole, scoring, engine(place, 10), idle)


def report(rounds: list[Round]) -> str:
    """The medians as a table in markdown."""
    runs = 5 * CELLS
    bare_runs = [(r.bare[1] - r.bare[0]) / runs for r in rounds]
    whole_runs = [(r.whole[1] - r.whole[0]) / runs for r in rounds]
    validator_runs = [(r.validators[1] - r.validators[0]) / runs for r in rounds]
    parts = zip(whole_runs, bare_runs, validator_runs, strict=True)
    rows = {
        "bare agent, per run": bare_runs,
        "whole workflow, per run": whole_runs,
        "of which the validators themselves": validator_runs,
        "of which the harness (at most 0.25 s)": [whole - alone - scoring for whole, alone, scoring in parts],
        "fixed part of a launch, rendering included": [r.whole[0] - (r.whole[1] - r.whole[0]) for r in rounds],
        "scoring again, per run": [(r.rescore - r.idle) / (2 * runs) for r in rounds],
        "launch with nothing to do (under 2 s)": [r.idle for r in rounds],
    }
    lines = ["| | on the clock | of processors |", "| --- | ---: | ---: |"]
    for name, found in rows.items():
        clock, processor = median(each.clock for each in found), median(each.processor for each in found)
        lines.append(f"| {name} | {clock:.2f} s | {processor:.2f} s |")
    return "\n".join(lines)


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = []
    for number in range(parser.parse_args().rounds):
        print(f"round {number + 1}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as place:
            rounds.append(round_(Path(place)))
    print(report(rounds))


if __name__ == "__main__":
    main()

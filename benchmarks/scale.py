"""What a large matrix costs: `make bench-scale`, or `make bench-scale SCALE="--runs 5000"`.

The agent is one that does nothing, so that what is left is the harness. In the same call and on the same machine, a
bare workflow with the same jobs in the same order: once with jobs that do nothing, which is the engine alone, and once
with jobs that start an interpreter, which is the least a job in Python can cost. The memory is the largest of one
process, the files are those the matrix holds at the end.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CELLS = 4
HOOK = "import site, os; site.addsitedir(os.environ['TRYSQUARE_SCALE_PACKAGES'])"

AGENT = """#!/bin/sh
[ "$1" = --version ] && { echo 0; exit; }
while [ $# -gt 0 ]; do [ "$1" = --session-dir ] && sessions=$2; shift; done
echo '{"type":"session","id":"0","cwd":"."}' > "$sessions/0.jsonl"
echo '{"type":"model_change","provider":"rehearsal","modelId":"rehearsal-1"}' >> "$sessions/0.jsonl"
echo done > done.txt
echo '{"type":"message_end","message":{"role":"assistant","model":"rehearsal-1","usage":{"input":9,"output":9}}}'
"""

VALIDATOR = """import json, sys
print(json.dumps({"metrics": {"delivered": True}}))
"""

SCENARIO = """
[scenario]
title = "Scale {number}"

[task]
repo = "scale"
etalon = "v1"
prompt = "Do nothing."

[agent]
provider = "rehearsal"
model = "rehearsal-1"
thinking = "off"

[protocol]
repetitions = {repetitions}
concurrency = 4
timeout = 60
attempts = 1
{cells}
[[validation]]
mode = "script"
command = "validator.py"
metrics = ["delivered"]

[verdict]
criterion = "delivered"
reference = "c0"
"""

BARE = """
N = {runs}
rule all:
    input: "render"
rule measure:
    output: "runs/{{run}}/measured"
    priority: lambda wildcards: 10**6 - int(wildcards.run)
    threads: 0
    resources: agent_slots=1
    shell: "{job} touch {{output}}"
rule score:
    input: ancient("runs/{{run}}/measured")
    output: "runs/{{run}}/scored"
    priority: 10**6
    shell: "{job} touch {{output}}"
rule collect:
    input: expand("runs/{{run}}/scored", run=range(N))
    output: "collect"
    shell: "touch {{output}}"
rule render:
    input: "collect"
    output: "render"
    shell: "touch {{output}}"
"""
OPTIONS = ["--cores", "2", "--scheduler", "greedy", "--nolock", "--keep-going", "--quiet", "all"]


@dataclass(frozen=True)
class Cost:
    """Seconds of a command, those its processes computed, and the largest memory of one process so far, in MB."""

    seconds: float
    computed: float
    memory: float

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s, {self.computed:.1f} s computed"


def timed(argv: list[str], place: Path, environment: dict[str, str]) -> Cost:
    """Run a command to its end."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(argv, cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit((done.stdout + done.stderr)[-2000:])
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    computed = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(seconds, computed, after.ru_maxrss / 1024)


def prepared(place: Path) -> dict[str, str]:
    """An interpreter without a pinned agent, an agent that does nothing, and a repository of one file."""
    home = place / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    [packages] = home.glob("lib/python*/site-packages")
    (packages / "shared.pth").write_text(HOOK + "\n", encoding="utf-8")
    agent = place / "bin" / "pi"
    agent.parent.mkdir()
    agent.write_text(AGENT, encoding="utf-8")
    agent.chmod(0o755)
    repository = place / "repository"
    repository.mkdir()
    (repository / "a.txt").write_text("a\n", encoding="utf-8")
    nobody = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.invalid", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "a"], ["tag", "v1"]):
        subprocess.run(["git", *nobody, *words], cwd=repository, check=True)
    (place / "validator.py").write_text(VALIDATOR, encoding="utf-8")
    machine = f'[repos]\nscale = "{repository}"\n[defaults]\nworkdir = "{place}/work"\n'
    (place / "trysquare.toml").write_text(machine, encoding="utf-8")
    shared = next(path for path in sys.path if path.endswith("site-packages"))
    path = f"{home / 'bin'}:{agent.parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "TRYSQUARE_SCALE_PACKAGES": shared}


def written(place: Path, runs: int, scenarios: int = 1) -> list[str]:
    """The scenarios of so many runs; returns their names."""
    names = [f"scale{number}.toml" for number in range(scenarios)]
    cells = "".join(f'\n[variants.c{number}]\nprompt = "Do nothing, {number}."\n' for number in range(CELLS))
    for number, name in enumerate(names):
        repetitions = runs // scenarios // CELLS
        text = SCENARIO.format(number=number, repetitions=repetitions, cells=cells)
        (place / name).write_text(text, encoding="utf-8")
    return names


def engine(place: Path, names: list[str], environment: dict[str, str], *options: str) -> Cost:
    """One launch of the workflow."""
    python = str(place / "python" / "bin" / "python")
    command = [python, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--cores", "2", "run", *options]
    return timed([*command, "--config", f"scenario=[{','.join(names)}]"], place, environment)


def bare(place: Path, runs: int, job: str, environment: dict[str, str]) -> Cost:
    """The same jobs, without anything in them."""
    folder = place / f"bare-{len(job)}"
    folder.mkdir()
    (folder / "Snakefile").write_text(BARE.format(runs=runs, job=job), encoding="utf-8")
    python = str(place / "python" / "bin" / "python")
    options = [*OPTIONS, "--max-jobs-per-timespan", "10000/1s", "--resources", "agent_slots=4"]
    return timed([python, "-m", "snakemake", *options], folder, environment)


def measured(runs: int) -> list[tuple[str, str]]:
    """The rows of a matrix of so many runs."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        environment = prepared(place)
        floor = bare(place, runs, "", environment)
        least = bare(place, runs, "python -c pass;", environment)
        names = written(place, runs)
        dry = engine(place, names, environment, "--dry-run", "--quiet", "all")
        whole = engine(place, names, environment)
        idle = engine(place, names, environment)
        matrix = next((place / "results" / "rehearsals").iterdir())
        files = sum(path.is_file() for path in matrix.rglob("*"))
    return [
        ("the engine alone", str(floor)),
        ("the engine and an interpreter per job", str(least)),
        ("the whole matrix", str(whole)),
        ("the whole matrix, of the interpreter per job", f"{whole.seconds / least.seconds:.2f}"),
        ("per run", f"{whole.seconds / runs:.3f} s, {whole.computed / runs:.3f} s computed"),
        ("a dry run", str(dry)),
        ("the same launch again", str(idle)),
        ("largest memory of one process", f"{max(whole.memory, dry.memory):.0f} MB"),
        ("files", f"{files}, {files / runs:.1f} a run"),
    ]


def planned(runs: int, scenarios: int) -> list[tuple[str, str]]:
    """The rows of planning alone, without the engine: reading the scenarios, freezing and writing the plans."""
    code = (
        "import sys; from pathlib import Path; from trysquare import runner\n"
        "for plan in runner.resolve_all(runner.Settings.of({'scenario': sys.argv[1:]})):\n"
        "    plan.matrix.save(Path('plans') / plan.directory.name / 'plan.json')\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        environment = prepared(place)
        names = written(place, runs, scenarios)
        cost = timed([str(place / "python" / "bin" / "python"), "-c", code, *names], place, environment)
    return [(f"{runs} runs over {scenarios} scenarios", f"{cost}, {cost.memory:.0f} MB")]


def main() -> None:
    """Measure and print the rows as a table of Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--planned", type=int, default=100_000, help="runs that are only planned, over 20 scenarios")
    options = parser.parse_args()
    rows = [*planned(options.planned, 20), *measured(options.runs)]
    print(f"| {options.runs} runs, {CELLS} cells, one validator, 2 cores | |\n| --- | --- |")
    for name, value in rows:
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()

"""What a large matrix costs: `make bench-scale`, or `make bench-scale SCALE="--runs 5000"`.

The agent is one that does nothing, so that what is left is the harness. In the same call and on the same machine, a
bare workflow with the same jobs in the same order: once with jobs that do nothing, which is the engine alone, once with
jobs that start an interpreter, which is the least a job in Python can cost, and once as one would write it by hand:
clone, agent, diff; clone, apply, validator. With several rounds the rows are medians, and ratios are taken within a
round. The memory is the largest of one process, the files are those the matrix holds at the end.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
CELLS = 4
HOOK = "import site, os; site.addsitedir(os.environ['TRYSQUARE_SCALE_PACKAGES'])"

AGENT = """#!/bin/sh
[ "$1" = --version ] && { echo 0; exit; }
while [ $# -gt 0 ]; do [ "$1" = --session-dir ] && sessions=$2; shift; done
echo '{"type":"session","id":"0","cwd":"."}' > "$sessions/0.jsonl"
echo '{"type":"model_change","provider":"none","modelId":"nothing"}' >> "$sessions/0.jsonl"
echo done > done.txt
echo '{"type":"message_end","message":{"role":"assistant","model":"nothing","usage":{"input":9,"output":9}}}'
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
provider = "none"
model = "nothing"
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
reference = "{prefix}0"
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
    shell: "{measure}"
rule score:
    input: ancient("runs/{{run}}/measured")
    output: "runs/{{run}}/scored"
    priority: 10**6
    shell: "{score}"
rule collect:
    input: expand("runs/{{run}}/scored", run=range(N))
    output: "collect"
    shell: "touch {{output}}"
rule render:
    input: "collect"
    output: "render"
    shell: "touch {{output}}"
"""
BARE_JOBS = {
    "nothing": ("touch {output}", "touch {output}"),
    "interpreter": ("python -c pass; touch {output}", "python -c pass; touch {output}"),
    "by hand": (
        "t=$(mktemp -d -p trees); git clone -q ../repository $t/tree; mkdir $t/home; "
        "(cd $t/tree; pi --session-dir $t/home > $t/home/out; git add -A; git diff --cached --binary) > {output}; "
        "cp $t/home/* $(dirname {output}); rm -rf $t",
        "t=$(mktemp -d -p trees); git clone -q ../repository $t/tree; git -C $t/tree apply $PWD/{input}; "
        "python ../validator.py > {output}; rm -rf $t",
    ),
}
"""What the jobs of the bare workflow do: measure, then score."""
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


def written(place: Path, runs: int, scenarios: int = 1, prefix: str = "c") -> list[str]:
    """The scenarios of so many runs, with cells of a common prefix; returns their names."""
    names = [f"scale{number}.toml" for number in range(scenarios)]
    cells = "".join(f'\n[variants.{prefix}{number}]\nprompt = "Do nothing, {number}."\n' for number in range(CELLS))
    for number, name in enumerate(names):
        repetitions = runs // scenarios // CELLS
        text = SCENARIO.format(number=number, repetitions=repetitions, cells=cells, prefix=prefix)
        (place / name).write_text(text, encoding="utf-8")
    return names


def engine(place: Path, names: list[str], environment: dict[str, str], *options: str) -> Cost:
    """One launch of the workflow."""
    python = str(place / "python" / "bin" / "python")
    command = [python, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--cores", "2", "run", *options]
    return timed([*command, "--config", f"scenario=[{','.join(names)}]"], place, environment)


def bare(place: Path, runs: int, kind: str, environment: dict[str, str]) -> Cost:
    """The same jobs, with less in them."""
    folder = place / f"bare-{kind.replace(' ', '-')}"
    (folder / "trees").mkdir(parents=True)
    measure, score = (job.replace("trees", str(folder / "trees")) for job in BARE_JOBS[kind])
    text = BARE.format(runs=runs, measure=measure, score=score)
    (folder / "Snakefile").write_text(text, encoding="utf-8")
    python = str(place / "python" / "bin" / "python")
    options = [*OPTIONS, "--max-jobs-per-timespan", "10000/1s", "--resources", "agent_slots=4"]
    return timed([python, "-m", "snakemake", *options], folder, environment)


@dataclass(frozen=True)
class Round:
    """What everything cost once."""

    bare: dict[str, Cost]
    dry: Cost
    whole: Cost
    idle: Cost
    files: int

    @classmethod
    def of(cls, runs: int) -> "Round":
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            environment = prepared(place)
            costs = {kind: bare(place, runs, kind, environment) for kind in BARE_JOBS}
            names = written(place, runs)
            dry, whole, idle = (
                engine(place, names, environment, *options) for options in (("--dry-run", "--quiet", "all"), (), ())
            )
            [matrix] = (place / "results").glob("scale0_*")
            files = sum(path.is_file() for path in matrix.rglob("*"))
        return cls(costs, dry, whole, idle, files)


def middle(costs: Sequence[Cost]) -> Cost:
    """The median of each figure."""
    return Cost(*(median(getattr(cost, name) for cost in costs) for name in ("seconds", "computed", "memory")))


def measured(runs: int, rounds: Sequence[Round]) -> list[tuple[str, str]]:
    """The rows of a matrix of so many runs."""
    rows = [(f"bare workflow: {kind}", str(middle([each.bare[kind] for each in rounds]))) for kind in BARE_JOBS]
    whole = middle([each.whole for each in rounds])
    rows.append(("the whole matrix", str(whole)))
    for kind in BARE_JOBS:
        on_clock = median(each.whole.seconds / each.bare[kind].seconds for each in rounds)
        computed = median(each.whole.computed / each.bare[kind].computed for each in rounds)
        rows.append((f"of the bare workflow: {kind}", f"{on_clock:.2f}, {computed:.2f} of what is computed"))
    files = rounds[0].files
    return [
        *rows,
        ("per run", f"{1000 * whole.seconds / runs:.0f} ms, {1000 * whole.computed / runs:.0f} ms computed"),
        ("a dry run", str(middle([each.dry for each in rounds]))),
        ("the same launch again", str(middle([each.idle for each in rounds]))),
        ("largest memory of one process", f"{max(each.whole.memory for each in rounds):.0f} MB"),
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
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    rows = planned(options.planned, 20)  # first: the largest memory is that of any process until then
    rows += measured(options.runs, [Round.of(options.runs) for _ in range(options.rounds)])
    print(f"| {options.runs} runs, {CELLS} cells, one validator, 2 cores | |\n| --- | --- |")
    for name, value in rows:
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()

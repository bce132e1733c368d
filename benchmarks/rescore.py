"""What scoring archived runs again costs beside a bare workflow with the same jobs: `python benchmarks/rescore.py`.

The matrix is that of `scale.py`. Its validator is edited, so that every run is scored again and none measured. Of
the time of a job, what its validator and git took is taken off, as the verdicts say it. The bare workflow has the same
jobs in the same order, which start an interpreter and write a file, in the same call and on the same cores. The bar is
twice the bare job.
"""

import argparse
import json
import tempfile
from pathlib import Path

from scale import OPTIONS, engine, prepared, timed, written

CORES = 2
BARE = """
N = {runs}
rule all:
    input: "render"
rule score:
    input: ancient("runs/{{run}}/measured")
    output: "runs/{{run}}/scored"
    priority: 10**6
    shell: "exec python -c \\"open('{{output}}', 'w')\\""
rule collect:
    input: expand("runs/{{run}}/scored", run=range(N))
    output: "collect"
    shell: "touch {{output}}"
rule render:
    input: "collect"
    output: "render"
    shell: "touch {{output}}"
"""


def rescored(place: Path, runs: int) -> tuple[float, float, float]:
    """Core seconds per job of the bare workflow, of re-scoring, and of validator and git in the latter."""
    environment = prepared(place)
    names = written(place, runs)
    engine(place, names, environment)
    validator = place / "validator.py"
    validator.write_text(validator.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    again = engine(place, names, environment).seconds
    folder = place / "bare"
    folder.mkdir()
    for run in range(runs):
        (folder / "runs" / str(run)).mkdir(parents=True)
        (folder / "runs" / str(run) / "measured").touch()
    (folder / "Snakefile").write_text(BARE.format(runs=runs), encoding="utf-8")
    python = str(place / "python" / "bin" / "python")
    argv = [python, "-m", "snakemake", *OPTIONS, "--max-jobs-per-timespan", "10000/1s"]
    bare = timed(argv, folder, environment).seconds
    verdicts = (place / "results").glob("**/validation/script.json")
    own = [json.loads(path.read_text(encoding="utf-8"))["duration"] for path in verdicts]
    return bare * CORES / runs, again * CORES / runs, sum(own) / len(own)


def main() -> None:
    """Measure and print the three figures and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as place:
        bare, again, own = rescored(Path(place), runs)
    harness = again - own
    print(f"{runs} runs on {CORES} cores, in core milliseconds per job")
    for name, value in (("bare workflow", bare), ("re-scoring", again), ("of which validator and git", own)):
        print(f"{name:<30}{1000 * value:8.1f}")
    print(f"{'harness beside bare (at most 2)':<30}{harness / bare:8.2f} x")


if __name__ == "__main__":
    main()

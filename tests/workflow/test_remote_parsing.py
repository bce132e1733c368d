"""What a job on another machine does before it is one: it reads the Snakefile again, and that must be harmless."""

import json
import subprocess
import sys

import pytest

from tests.workflow.conftest import ROOT

pytestmark = pytest.mark.workflow

SPY = """
import json, os, sys

seen, parsing = [], [False]

def spy(event, arguments):
    if parsing[0] and event.startswith(("open", "os.", "shutil.", "socket.", "subprocess.", "tempfile.")):
        seen.append([event, [str(each) for each in arguments]])

sys.addaudithook(spy)

from snakemake.cli import main
import snakemake.workflow

include = snakemake.workflow.Workflow.include

def included(self, snakefile, *arguments, **options):
    outermost, parsing[0] = not parsing[0], True
    try:
        return include(self, snakefile, *arguments, **options)
    finally:
        if outermost:
            parsing[0] = False

snakemake.workflow.Workflow.include = included

try:
    main(sys.argv[2:])
except SystemExit as left:
    status = left.code
parsed = dict(seen=seen, status=status, modules=sorted(sys.modules))
with open(sys.argv[1], "w") as out:
    json.dump(parsed, out)
"""


@pytest.fixture
def parsed(bench, tmp_path):
    """What happens while the process of a remote score job reads the Snakefile, and what it has loaded at its end."""
    bench.snakemake("run")
    validator = next(bench.matrix.glob("runs/*/*/validation/.script.*"))
    validator.unlink()
    matrix = bench.matrix.relative_to(bench.root)
    run = validator.parent.parent.relative_to(bench.matrix / "runs")
    wildcards = f"matrix={matrix},run={run},validator=script,digest={validator.name.split('.')[2]}"
    job = ["--target-jobs", f"score_run:{wildcards}", "--allowed-rules", "score_run", "--mode", "remote"]
    settings = ["--cores", "1", "--force", "--nocolor", "--nolock", "--no-hooks", "--ignore-incomplete"]
    out = tmp_path / "seen.json"
    done = subprocess.run(
        [sys.executable, "-c", SPY, str(out), "-s", str(ROOT / "Snakefile"), *job, *settings],
        cwd=bench.root,
        env=bench.environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert validator.exists()
    return json.loads(out.read_text())


def test_reading_the_snakefile_again_is_pure_cheap_and_blind_to_what_is_measured(parsed):
    assert parsed["status"] in (0, None)
    writes = [
        arguments
        for event, arguments in parsed["seen"]
        if event == "open" and set(arguments[1]) & set("wax+") and "__pycache__" not in arguments[0]
    ]
    acts = [event for event, _ in parsed["seen"] if event not in ("open", "os.listdir", "os.scandir")]
    names = [arguments[0] for event, arguments in parsed["seen"] if event in ("open", "os.listdir", "os.scandir")]
    assert writes == []
    assert [event for event in acts if event.startswith(("socket.", "subprocess.", "shutil.", "tempfile."))] == []
    assert [event for event in acts if event in ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.utime")] == []
    assert any("plan.json" in name for name in names) or not any("results" in name for name in names)
    assert [name for name in names if "/runs/" in name] == []
    heavy = {"numpy", "scipy", "matplotlib", "pydantic", "jinja2.sandbox"}
    assert heavy & set(parsed["modules"]) == set()

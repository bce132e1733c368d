"""What a job on another machine does before it is one: it reads the Snakefile again, and that must be harmless."""

import json
import subprocess
import sys

import pytest

from tests.workflow.conftest import ROOT

pytestmark = pytest.mark.workflow

SPY = """
import json, sys
from pathlib import Path

place, out = sys.argv[1:3]
seen = []

def spy(event, arguments):
    if not event.startswith(("open", "os.", "shutil.", "socket.", "subprocess.", "tempfile.")):
        return
    frame = sys._getframe(1)
    while frame is not None and not frame.f_code.co_filename.startswith(place):
        frame = frame.f_back
    if frame is not None and "__pycache__" not in str(arguments[0]):
        seen.append([event, [str(each) for each in arguments]])

sys.addaudithook(spy)

from snakemake.cli import main

try:
    main(sys.argv[3:])
except SystemExit as left:
    status = left.code
Path(out).write_text(json.dumps(dict(seen=seen, status=status)))
"""


@pytest.fixture
def parsed(bench, tmp_path):
    """What trysquare does in the process of a remote score job beside the job itself."""
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
        [sys.executable, "-c", SPY, str(ROOT / "trysquare"), str(out), "-s", str(ROOT / "Snakefile"), *job, *settings],
        cwd=bench.root,
        env=bench.environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert validator.exists()
    return json.loads(out.read_text())


def test_reading_the_snakefile_again_is_pure_and_blind_to_what_is_measured(parsed):
    assert parsed["status"] in (0, None)
    reads = ("open", "os.listdir", "os.scandir")
    names = [arguments[0] for event, arguments in parsed["seen"] if event in reads]
    assert [
        arguments for event, arguments in parsed["seen"] if event == "open" and set(arguments[1]) & set("wax+")
    ] == []
    assert [event for event, _ in parsed["seen"] if event not in reads] == []
    assert [name for name in names if name.endswith("plan.json")] != []
    assert [name for name in names if "/runs/" in name] == []


def test_answering_the_snakefile_loads_nothing_that_only_tables_and_scenarios_need():
    heavy = "numpy scipy pandas matplotlib pydantic jinja2 rich"
    code = f"import sys, trysquare.launch; print([name for name in {heavy.split()} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

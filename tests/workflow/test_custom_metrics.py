"""Assertions over a metrics file inside the engine, the file hidden by the agent's own ignore rules."""

import json

import pytest

pytestmark = pytest.mark.workflow

ASSERTIONS = """
[[validation]]
mode = "custom-metrics"
path = "./out/../custom_metrics.json"
metrics = ["passed", "score", "assert.failed", "value.quality"]

[[validation.assertions]]
metric = "failed"
equals = 0

[[validation.assertions]]
metric = "quality"
min = 0.8

[[validation]]
mode = "custom-metrics"
name = "late"
metrics = ["late.passed"]

[[validation.assertions]]
metric = "summary"
contains = "SUCCESS"

[[validation]]
mode = "form"
metrics = ["liked"]
"""

WRITES = '''
[[play]]
name = "writes"
cells = ["rule"]

[[play.turn]]
call = [
    { tool = "write", arguments = { path = ".gitignore", content = "*.json\\n" } },
    { tool = "bash", arguments = { command = """echo '{"failed": 0, "quality": 0.75, "summary": "a success"}' \\
        > custom_metrics.json""" } },
]

[[play.turn]]
text = "Written."
'''


def test_metrics_of_a_hidden_file_are_archived_graded_and_judged(bench):
    bench.edit("scenario.toml", "[verdict]", f"{ASSERTIONS}\n[verdict]")
    bench.edit("scenario.toml", 'criterion = "in_scope"', 'criterion = "liked"')
    bench.edit("rehearsal.toml", 'name = "fix"', 'name = "fix"\ncells = ["plain"]')
    bench.write("rehearsal.toml", (bench.root / "rehearsal.toml").read_text() + WRITES)

    output = bench.snakemake("run")

    rows = {row["cell"]: row for row in json.loads((bench.matrix / "measures.json").read_text())}
    written, lacking = rows["rule"]["metrics"], rows["plain"]["metrics"]
    assert (written["passed"], written["score"], written["assert.failed"]) == (False, 0.5, True)
    assert (written["value.quality"], written["late.passed"], written["late.value.summary"]) == (
        0.75,
        True,
        "a success",
    )
    assert "from artifact dir" in rows["rule"]["reasons"]["passed"]
    assert (lacking["passed"], lacking["score"], lacking["assert.failed"]) == (False, 0.0, False)
    assert "(not found)" in rows["plain"]["unjudged"]["value.quality"]
    kept = next(bench.matrix.glob(f"runs/{rows['rule']['id']}/collected/custom_metrics.json"))
    assert json.loads(kept.read_text())["failed"] == 0
    assert (kept.parents[1] / "validation" / "late" / "context.json").exists()
    assert "form: 4 of 4 pending" in output
    assert "form: 4 of 4 pending" in (bench.matrix / "synthesis.md").read_text()

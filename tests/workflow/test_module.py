"""Another workflow uses this one as a module."""

import re

import pytest

from tests.workflow.conftest import ROOT

pytestmark = pytest.mark.workflow

GUIDE = (ROOT / "docs" / "workflow.md").read_text(encoding="utf-8")
OUTER = """
rule all:
    default_target: True
    input:
        rules.trysquare_run.input,
        "prepared.txt",
    output:
        "told.txt",
    shell:
        "cat results/rehearsals/*/synthesis.md > {output}"


rule prepare:
    output:
        "prepared.txt",
    shell:
        "echo ready > {output}"


onstart:
    print("the other workflow starts")


onsuccess:
    print("the other workflow has succeeded")


onerror:
    print("the other workflow has failed")
"""


@pytest.fixture
def outer(bench):
    [taken] = re.findall(r"```python\n(.*?)rule all:", GUIDE, re.DOTALL)
    bench.write("workflow/Snakefile", taken + OUTER)
    bench.write("config.json", '{"trysquare": {"scenario": "scenario.toml", "output": "results"}}')
    return bench


def engine(bench, *arguments, code=0):
    return bench.done(
        [*bench.command()[:3], "-s", "workflow/Snakefile", "--configfile", "config.json", "--cores", "2", *arguments],
        code,
    )


def test_a_workflow_that_uses_this_one_measures_to_a_synthesis_and_goes_on_from_it(outer):
    said = engine(outer, "-n")
    assert "2 cells x 2 repetitions = 4 runs: 4 to perform" in said and not (outer.root / "results").exists()
    said = engine(outer)
    assert "the other workflow starts" in said and "the other workflow has succeeded" in said
    assert "complete, 4 of 4 runs valid" in said
    assert "What may be said" in (outer.root / "told.txt").read_text(encoding="utf-8")
    requests = outer.requests
    engine(outer, "--forceall")
    assert outer.requests == requests and len(outer.records) == 4
    assert "complete, 4 of 4 runs valid" in engine(outer, "trysquare_status", "trysquare_smoke")


def test_a_refusal_reaches_whoever_started_the_other_workflow_in_one_sentence(outer):
    outer.edit("scenario.toml", 'etalon = "v1"', 'etalon = "v9"')
    said = engine(outer, code=1)
    assert "etalon" in said and "v9" in said and "the other workflow starts" not in said

"""What a provider can bear: its limit is shared, and once it refuses everybody no further run is started."""

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

pytestmark = pytest.mark.workflow


def test_a_provider_that_refuses_everybody_is_left_alone_and_what_was_not_started_is_missing(bench):
    bench.edit("scenario.toml", "repetitions = 2", "repetitions = 6")
    bench = replace(bench, repetitions=6)
    served = (bench.root / "rehearsal.toml").read_text(encoding="utf-8")
    bench.write("rehearsal.toml", served + "\n[[fault]]\nanswer = 429\n")

    output = bench.snakemake("run", code=1)

    states = Counter(run["state"] for run in bench.state()["runs"].values())
    assert states["empty"] >= 2 and states["missing"] >= 6
    assert states.total() == 12
    assert output.count("not started") == 1
    for said in ("incomplete, 0 of 12 runs valid", f"{states['empty']} empty", f"{states['missing']} missing"):
        assert said in output
    missing = {name for name, run in bench.state()["runs"].items() if run["state"] == "missing"}
    assert missing.isdisjoint(bench.requests_by_run)

    bench.write("rehearsal.toml", served)
    bench.snakemake("run")
    assert bench.state()["complete"] is True
    assert {bench.requests_by_run[run] for run in missing} == {2}


def test_scenarios_of_one_provider_share_the_smallest_of_their_concurrencies(bench):
    text = (bench.root / "scenario.toml").read_text(encoding="utf-8")
    bench.write("other.toml", text.replace("concurrency = 2", "concurrency = 1"))

    bench.snakemake("run", "scenario=[scenario.toml,other.toml]")

    matrices = list((bench.root / "results" / "rehearsals").glob("*_n2"))
    assert len(matrices) == 2
    for matrix in matrices:
        [launch] = [json.loads(line) for line in (matrix / "launches.jsonl").read_text().splitlines()]
        assert launch["concurrency"] == 1
    spans = []
    for session in bench.root.glob("results/rehearsals/*_n2/runs/*/*/session/*.jsonl"):
        times = [line["timestamp"] for line in map(json.loads, session.read_text().splitlines()) if "timestamp" in line]
        spans.append((min(times), max(times)))
    spans.sort()
    assert len(spans) == 8
    assert all(ended <= started for (_, ended), (started, _) in pairwise(spans))

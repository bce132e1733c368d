"""A provider that does not answer: no measurement, no synthesis, and the next launch tries again."""

import json

import pytest

pytestmark = pytest.mark.workflow

FAULTS = {
    "for ever unavailable": ("answer = 503", "503"),
    "cut in the middle": ('answer = "cut"', ""),
    "unauthorized": ("answer = 401", "401"),
}


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_provider_that_never_serves_a_run_leaves_it_empty(bench, fault):
    answer, said = FAULTS[fault]
    bench.write(
        "rehearsal.toml",
        (bench.root / "rehearsal.toml").read_text() + f'\n[[fault]]\n{answer}\ncells = ["rule"]\nheals_after = 1\n',
    )

    output = bench.snakemake("run", code=1)

    state = bench.state()
    assert {run["state"] for run in state["runs"].values() if run["cell"] == "rule"} == {"empty"}
    assert {run["state"] for run in state["runs"].values() if run["cell"] == "plain"} == {"valid"}
    details = [run["detail"] for run in state["runs"].values() if run["cell"] == "rule"]
    assert all(detail and "\n" not in detail and said in detail for detail in details)
    assert "incomplete, 2 of 4 runs valid, 2 empty" in output
    assert not (bench.matrix / "synthesis.html").exists()
    assert (bench.matrix / "synthesis.md").read_text().count("\n") == 1

    bench.snakemake("run")

    assert bench.state()["complete"] is True
    rows = json.loads((bench.matrix / "measures.json").read_text())
    assert [row["attempts"] for row in rows] == [1, 1, 2, 2]
    sessions = [len(list((record.parent / "session").glob("*.jsonl"))) for record in bench.records]
    assert sessions == [1, 1, 2, 2]


def test_a_run_whose_provider_falls_silent_half_way_counts_and_says_everywhere_that_it_was_cut_off(bench):
    bench.edit("scenario.toml", "timeout = 60", "timeout = 12")
    silent = '\n[[fault]]\nanswer = "silence"\nrequest = 2\ncells = ["rule"]\nrepetitions = [1]\n'
    bench.write("rehearsal.toml", (bench.root / "rehearsal.toml").read_text() + silent)

    output = bench.snakemake("run")

    assert len([line for line in output.splitlines() if line.endswith("cut off by the time limit")]) == 1
    rows = json.loads((bench.matrix / "measures.json").read_text())
    assert [(row["cell"], row["repetition"]) for row in rows if row.get("timed_out")] == [("rule", 1)]
    written = (bench.matrix / "synthesis.md").read_text()
    assert "The time limit cut runs off, in rule (1 of 2 runs)" in written

"""Forms inside the engine: pending metrics hold nothing up, answers are taken whole or not at all."""

import json
import re
import tomllib

import pytest

pytestmark = pytest.mark.workflow

FORMS = """
[[validation]]
mode = "form"
metrics = ["usable", "note"]

[[validation]]
mode = "form"
name = "second"
metrics = ["usable_second"]
"""


@pytest.fixture
def asked(bench):
    bench.edit("scenario.toml", "[verdict]", f"{FORMS}\n[verdict]")
    return bench


def rows(bench):
    return {row["id"]: row for row in json.loads((bench.matrix / "measures.json").read_text())}


def answer(bench, values, name="form"):
    """Answer some runs of a form, by their position in it."""
    path = bench.matrix / "forms" / f"{name}.toml"
    head, *blocks = re.split(r"(?=^\[runs\.)", path.read_text(), flags=re.MULTILINE)
    for position, metrics in values.items():
        for metric, value in metrics.items():
            assert f"# {metric} = ?" in blocks[position]
            blocks[position] = blocks[position].replace(f"# {metric} = ?", f"{metric} = {value}")
    path.write_text(head + "".join(blocks))
    return [re.match(r"\[runs\.(\w+)\]", block)[1] for block in blocks]


def test_forms_are_written_answered_and_taken(asked):
    output = asked.snakemake("run")

    assert "form: 8 of 8 pending" in output and "form second: 4 of 4 pending" in output
    assert "complete, 4 of 4 runs valid; form: 8 of 8 pending; form second: 4 of 4 pending" in output
    assert asked.state()["complete"] is True
    assert "usable" not in json.dumps([row["metrics"] | row["unjudged"] for row in rows(asked).values()])

    output = asked.snakemake("form")
    form = (asked.matrix / "forms" / "form.toml").read_text()
    assert tomllib.loads(form) == {
        "form": "form",
        "matrix": asked.matrix.name,
        "runs": {run: {} for run in rows(asked)},
    }
    assert "not blind" not in output and "rule" not in form.replace("drawn by lot", "")
    assert "#   Fixed." in form and "#   +    return n + 1" in form

    ids = answer(asked, {0: {"usable": "true", "note": '"good"'}, 1: {"usable": "false"}})
    answer(asked, {0: {"usable_second": "true"}}, "second")
    output = asked.snakemake("ingest")

    assert "form: 3 merged, 5 pending, 0 refused" in output
    assert "form second: 1 merged, 3 pending, 0 refused" in output
    assert [rows(asked)[run]["metrics"].get("usable") for run in ids] == [True, False, None, None]
    assert "form: 5 of 8 pending" in (asked.matrix / "synthesis.md").read_text()
    requests = asked.requests
    asked.snakemake("run")
    assert asked.requests == requests

    again = asked.snakemake("ingest")
    assert "form: 0 merged, 5 pending, 0 refused, 3 there before" in again
    assert len(tomllib.loads(form)["runs"]) == 4
    asked.snakemake("form")
    assert len(tomllib.loads((asked.matrix / "forms" / "form.toml").read_text())["runs"]) == 3

"""The layers of parity over a synthetic bench: they hold on it, and each notices every way in which it can be wrong."""

import json
from pathlib import Path

import pytest
from bench_table import published_table

from tests.foreign import Bench, bench
from tests.foreign_runs import session
from trysquare.parity import (
    ParityError,
    archived_runs,
    compare,
    layer1,
    layer2,
    layer3,
    published_by_id,
    read_bench_measures,
)


@pytest.fixture
def made(tmp_path: Path) -> Bench:
    return bench(tmp_path)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    return published_table(bench(tmp_path_factory.mktemp("published")).rows)


# Layer 3


def test_the_gap_table_is_the_one_the_definition_gives(made, published):
    assert compare(layer3(made.measures), published) == []
    assert {text[-1] for row in published.values() for text in row.values()} == {"*", "o"}


def test_published_numbers_are_enough_and_kinds_of_spaces_do_not_count(made, published):
    bare = {
        cell: {name: text[:-2].replace(" ", "\u202f") for name, text in row.items()} for cell, row in published.items()
    }
    assert compare(layer3(made.measures), bare) == []


def test_a_run_filed_under_another_cell_changes_the_table(made, published):
    rows = made.rows
    one = next(row for row in rows if row["cellule"] == "base")
    other = next(row for row in rows if row["cellule"] == "+ticket soigné")
    one["cellule"], other["cellule"] = other["cellule"], one["cellule"]
    made.publish(rows)
    assert any("+ticket soigné, in: published" in line for line in compare(layer3(made.measures), published))


def test_a_changed_criterion_changes_the_table(made, published):
    rows = made.rows
    for row in [row for row in rows if row["cellule"] == "+ticket soigné" and row["note"]][:6]:
        row["note"]["debordement"] = True
    made.publish(rows)
    [line] = compare(layer3(made.measures), published)
    assert line.startswith("+ticket soigné, overflow: published -")


def test_a_table_with_other_cells_or_columns_is_told_apart(made, published):
    expected = {**published, "+autre": {"in": "+1 o"}}
    expected["+réflexion"] = {**expected["+réflexion"], "latence": "+1 o"}
    rows = [row for row in layer3(made.measures) if row.cell != "+ticket soigné"]
    assert compare(rows, expected) == [
        "+ticket soigné is published and was not computed",
        "+autre is published and was not computed",
        "+réflexion, latence is published and was not computed",
    ]


def test_rows_are_resampled_in_the_order_of_the_file(made):
    rows = made.rows
    straight = {row.cell: row for row in layer3(made.measures)}
    made.publish(sorted(rows, key=lambda row: row["input"]))
    ordered = {row.cell: row for row in layer3(made.measures)}
    assert straight["+réflexion"].cases["in"].gap == ordered["+réflexion"].cases["in"].gap
    assert straight["+réflexion"].cases["in"] != ordered["+réflexion"].cases["in"]
    assert list(read_bench_measures(made.measures)) == sorted(
        read_bench_measures(made.measures), key=[row["cellule"] for row in made.rows].index
    )


def test_a_gap_is_marked_by_its_interval_alone_as_the_bench_did(made):
    rows = [row for row in made.rows if row["note"]]
    few = [row for cell in ("base", "+réflexion") for row in [r for r in rows if r["cellule"] == cell][:3]]
    made.publish(few)
    [row] = layer3(made.measures)
    assert row.cases["out"].state == "established" and row.cases["out"].runs == 3


def test_a_row_nobody_scored_and_one_that_was_silent_are_in_no_sample(made):
    states = {run.id: run.state for runs in read_bench_measures(made.measures).values() for run in runs}
    assert states.pop("neverscd") == "validator_failed" and states.pop("silent00") == "empty"
    assert set(states.values()) == {"valid"}


# Layer 1


def test_the_sessions_give_the_published_tokens_and_turns(made):
    report = layer1(made.measures, made.archive)
    assert report.problems == []
    assert report.observed[0] == "24 of 24 sessions give exactly the published tokens and turns"
    assert "2 published runs without a session to compare with" in report.observed


def swap(made: Bench, left: str, right: str) -> list[dict]:
    """Exchange the identifiers of the first run of a cell and the last one of a cell."""
    rows = made.rows
    one = next(row for row in rows if row["cellule"] == left)
    other = next(
        row for row in reversed(rows) if row["cellule"] == right and len(row["identifiant"]) == 8 and row["note"]
    )
    one["identifiant"], other["identifiant"] = other["identifiant"], one["identifiant"]
    made.publish(rows)
    return [one, other]


def test_identifiers_swapped_within_a_cell_are_noticed(made, published):
    swapped = swap(made, "base", "base")
    problems = layer1(made.measures, made.archive).problems
    assert all(any(row["identifiant"] in line and "published" in line for line in problems) for row in swapped)
    assert not any("archived as" in line for line in problems)
    assert compare(layer3(made.measures), published) == []


def test_identifiers_swapped_across_cells_are_noticed_as_labels_too(made):
    one, other = swap(made, "base", "+ticket soigné")
    problems = layer1(made.measures, made.archive).problems
    assert f"{one['identifiant']}: published as a run of base, archived as one of +ticket soigné" in problems
    assert f"{other['identifiant']}: published as a run of +ticket soigné, archived as one of base" in problems


def test_a_lost_turn_is_noticed(made):
    row = made.rows[0]
    [path] = list((made.archive / row["identifiant"] / "session").glob("*.jsonl"))[-1:]
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    report = layer1(made.measures, made.archive)
    assert {line.split(": ")[1].split(" ")[0] for line in report.problems} >= {"input", "output", "tours"}
    assert all(row["identifiant"] in line for line in report.problems)
    assert report.observed[0].startswith("23 of 24")


def test_the_attempt_that_was_measured_is_the_one_compared(made):
    row = next(row for row in made.rows if row["essais"] == 2)
    earlier, kept = sorted((made.archive / row["identifiant"] / "session").glob("*.jsonl"))
    earlier.write_text(session([(1, 0, 0)], "off"), encoding="utf-8")
    assert layer1(made.measures, made.archive).problems == []
    kept.unlink()
    assert layer1(made.measures, made.archive).problems != []


def test_an_archive_of_other_runs_holds_nothing(made, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    assert not layer1(made.measures, tmp_path / "elsewhere").holds
    assert not layer2(made.measures, tmp_path / "elsewhere", lambda path: path, lambda path: {}).holds


# Layer 2


def scored(made: Bench, without: dict[str, str] | None = None):
    """A validator that reads the patch of a run; `without` names a metric it does not return, and for which run."""

    def validate(context: Path) -> dict[str, object]:
        patch = (context / "diff.patch").read_text()
        beyond = "theme.py" in patch
        metrics = {
            "overflow": beyond,
            "in_scope": not beyond,
            "delivered": bool(patch),
            "tests": "n + 1" in patch,
            "issues": ["#theme.py"] if beyond else [],
        }
        return {name: value for name, value in metrics.items() if (without or {}).get(name) != context.name}

    return layer2(made.measures, made.archive, lambda directory: directory, validate)


def test_archived_patches_give_the_published_metrics(made):
    report = scored(made)
    assert report.problems == []
    assert report.observed[0] == "24 of 24 runs give exactly the published metrics"


def test_a_metric_only_a_judge_gave_is_out_of_scope_and_named(made):
    assert "api_stable is out of scope: no validator returns it for any run" in scored(made).observed


@pytest.mark.parametrize(
    ("key", "value"), [("perimetre", 1), ("debordement", None), ("issues", ["#7"]), ("tests", False)]
)
def test_a_changed_metric_is_noticed(made, key, value):
    rows = made.rows
    rows[0]["note"][key] = value
    made.publish(rows)
    [problem] = scored(made).problems
    assert problem.startswith(rows[0]["identifiant"]) and " published " in problem


def test_a_metric_missing_on_some_runs_blocks(made):
    name = made.rows[3]["identifiant"]
    [problem] = scored(made, without={"in_scope": name}).problems
    assert problem.startswith(name) and problem.endswith("scored nothing")


def test_a_metric_nobody_published_that_is_missing_on_some_runs_blocks_too(made):
    rows = made.rows
    for row in rows:
        if row["note"]:
            del row["note"]["issues"]
    made.publish(rows)
    name = rows[3]["identifiant"]
    report = scored(made, without={"issues": name})
    assert report.problems == [f"{name} ({rows[3]['cellule']}): issues is returned for other runs and not for this one"]
    assert "issues is returned, and was never published" in report.observed


def test_a_run_that_cannot_be_scored_again_is_named(made):
    def reconstitute(directory: Path) -> Path:
        if directory.name == made.rows[0]["identifiant"]:
            raise ParityError("its patch does not apply")
        return directory

    report = layer2(made.measures, made.archive, reconstitute, lambda context: {"delivered": True})
    first = made.rows[0]
    what = f"{first['identifiant']} ({first['cellule']})"
    assert report.problems == [f"{what} cannot be scored again: its patch does not apply"]


# The published file


def test_only_runs_with_a_patch_can_be_reconstituted(made):
    rows = published_by_id(made.measures)
    gone = made.rows[0]["identifiant"]
    (made.archive / gone / "diff.patch").unlink()
    assert set(rows) - set(archived_runs(rows, made.archive)) == {gone, "neverscd", "silent00"}


def test_rows_without_an_identifier_are_in_no_layer_that_reads_an_archive(made):
    rows = made.rows
    rows[0]["identifiant"] = rows[1]["identifiant"] = None
    made.publish(rows)
    assert len(published_by_id(made.measures)) == len(rows) - 2
    assert sum(map(len, read_bench_measures(made.measures).values())) == len(rows)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: {"rows": rows}, "is no list of runs"),
        (lambda rows: [*rows, rows[0]], "two rows have the `identifiant`"),
        (lambda rows: [{"cellule": "base"}], "row 1 lacks input, output, tours, duree"),
        (lambda rows: [{**rows[0], "note": "none"}], 'row 1 has the `note` "none": write an object'),
    ],
)
def test_a_file_that_is_no_published_file_is_refused_in_a_sentence(made, change, said):
    made.measures.write_text(json.dumps(change(made.rows)))
    with pytest.raises(ParityError, match=said):
        published_by_id(made.measures)

"""Forms: what is asked, what is taken, and that nothing is half taken."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.matrices import cell_plan, matrix
from trysquare.collecting import derive, status_line
from trysquare.files import read_json, write_json, write_text
from trysquare.forms import FormError, ingest, on_disk, pending_lines, write_forms
from trysquare.layout import Layout
from trysquare.matrix import Matrix, ValidatorPlan

CELLS = ("plain", "rule")
RESPONSE = "Done.\n\x1b[31mred\x1b[0m\ttab\r\nünï\n"


@pytest.fixture
def place(tmp_path: Path) -> tuple[Layout, Matrix]:
    """Four recorded runs of two cells, blind, with two forms."""
    plan = matrix(CELLS, repetitions=2)
    runs = {name: replace(run, directory=run.id) for name, run in plan.runs.items()}
    validators = {
        "form": ValidatorPlan("form", "form", ("usable", "how many"), "e" * 24),
        "second": ValidatorPlan("second", "form", ("usable_second",), "f" * 24),
    }
    plan = replace(plan, runs=runs, validators=validators, blind=True)
    layout = Layout(tmp_path)
    plan.save(layout.plan)
    write_text(layout.brick("a" * 24), "Fix it.\n")
    for run in runs.values():
        there = layout.run(run.directory)
        record = {
            "id": run.id,
            "cell": run.cell,
            "repetition": run.repetition,
            "usage": {},
            "duration": 1.0,
            "attempts": 1,
            "agent": {"version": "1"},
            "isolation": "none",
            "launch": {"id": "l"},
        }
        write_json(there.record, record)
        write_text(there.response, RESPONSE)
        there.patch.write_bytes(b"diff --git a/x b/x\n+new\n")
    return layout, plan


def fill(layout: Layout, plan: Matrix, answers: str, name: str = "form") -> None:
    write_text(layout.form(name), f'form = "{name}"\nmatrix = "{plan.name}"\n{answers}')


def ids(plan: Matrix) -> list[str]:
    return list(plan.runs)


def test_a_form_shows_the_work_and_no_cell(place: tuple[Layout, Matrix]) -> None:
    layout, plan = place

    said = write_forms(layout, plan)

    text = layout.form("form").read_text()
    assert said[0].endswith("form: 8 of 8 pending") and said[1].endswith("form second: 4 of 4 pending")
    assert set(tomllib.loads(text)["runs"]) == set(plan.runs)
    assert "#   Fix it." in text and "#   ünï" in text and "#   +new" in text and "\\u001b[31mred" in text
    assert "# usable = ?" in text and '# "how many" = ?' in text
    assert not any(cell in text.partition("\n")[2] for cell in CELLS)


def test_the_order_is_drawn_from_the_seed_and_stays(place: tuple[Layout, Matrix]) -> None:
    layout, plan = place
    orders = set()
    for seed in range(6):
        write_forms(layout, replace(plan, verdict=replace(plan.verdict, seed=seed)))
        first = layout.form("form").read_bytes()
        write_forms(layout, replace(plan, verdict=replace(plan.verdict, seed=seed)))
        assert layout.form("form").read_bytes() == first
        orders.add(tuple(tomllib.loads(first.decode())["runs"]))
    assert len(orders) > 1


def test_prompts_that_differ_are_not_shown(place: tuple[Layout, Matrix]) -> None:
    layout, plan = place
    plan = replace(plan, cells={**plan.cells, "rule": cell_plan("rule", prompt="0" * 24)})
    write_forms(layout, plan)
    assert "Fix it." not in layout.form("form").read_text()


def test_a_grouped_tree_is_said_not_to_be_blind(place: tuple[Layout, Matrix]) -> None:
    layout, plan = place
    said = write_forms(layout, replace(plan, blind=False))
    assert "not blind" in said[-1]
    assert "the path of a run names its configuration" in layout.form("form").read_text()


def test_answers_are_merged_counted_and_taken_once(place: tuple[Layout, Matrix]) -> None:
    layout, plan = place
    one, two, *_ = ids(plan)
    fill(layout, plan, f'[runs.{one}]\nusable = true\n"how many" = 3\n[runs.{two}]\nusable = false\n')

    [report] = ingest(layout, plan)
    assert report.line == "form: 3 merged, 5 pending, 0 refused"
    [report] = ingest(layout, plan)
    assert report.line == "form: 0 merged, 5 pending, 0 refused, 3 there before"

    state = derive(layout, plan)
    assert state.complete
    assert [run.metrics for run in state.runs] == [{"usable": True, "how many": 3}, {"usable": False}, {}, {}]
    assert all(not run.unjudged and not run.reasons for run in state.runs)
    assert (
        status_line("m", state) == "m: complete, 4 of 4 runs valid; form: 5 of 8 pending; form second: 4 of 4 pending"
    )


def test_an_answer_that_is_there_is_never_replaced(place: tuple[Layout, Matrix]) -> None:
    layout, plan = place
    one, two, *_ = ids(plan)
    fill(layout, plan, f"[runs.{one}]\nusable = true\n")
    ingest(layout, plan)
    fill(layout, plan, f"[runs.{one}]\nusable = false\n[runs.{two}]\nusable = true\n")

    [report] = ingest(layout, plan)

    assert report.line == "form: 1 merged, 6 pending, 1 refused"
    assert f"usable of run {one} is already measured" in report.refused[0]
    assert on_disk(layout, plan)[one] == {"usable": True}


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ("[runs.{one}]\nusable = true\n[runs.ffffffff]\nusable = true\n", "[runs.ffffffff]: there is no such run"),
        (
            "[runs.{one}]\nusable = true\nusabel = true\n",
            'usabel: this form does not ask that (did you mean "usable"?)',
        ),
        ("[runs.{one}]\nusable = true\nusable_second = true\n", "usable_second: this form does not ask that"),
        ("[runs.{one}]\nusable = 2026-01-01\n", "write true, false, a number or a text"),
        ("[runs.{one}]\nusable = [true]\n", "write true, false, a number or a text"),
        ("[runs.{one}]\nusable = nan\n", "write true, false, a number or a text"),
        ('[runs.{one}]\nusable = " "\n', "write true, false, a number or a text"),
        ("[runs.{one}]\nusable = true\n[runs.{two}]\nusable = 1\n", "found 1, and other answers are true or false"),
        ("[runs.{one}]\nusable = ?\n", "cannot be read (Invalid value (at line 4"),
        ("runs = 3\n", "holds more than answers"),
        ("other = 3\n", '"other": is not part of a form'),
        ("[runs.{one}]\nusable = true\n[runs.{one}]\nusable = true\n", "cannot be read"),
    ],
)
def test_a_form_with_anything_wrong_changes_nothing(place: tuple[Layout, Matrix], answers: str, said: str) -> None:
    layout, plan = place
    one, two, *_ = ids(plan)
    fill(layout, plan, f"[runs.{one}]\nusable_second = true\n", "second")
    fill(layout, plan, answers.format(one=one, two=two))

    with pytest.raises(FormError) as refusal:
        ingest(layout, plan)

    assert said in str(refusal.value)
    assert not any(on_disk(layout, plan).values())


def test_a_type_other_than_that_of_earlier_answers_is_refused(place: tuple[Layout, Matrix]) -> None:
    layout, plan = place
    one, two, *_ = ids(plan)
    fill(layout, plan, f"[runs.{one}]\nusable = true\n")
    ingest(layout, plan)
    fill(layout, plan, f'[runs.{two}]\nusable = "yes"\n')
    with pytest.raises(FormError, match=f"runs.{two}"):
        ingest(layout, plan)


def test_a_form_of_another_matrix_or_validator_is_refused(place: tuple[Layout, Matrix]) -> None:
    layout, plan = place
    write_text(layout.form("form"), 'form = "frm"\nmatrix = "other"\n')
    with pytest.raises(FormError) as refusal:
        ingest(layout, plan)
    assert 'the forms of this matrix are "form", "second"' in str(refusal.value)
    assert 'found "other"' in str(refusal.value)
    write_text(layout.form("form"), "")
    with pytest.raises(FormError, match="form: missing, although a form begins with it; the forms of this matrix are"):
        ingest(layout, plan)


def test_writing_a_form_again_never_loses_answers(place: tuple[Layout, Matrix]) -> None:
    layout, plan = place
    one, *_ = ids(plan)
    write_forms(layout, plan)
    form = layout.form("form")
    form.write_text(form.read_text().replace(f"[runs.{one}]\n# usable = ?", f"[runs.{one}]\nusable = true"))
    before = form.read_bytes()

    with pytest.raises(FormError, match="answers that are not ingested"):
        write_forms(layout, plan)
    assert form.read_bytes() == before

    ingest(layout, plan)
    write_forms(layout, plan)
    assert form.read_text().count("# usable = ?") == 3
    assert set(tomllib.loads(form.read_text())["runs"]) == set(plan.runs)
    assert read_json(layout.run(plan.runs[one].directory).verdict("form"))["validator"] == "form"


@pytest.mark.parametrize("answer", ["false", "1", "2026-01-01"])
def test_a_form_with_an_answer_that_can_never_be_taken_is_not_said_to_wait_for_being_taken(
    place: tuple[Layout, Matrix], answer: str
) -> None:
    layout, plan = place
    one, two, *_ = ids(plan)
    fill(layout, plan, f"[runs.{one}]\nusable = true\n")
    ingest(layout, plan)
    fill(layout, plan, f"[runs.{one}]\nusable = {answer}\n")

    with pytest.raises(FormError) as refusal:
        write_forms(layout, plan)

    there = layout.run(plan.runs[one].directory).verdict("form")
    assert f"of run {one}, which is answered and stays true: write that, or take the line out" in str(refusal.value)
    assert f"delete {there}, which takes back all" in str(refusal.value) and "first" not in str(refusal.value)
    there.unlink()
    if answer == "false":
        assert ingest(layout, plan)[0].merged == 1

    fill(layout, plan, f"[runs.{two}]\nusable = true\n")
    layout.run(plan.runs[two].directory).record.unlink()
    with pytest.raises(FormError, match=f"answers for run {two}, which is not here"):
        write_forms(layout, plan)


def test_a_run_that_is_not_recorded_is_pending_and_not_asked(place: tuple[Layout, Matrix]) -> None:
    layout, plan = place
    one, *_ = ids(plan)
    layout.run(plan.runs[one].directory).record.unlink()
    write_forms(layout, plan)
    assert one not in layout.form("form").read_text()
    assert pending_lines(plan, {}) == ["form: 8 of 8 pending", "form second: 4 of 4 pending"]


def test_a_matrix_without_forms_says_so(place: tuple[Layout, Matrix]) -> None:
    layout, plan = place
    with pytest.raises(FormError, match="no validator of its scenario is a form"):
        write_forms(layout, replace(plan, validators={}))
    with pytest.raises(FormError, match="holds no form"):
        ingest(layout, plan)

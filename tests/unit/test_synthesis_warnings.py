import re
from dataclasses import replace

from synthesised import built, by_cell, demo

from tests.matrices import CELLS, LAUNCHES, matrix, rows
from trysquare.files import write_json
from trysquare.layout import Layout
from trysquare.synthesis import Evidence, build, gather, markdown, page

# Warnings and facts


def test_files_that_the_agents_own_rules_hide_are_warned_of_and_named_by_artefacts_aside(tmp_path):
    plan = matrix()
    plan = replace(plan, task=replace(plan.task, artefacts=("*_cache",)))
    runs, layout = rows(plan), Layout(tmp_path)
    one, other = (plan.runs[run.id] for run in by_cell(runs, "rule / off")[:2])
    write_json(layout.run(one.directory).configuration, {"hidden": [".x_cache/", *(f"{n}.out" for n in range(12))]})
    write_json(layout.run(other.directory).configuration, {"hidden": [".x_cache/"]})
    s = built(plan, runs, evidence=gather(layout, plan, runs))
    assert any("Ignore rules" in warning and "rule / off (1 of 10 runs)" in warning for warning in s.warnings)
    assert "no diff: 0.out, 1.out, 2.out, 3.out, 4.out, 5.out, 6.out, 7.out, 8.out, 9.out and 2 more" in page(s)


def test_a_question_that_was_changed_after_the_runs_is_warned_of():
    plan = matrix()
    asked = {"criterion": "in_scope", "validity": list(plan.verdict.validity), "reference": plan.verdict.reference}
    before = [{**line, **asked} for line in LAUNCHES]
    told = "when runs were measured, and is"
    assert not any(told in warning for warning in build(plan, rows(plan), before).warnings)

    changed = [{**line, "criterion": "tests", "validity": []} for line in before]
    found = [warning for warning in build(plan, rows(plan), changed).warnings if told in warning]
    assert found[0].startswith("The criterion was tests when runs were measured, and is in_scope now")
    assert found[1].startswith("The validity was nothing when runs were measured, and is delivered")
    assert len(found) == 2


def test_what_weakens_a_comparison_is_warned_of():
    plan = matrix(CELLS[:2])
    runs = rows(plan)
    runs[0].launch, runs[1].agent_version, runs[2].metrics["delivered"] = "later", "1.7.0", False
    models = {run.id: Evidence("runs/x", models=("large" if run.cell == CELLS[0] else "small",)) for run in runs}
    lines = [
        *LAUNCHES,
        {"kind": "carry", "directory": "small-fix_n5", "repetitions": 5, "runs": [runs[0].id, runs[1].id],
         "launches": [{**LAUNCHES[0], "id": "later", "concurrency": 7}]},
        {"kind": "discard", "started": "2026-07-30T10:00:00+00:00", "cell": CELLS[1], "runs": {runs[9].id: "d" * 24}},
        {"kind": "gone", "started": "2026-07-31T10:00:00+00:00", "runs": {runs[9].id: CELLS[1]}},
    ]  # fmt: skip
    text = "\n".join(build(plan, runs, lines, evidence=models).warnings)
    for part in (
        "More than one model answered (nothing / off: large; nothing / high: small)",
        "2 agent versions, 1.6.0 (19 runs), 1.7.0 (1 run)",
        "2 launches",
        "1 run came from small-fix_n5 (n = 5), measured 7 at a time",
        "whoever measures more once results are known finds more than there is",
        "1 run of nothing / high had been measured, was removed from the archive, and was asked for again on",
        "nothing / high was measured again on 2026-07-30, 1 run set aside",
        "No run was isolated",
        "nothing / off: 10 runs, 10 valid, 9 counted: delivered was not true in 1",
    ):
        assert part in text


def test_an_isolated_experiment_of_one_launch_has_no_warning():
    plan = matrix(CELLS[:2])
    assert built(plan, [replace(run, isolation="container") for run in rows(plan)]).warnings == ()


def test_the_facts_name_agent_models_commit_and_launch():
    plan = matrix()
    models = {run_id: Evidence("runs/x", models=("model-4-large",)) for run_id in plan.runs}
    facts = dict(built(plan, evidence=models).facts)
    assert facts["agent"] == "pi 1.6.0" and facts["model asked for"] == "maker / model-4"
    assert facts["models that answered"] == "model-4-large"
    assert facts["commit of the etalon"] == plan.source.commit
    assert facts["launch"] == "2026-07-29T10:15:00+00:00, 2 at a time, 900 s each at most, trysquare 0.1.0"
    assert facts["a run counts when"] == "its state is valid and delivered is true"


def test_launches_that_measured_no_run_here_are_not_listed():
    plan = matrix()
    idle = {**LAUNCHES[0], "id": "idle", "started": "2030"}
    assert "2030" not in page(build(plan, rows(plan), [*LAUNCHES, idle]))


# Rehearsals


def test_a_rehearsal_says_everywhere_that_nothing_is_a_measurement():
    plan = matrix(rehearsed=True)
    s = built(plan)
    text = page(s)
    assert "<title>REHEARSED, not a measurement: " in text and 'class="banner"' in text
    captions = re.findall(r"<caption>.*?</caption>", text, re.DOTALL)
    assert len(captions) == 4 + len(CELLS) and all("Rehearsed, not a measurement." in each for each in captions)
    assert len(re.findall(r'<span class="tag alarm">rehearsed</span>', text)) == 40
    written = markdown(s)
    assert written.startswith("# REHEARSED, not a measurement: ") and written.count(", rehearsed |") == 40
    assert written.count("**Rehearsed, not a measurement.**") == 5 + len(CELLS)
    assert "What would be publishable if it were measured:" in written and "What is publishable" not in written
    verdicts = re.findall(r'<section class="verdict .*?</section>', text, re.DOTALL)
    assert len(verdicts) == 2 and all("Rehearsed, not a measurement." in each for each in verdicts)


def test_a_single_rehearsed_run_marks_the_whole_synthesis():
    plan = matrix()
    runs = rows(plan)
    runs[17].rehearsed = True
    assert built(plan, runs).rehearsed


def test_a_measured_matrix_nowhere_speaks_of_rehearsal():
    _, shown, written = demo()
    assert "ehears" not in shown.partition("</style>")[2] and "ehears" not in written

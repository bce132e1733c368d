"""Files of Vally: trial results taken as measures."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from vally_trials import trial, write_lines

from trysquare.cli import main
from trysquare.files import read_json
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.vally.importing import import_trials
from trysquare.vally.trials import TrialsError


def sample(trials: int = 8) -> list[dict[str, Any]]:
    """Two variants of two stimuli, one clearly better in one of them, with errors, skips and missing fields."""
    lines = []
    for stimulus in ("fix", "refactor"):
        for variant in ("base", "rule"):
            for index in range(trials):
                passed = (variant == "rule" and stimulus == "fix") or index == 0
                grade = {
                    "passed": passed,
                    "score": 1.0 if passed else 0.25,
                    "graders": [{"name": "suite", "passed": passed}],
                }
                lines.append(
                    trial(
                        variant=variant, stimulus=stimulus, trialIndex=index, durationMs=1000 + index, gradeResult=grade
                    )
                )
    lines[1] |= {"status": "error", "gradeResult": {"passed": False, "score": 0}}
    lines[2] |= {"status": "skipped", "gradeResult": None}
    del lines[3]["trajectory"], lines[3]["durationMs"], lines[3]["model"]
    del lines[4]["gradeResult"]
    return lines


def test_trials_become_matrices_with_empty_runs_never_false_ones(tmp_path: Path) -> None:
    made = import_trials(write_lines(tmp_path / "results.jsonl", *sample()), tmp_path / "out")

    assert [each.directory.name for each in made] == ["shop-fix_imported_m-1_n8", "shop-refactor_imported_m-1_n8"]
    assert made[0].lines[0].endswith("2 variants, 13 of 16 trials valid, 3 empty")
    assert made[0].lines[1:] == [
        '  1 empty: the status of the trial is "error"',
        '  1 empty: the status of the trial is "skipped"',
        "  1 empty: the trial has no gradeResult with passed = true or false",
    ]
    rows = read_json(Layout(made[0].directory).measures)
    assert [(row["cell"], row["repetition"]) for row in rows[:2]] == [("base", 0), ("base", 1)]
    assert rows[0]["metrics"] == {"passed": True, "score": 1.0, "grade.suite": True}
    assert rows[0]["usage"]["input"] == 1000 and rows[0]["duration"] == 1.0
    assert [row["state"] for row in rows[:5]] == ["valid", "empty", "empty", "valid", "empty"]
    assert [rows[i]["detail"] for i in (1, 2, 4)] == [line.partition(": ")[2] for line in made[0].lines[1:]]
    assert rows[1]["metrics"] == {} and rows[3]["usage"]["input"] is None


def test_an_import_says_why_trials_are_empty_the_most_frequent_reason_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [trial(trialIndex=n, status="PASS") for n in range(3)]
    lines += [trial(trialIndex=3, gradeResult={"pass": True}), trial(trialIndex=4, status="PASS")]
    assert main(["import", "vally", str(write_lines(tmp_path / "r.jsonl", *lines)), "-o", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.splitlines()[1:3] == [
        '  4 empty: the status of the trial is "PASS"',
        "  1 empty: the trial has no gradeResult with passed = true or false",
    ]


def test_an_import_renders_a_gap_with_an_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = write_lines(tmp_path / "results.jsonl", *sample())
    assert main(["import", "vally", str(results), "-o", str(tmp_path / "out")]) == 0
    directory = tmp_path / "out" / "shop-fix_imported_m-1_n8"

    assert main(["render", str(directory)]) == 0
    assert main(["render", str(directory), "--reference", "rule"]) == 0
    assert main(["status", str(directory)]) == 0
    assert "imported, 13 of 16 trials valid" in capsys.readouterr().out
    text = (directory / "synthesis.md").read_text()
    assert "established" in text and "base: 8 runs, 5 valid, 5 counted" in text
    assert (directory / "synthesis_ref-rule.md").exists()
    assert Matrix.load(Layout(directory).plan).imported.startswith("results.jsonl, ")


def test_importing_the_same_again_changes_nothing_and_other_trials_are_refused(tmp_path: Path) -> None:
    lines = sample()
    results = write_lines(tmp_path / "results.jsonl", *lines)
    [first, _] = import_trials(results, tmp_path / "out")
    before = {path: path.read_bytes() for path in first.directory.rglob("*") if path.is_file()}
    import_trials(results, tmp_path / "out")
    assert {path: path.read_bytes() for path in first.directory.rglob("*") if path.is_file()} == before

    lines[0]["gradeResult"]["passed"] = False
    write_lines(results, *lines)
    with pytest.raises(Exception, match="holds other trials"):
        import_trials(results, tmp_path / "out")


@pytest.mark.parametrize(
    ("other", "differs", "said"),
    [
        ({"model": "m-2"}, [], 'variants differ in model (base: "m-1"; rule: "m-2"); if that is what they test'),
        ({"model": "m-2"}, ["model"], ""),
        ({"stimulus": {"name": "fix", "prompt": "other"}}, [], "variants differ in stimulus"),
        ({"stimulus": {"name": "fix", "prompt": "other"}}, ["stimulus"], ""),
        ({"variant": "base", "trialIndex": 1, "model": "m-2"}, ["model"], 'variant "base" saw 2 models'),
        ({"variant": "base"}, [], "trial 0 is there twice, in lines 1 and 2"),
        ({"model": None}, [], ""),
    ],
)
def test_drift_between_variants_is_refused_unless_it_is_declared(
    tmp_path: Path, other: dict[str, Any], differs: list[str], said: str
) -> None:
    first = trial(stimulus={"name": "fix", "prompt": "Fix it."})
    lines = [first, trial(**{"variant": "rule", "stimulus": {"name": "fix", "prompt": "Fix it."}} | other)]
    results = write_lines(tmp_path / "results.jsonl", *lines)
    if not said:
        assert import_trials(results, tmp_path / "out", differs)
        return
    with pytest.raises(TrialsError) as refusal:
        import_trials(results, tmp_path / "out", differs)
    assert said in str(refusal.value)
    assert not (tmp_path / "out").exists()


def test_fifty_thousand_trials_are_imported(tmp_path: Path) -> None:
    lines = (trial(variant=f"v{n % 5}", stimulus=f"s{n % 4}", trialIndex=n, itemId=f"i{n}") for n in range(50_000))
    results = tmp_path / "results.jsonl"
    with results.open("w") as handle:
        handle.writelines(json.dumps(line) + "\n" for line in lines)

    made = import_trials(results, tmp_path / "out")

    assert [(each.cells, each.trials, each.empty) for each in made] == [(5, 12_500, {})] * 4


def test_the_output_of_a_trial_is_not_held(tmp_path: Path) -> None:
    results, output = tmp_path / "results.jsonl", "x" * 200_000
    with results.open("w") as handle:
        for n in range(500):
            handle.write(json.dumps(trial(trialIndex=n, trajectory={"output": output})) + "\n")
    assert results.stat().st_size > 100 * 10**6

    tracemalloc.start()
    import_trials(results, tmp_path / "out")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 10 * 10**6

"""Files of Vally: evaluations graded offline."""

import json
from pathlib import Path
from typing import Any

import pytest
from vally_trials import trial, write_lines

from trysquare.cli import main
from trysquare.vally.evaluation import EvaluationError, load
from trysquare.vally.yaml12 import YamlError, read_yaml

EVAL = """
name: shop
defaults:
  custom-metrics:
    path: out/metrics.json
config:
  graders:
    - type: custom-metrics
      name: suite
      config:
        assertions:
          - metric: tests_failed
            equals: 0
stimuli:
  - name: fix
    graders:
      - type: llm-judge
        prompt: anything
      - type: custom-metrics
        config:
          path: custom_metrics.json
          assertions:
            - metric: mode
              matches: "^yes$"
            - metric: latency
              max: 1e3
  - name: refactor
"""


# YAML


def test_yaml_is_read_by_the_core_schema_of_version_1_2(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(
        "a: yes\nb: 1e3\nc: 0o14\nd: 014\ne: 1_000\nf: 2001-12-14\ng: 12:30:45\nh: ~\ni: 0x1F\nj: !!str 3\nk: TRUE\n"
        "l: on\nm: '1'\nn: +1\no: .5\np:\nq: <<\nr: =\n"
    )
    found = read_yaml(file)
    assert found == {
        "a": "yes", "b": 1000.0, "c": 12, "d": 14, "e": "1_000", "f": "2001-12-14", "g": "12:30:45", "h": None, "i": 31,
        "j": "3", "k": True, "l": "on", "m": "1", "n": 1, "o": 0.5, "p": None, "q": "<<", "r": "=",
    }  # fmt: skip
    assert type(found["d"]) is int and type(found["b"]) is float and found["k"] is True


@pytest.mark.parametrize("text", ["a: 1\na: 2", "a: !!python/object:os.system x", "[", "a: 1\n---\nb: 2", "a: \x07"])
def test_yaml_that_cannot_be_read_is_one_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text)
    with pytest.raises(YamlError) as refusal:
        read_yaml(file)
    assert str(refusal.value).startswith(f"{file}: is no YAML") and "\n" not in str(refusal.value)


# Evaluations


def test_blocks_come_from_sections_and_stimuli_with_shared_settings(tmp_path: Path) -> None:
    file = tmp_path / "eval.yaml"
    file.write_text(EVAL)
    found = load(file)
    suite, modes = found.blocks("fix")
    assert (suite.name, suite.path) == ("suite", "out/metrics.json")
    assert (modes.name, modes.path) == ("custom-metrics", "custom_metrics.json")
    assert modes.assertions == ({"metric": "mode", "matches": "^yes$"}, {"metric": "latency", "max": 1000.0})
    assert found.blocks("refactor") == found.blocks(None) == (suite,)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("{}", "assertions: has no assertion"),
        ("{assertions: []}", "assertions: has no assertion"),
        ("{assertions: [{metric: a}]}", "assertions[0]: asserts nothing"),
        ("{assertions: [{equals: 1}]}", "assertions[0]: names no metric"),
        ("{assertions: [{metric: a, min: 2, max: 1}]}", "no number meets min = 2, max = 1"),
        ("{assertions: [{metric: a, equals: x, tolerance: 1}]}", "numeric equals"),
        ("{assertions: [{metric: a, matches: '('}]}", "no regular expression"),
        ("{assertions: [{metric: a, contains: x, min: 1}]}", "contains stands alone"),
        ("{assertions: [{metric: a, present: yes}]}", 'present: found "yes", expected true or false'),
        ("{assertions: [{metric: a, min: '1'}]}", 'min: found "1", expected a finite number'),
        ("{assertions: [{metric: a, equals: null}]}", "equals: found null"),
        ("{assertions: [{metric: a, equals: [1]}]}", "equals: found [1]"),
        ("{assertions: [{metric: a, minimum: 1}]}", 'unknown key "minimum"'),
        ("{path: 3, assertions: [{metric: a, min: 1}]}", "path: found 3"),
        ("{asertions: []}", 'unknown key "asertions" (did you mean "assertions"?)'),
        ("[1]", "config: found [1]"),
    ],
)
def test_bad_configuration_is_refused_naming_its_place(tmp_path: Path, config: str, said: str) -> None:
    file = tmp_path / "eval.yaml"
    file.write_text(f"graders:\n  - type: custom-metrics\n    config: {config}\n")
    with pytest.raises(EvaluationError) as refusal:
        load(file)
    assert said in str(refusal.value)
    assert all(line.startswith(str(file)) for line in str(refusal.value).splitlines())


# Grading


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    (tmp_path / "eval.yaml").write_text(EVAL)
    (tmp_path / "art" / "out").mkdir(parents=True)
    (tmp_path / "art" / "custom_metrics.json").write_text('{"mode": "yes", "latency": 900}')
    (tmp_path / "art" / "out" / "metrics.json").write_text('{"tests_failed": 0}')
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "custom_metrics.json").write_text('{"mode": "no", "latency": 2000}')
    return tmp_path


def graded(capsys: pytest.CaptureFixture[str], code: int, *arguments: object) -> list[dict[str, Any]]:
    assert main(["grade", *map(str, arguments)]) == code
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_trials_are_graded_offline_artifact_dir_first(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = write_lines(
        bench / "results.jsonl",
        trial(trajectory={"artifactDir": "art", "workDir": str(bench / "work")}),
        {"type": "run-summary"},
        trial(trajectory={"artifactDir": "gone", "workDir": "work"}, trialIndex=1),
        trial(stimulus="refactor", status="error", trajectory=None),
    )

    lines = graded(capsys, 0, bench / "eval.yaml", results)

    assert [(line["name"], line["passed"], line["score"]) for line in lines] == [
        ("suite", True, 1.0),
        ("custom-metrics", True, 1.0),
        ("suite", False, 0.0),
        ("custom-metrics", False, 0.0),
        ("suite", False, 0.0),
    ]
    assert {line["type"] for line in lines} == {"custom-metrics"}
    assert "from artifact dir" in lines[1]["evidence"] and "from workspace" in lines[3]["evidence"]
    assert lines[2]["evidence"] == "expected metrics file at out/metrics.json (not found)"
    assert lines[3]["details"][1]["evidence"] == "metric 'latency' is 2000, expected <= 1000"
    assert lines[4]["trial"]["status"] == "error"
    graded(capsys, 1, results, "--require-pass")


def test_a_directory_is_graded_without_results(
    bench: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bench / "art")
    lines = graded(capsys, 0, bench / "eval.yaml", "--require-pass")
    assert all("from workspace" in line["evidence"] for line in lines) and len(lines) == 2


def test_a_turn_fails_and_an_escaping_path_fails_and_neither_is_an_error(
    bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (bench / "eval.yaml").write_text(
        "graders:\n"
        "  - {type: custom-metrics, name: a, turn: 1, config: {assertions: [{metric: m, min: 1}]}}\n"
        "  - {type: custom-metrics, name: b, config: {path: ../m.json, assertions: [{metric: m, min: 1}]}}\n"
        "  - {type: custom-metrics, name: c, config: {turn: 2, assertions: [{metric: m, min: 1}]}}\n"
    )
    lines = graded(
        capsys, 0, bench / "eval.yaml", write_lines(bench / "r.jsonl", trial(trajectory={"workDir": "work"}))
    )
    assert [line["passed"] for line in lines] == [False, False, False]
    assert "leave turn unset" in lines[0]["evidence"] and "leave turn unset" in lines[2]["evidence"]
    assert "no relative path" in lines[1]["evidence"]


def test_lint_checks_the_evaluation_alone(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grade", "--lint", str(bench / "eval.yaml")]) == 0
    assert "2 graders, 3 assertions, all sound" in capsys.readouterr().out
    (bench / "eval.yaml").write_text("graders: [{type: custom-metrics, config: {assertions: [{metric: m}]}}]")
    assert main(["grade", "--lint", str(bench / "eval.yaml")]) == 1
    assert "asserts nothing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [("{", "line 1: is no JSON"), ("[]", "line 1: holds no object"), ('{"type": "other"}', "no trial of a stimulus")],
)
def test_results_that_cannot_be_graded_are_an_input_error(
    bench: Path, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    assert main(["grade", str(bench / "eval.yaml"), str(write_lines(bench / "r.jsonl", line))]) == 1
    assert said in capsys.readouterr().err

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trysquare.assay import Assay, CannotJudge, Metric, validator


def context(directory: Path, **parts: Any) -> str:
    path = directory / "context.json"
    path.write_text(json.dumps(parts))
    return str(path)


@validator
def evaluate(run: Assay) -> dict[str, Any]:
    """Score a run."""
    return {"delivered": bool(run.touched), "files": run.touched, "asked": Metric.unjudged("nobody asked")}


def test_a_validator_is_still_the_function_it_was_made_of() -> None:
    assert evaluate(Assay.fake(touched={"a"})) == {
        "delivered": True,
        "files": frozenset({"a"}),
        "asked": Metric.unjudged("nobody asked"),
    }
    assert (evaluate.__name__, evaluate.__doc__) == ("evaluate", "Score a run.")


def test_a_validator_prints_its_payload_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate.cli([context(tmp_path, touched=["b", "a", "é"], declared=["delivered", "asked"])]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {
        "metrics": {"delivered": True, "files": ["a", "b", "é"]},
        "reasons": {},
        "unjudged": {"asked": "nobody asked"},
    }
    assert out.isascii() and out.count("\n") == 1 and err == ""


def test_what_a_validator_prints_itself_cannot_spoil_its_payload(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    @validator
    def chatty(run: Assay) -> dict[str, Any]:
        print("looking at the run")
        return {"a": 1}

    assert chatty.cli([context(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["metrics"] == {"a": 1}
    assert err == "looking at the run\n"


def test_a_run_that_cannot_be_judged_exits_one_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate.cli([context(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", "cannot judge this run: the context of this run has no 'touched'\n")


def test_a_defect_of_the_validator_shows_its_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    @validator
    def broken(run: Assay) -> dict[str, Any]:
        return {"a": 1 // 0}

    assert broken.cli([context(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" in err and "1 // 0" in err and "ZeroDivisionError" in err


@pytest.mark.parametrize("value", [float("nan"), {1, float("inf")}, object()])
def test_a_value_json_cannot_hold_is_a_defect_that_names_the_metric(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], value: Any
) -> None:
    assert validator(lambda run: {"rate": value}).cli([context(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "metric 'rate'" in err


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        (
            {"in_scop": True},
            "did not return the declared metric 'in_scope'; 'in_scop' is not declared, did you mean 'in_scope'? "
            "(it answered: in_scop)\n",
        ),
        ({"other": True}, "did not return the declared metric 'in_scope' (it answered: other)\n"),
        ({}, "did not return the declared metric 'in_scope' (it answered: nothing)"),
        ({"in_scope": None}, "returned None for the declared metric 'in_scope'"),
        ({"in_scope": Metric(None, "?")}, "returned None for the declared metric 'in_scope'"),
    ],
)
def test_a_declared_metric_that_is_not_answered_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], returned: dict[str, Any], sentence: str
) -> None:
    assert validator(lambda run: returned).cli([context(tmp_path, declared=["in_scope"])]) == 1
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "{", "[]", '"text"', None])
def test_a_context_that_is_none_is_refused_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None
) -> None:
    path = tmp_path / "context.json"
    if content is not None:
        path.write_text(content)
    assert evaluate.cli([str(path)]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"cannot judge this run: the context {path} ") and err.count("\n") == 1


@pytest.mark.parametrize("argv", [[], ["a", "b"]])
def test_a_validator_takes_one_argument(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate.cli(argv) == 2
    assert "one argument" in capsys.readouterr().err


def test_two_processes_print_the_same_bytes_for_the_same_run(tmp_path: Path) -> None:
    script = tmp_path / "v.py"
    script.write_text(
        "from trysquare.assay import validator\n"
        "@validator\ndef evaluate(run):\n    return {'files': run.touched, 'odd': {1, 'a', None, 2.5}}\n"
        "raise SystemExit(evaluate.cli())\n"
    )
    path = context(tmp_path, touched=[f"file {n}" for n in range(50)])
    outputs = {
        subprocess.run(
            [sys.executable, script, path],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in range(4)
    }
    assert len(outputs) == 1


def test_a_refusal_inside_the_function_reaches_the_caller_of_the_function() -> None:
    with pytest.raises(CannotJudge, match="'touched'"):
        evaluate(Assay.fake())


def test_importing_the_base_imports_nothing_heavy() -> None:
    code = "import sys, trysquare.assay; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"numpy", "pandas", "scipy", "pydantic", "dataclasses", "inspect", "subprocess", "argparse", "tempfile"}
    assert not heavy & set(loaded)

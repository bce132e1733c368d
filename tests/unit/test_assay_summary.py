import pytest

from trysquare.assay import summarise

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

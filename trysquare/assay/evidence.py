"""Whether what a suite printed shows that a test ran and passed: an exit status of 0 alone does not."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

COLOUR = r"\x1b\[[0-9;]*[A-Za-z]"
LAUNCHER = r"(?:\S*/)?(?:npx|uv|poetry|pipenv|coverage|python[\d.]*)[ \t]+(?:run[ \t]+)?(?:-m[ \t]+)?"
PROGRAM = r"(?:\S*/)?(?:pytest|py\.test|unittest|cargo|go|node|nodejs|jest|vitest|mocha)"
ECHOED = re.compile(rf"^[ \t]*(?:[>$+][ \t]*)?((?:{LAUNCHER})?{PROGRAM}(?:[ \t].*)?)$", re.MULTILINE)
"""A line that reads like a call of a runner, as `npm` and `make` print what they run."""

NODE_FILE = re.compile(r"^(?:✔ .+\.[cm]?[jt]sx? \([\d.]+ms\)$|# Subtest: .+\.[cm]?[jt]sx?\n(?=ok ))", re.MULTILINE)
"""A file that node counts as a passed test, because no test was declared in it."""


class Runner(NamedTuple):
    """How a test runner is recognised, and what it says.

    `words` call it on a command line. `opening` is what it prints before the first test and `closing` what it prints
    after the last one. `passed` finds counts of tests, or, without a group, tests, that passed, and `failed` what says
    that one did not.
    """

    name: str
    words: tuple[str, ...]
    opening: str
    closing: str
    passed: tuple[str, ...]
    failed: str


NEVER = r"(?!)"
RUNNERS = (
    Runner(
        "pytest",
        ("pytest", "py.test"),
        r"^=+ test session starts =+$",
        r"^(?:=+ )?(?:no tests ran|\d+ [a-z]+(?:, \d+ [a-z]+)*) in \d[\d.]*s\b"
        r"|^Results \([\d.]+s\):$|^[.\w]+ +\[100%\]$",
        (
            r"^(?:=+ )?(?:\d+ [a-z]+, )*(\d+) x?passed\b",
            r"^ +(\d+) passed$",
            r"^[A-Za-z]*\.[.A-Za-z]* +\[ *\d+%\]$",
        ),
        r"^(?:=+ )?(?:\d+ [a-z]+, )*\d+ (?:failed|errors?)\b.* in \d[\d.]*s\b"
        r"|^(?:FAILED|ERROR) \S+(?:\.py|::)",
    ),
    Runner(
        "unittest",
        ("unittest",),
        NEVER,
        r"^Ran \d+ tests? in ",
        (r"^[A-Za-z]*\.[.A-Za-z]*$(?=\s+-{20,}\nRan )", r"\.\.\. ok$"),
        r"^FAILED \((?:failures|errors|unexpected successes)=",
    ),
    Runner(
        "cargo",
        ("cargo",),
        r"^running \d+ tests?$",
        r"^test result: ",
        (r"^test result: .*?\b(\d+) passed",),
        r"^test result: FAILED",
    ),
    Runner(
        "go",
        ("go",),
        NEVER,
        r"^(?:FAIL|ok  |\?   )\t",
        (r"^ *--- PASS: ", r"^ok  \t(?!.*\[no tests to run\])"),
        r"^FAIL\t",
    ),
    Runner(
        "node", ("node", "nodejs"), NEVER, r"^(?:#|ℹ) tests \d+$", (r"^(?:#|ℹ) pass (\d+)$",), r"^(?:#|ℹ) fail [1-9]"
    ),
    Runner("jest", ("jest",), NEVER, r"^Tests: +\d", (r"^Tests: .*?\b(\d+) passed",), r"^Tests: .*?\b[1-9]\d* failed"),
    Runner(
        "vitest",
        ("vitest",),
        r"^ *RUN +v\d",
        r"^ *Test Files? .*|^No test files found",
        (r"^ *Tests +.*?\b(\d+) passed",),
        r"^ *Tests +.*?\b[1-9]\d* failed",
    ),
    Runner("mocha", ("mocha",), NEVER, r"^ *\d+ passing\b", (r"^ *(\d+) passing\b",), r"^ *[1-9]\d* failing\b"),
)


def lacking(argv: Sequence[str], output: str) -> str:
    """What is missing from the output of a suite that exited 0, as the end of a sentence; empty when nothing is.

    A runner that is not recognised, neither by its output nor by how it was called, is trusted as far as it printed
    anything.
    """
    text = re.sub(COLOUR, "", output)
    if not text.strip():
        return "exited 0 and printed nothing, so nothing shows that a test ran; let it print its report"
    reported = [runner for runner in RUNNERS if _count(runner.closing, text)]
    broken = [runner.name for runner in RUNNERS if _count(runner.opening, text) > _count(runner.closing, text)]
    if broken:
        return f"exited 0, but {broken[0]} ended before its report"
    if not reported:
        called = _called(argv, text)
        return f"exited 0 without the report of {called}, so nothing shows that a test ran" if called else ""
    if red := [runner.name for runner in reported if _count(runner.failed, text)]:
        return f"exited 0, but by the report of {red[0]} a test failed"
    if any(_passed(runner, text) for runner in reported):
        return ""
    if NODE_FILE.search(text):
        return "exited 0, but node counted files as tests, and none of them declares one"
    if not any(re.search(r"[1-9]", line) for line in _closings(reported, text)):
        return "exited 0 without running one test"
    return f"exited 0, but by the report of {reported[0].name} not one test passed"


def _passed(runner: Runner, text: str) -> int:
    total = 0
    for pattern in runner.passed:
        for found in re.finditer(pattern, text, re.MULTILINE):
            total += int(found[1]) if found.groups() else 1
    if runner.name == "node":
        total -= len(NODE_FILE.findall(text))
    if runner.name == "unittest":
        total += _unittest(text)
    if runner.name == "go" and "--- SKIP: " in text and "--- PASS: " not in text:
        return 0
    return total


def _unittest(text: str) -> int:
    """Tests that unittest ran and did not skip, over all of its reports."""
    reports = re.findall(r"^Ran (\d+) tests? in .*\n\s*OK(?: \((?:.*?\bskipped=(\d+))?.*\))?$", text, re.MULTILINE)
    return sum(max(int(ran) - int(skipped or 0), 0) for ran, skipped in reports)


def _closings(reported: Sequence[Runner], text: str) -> list[str]:
    found = []
    for runner in reported:
        for match in re.finditer(runner.closing, text, re.MULTILINE):
            line = text[match.start() :].split("\n", 1)[0]
            found.append(re.sub(r" in [\d.]+.*", "", line))
    return found


def _called(argv: Sequence[str], text: str) -> str:
    """The runner that the command names, or a line of the output that reads like a command."""
    lines = [list(argv), *(found[1].split() for found in ECHOED.finditer(text))]
    for words in lines:
        for runner in RUNNERS:
            if _names(words, runner):
                return runner.name
    return ""


def _names(words: Sequence[str], runner: Runner) -> bool:
    programs = [PurePosixPath(word).name for word in words]
    if not set(programs) & set(runner.words):
        return False
    if runner.name in ("cargo", "go"):
        return programs[0] == runner.name and "test" in programs
    if runner.name == "node":
        return any(word == "--test" or word.startswith("--test-") for word in words)
    return True


def _count(pattern: str, text: str) -> int:
    return len(re.findall(pattern, text, re.MULTILINE))

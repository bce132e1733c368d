"""Running the declared suite: green, red, or nobody judged."""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath

from trysquare.assay.evidence import lacking
from trysquare.assay.metrics import CannotJudge, Metric
from trysquare.assay.summary import summarise
from trysquare.assay.trees import Ended, call, copy_of
from trysquare.scenario import ScenarioError, split_command

MISSING_SCRIPT = re.compile(r"^npm (?:error|ERR!) Missing script", re.MULTILINE)
NO_TEST = re.compile(r"^Ran 0 tests in ", re.MULTILINE)
UNITTEST_EMPTY = 5
"""The exit status of unittest, from Python 3.12 on, when it found no test."""


def judge(tree: Path, command: str, prepare: Sequence[str], timeout: float) -> Metric:
    """The suite's outcome on a copy of the tree, after the commands that prepare it; each has `timeout` seconds."""
    with copy_of(tree) as copy:
        for step in prepare:
            ended = call(_words(step), copy, timeout)
            if ended.code != 0:
                return _unjudged(f"`{step}`, which prepares the suite, {ended.manner}", ended)
        argv = _words(command)
        ended = call(argv, copy, timeout)
    trouble = nobody_judged(argv, ended)
    if trouble:
        return _unjudged(f"`{command}` {trouble}", ended)
    reason = summarise(ended.output)
    return Metric(ended.code == 0, reason if ended.code in (0, 1) else f"{ended.manner}: {reason}")


def nobody_judged(argv: Sequence[str], ended: Ended) -> str:
    """Why the way a suite ended says nothing of the tree; empty when it does."""
    programs = {PurePosixPath(word).name for word in argv}
    codes = {126: "a program that cannot be executed", 127: "a program that is not there"}
    if programs & {"pytest", "py.test"}:
        codes |= {4: "pytest could not be used", 5: "pytest collected no test"}
    if programs & {"node", "nodejs"}:
        codes |= {7: "node broke down"}
    if ended.code is None:
        return ended.trouble
    if ended.code in codes:
        return f"exited {ended.code}: {codes[ended.code]}"
    if ended.code != 0 and "npm" in programs and MISSING_SCRIPT.search(ended.output):
        return "names a script that package.json does not have"
    if ended.code == 1 and _module_missing(argv, ended.output):
        return "names a module that is not installed"
    if ended.code == UNITTEST_EMPTY and NO_TEST.search(ended.output):
        return f"exited {ended.code} without running one test"
    # A runner that found no test, or was ended by one, ends well: the run that deleted them all would be green.
    return lacking(argv, ended.output) if ended.code == 0 else ""


def _module_missing(argv: Sequence[str], output: str) -> bool:
    module = next((after for word, after in pairwise(argv) if word == "-m"), None)
    return module is not None and output.rstrip().endswith(f": No module named {module}")


def _unjudged(what: str, ended: Ended) -> Metric:
    return Metric.unjudged(f"{what}\n{summarise(ended.output)}" if ended.output.strip() else what)


def _words(command: str) -> list[str]:
    try:
        return split_command(command)
    except ScenarioError as error:
        raise CannotJudge(f"the context declares a command nobody can run: {error}") from None

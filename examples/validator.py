#!/usr/bin/env python3
"""Score whether the counter was fixed, inside its scope, and with a test first.

It is written for a repository with `counter.py` and `suite.py` at its top. For another one, begin with the names and
the probe below.

It scores what the agent left behind (the tree, the diff) and how it worked (the session). A metric that a run cannot
answer is unjudged with a reason, so that one unanswerable question does not take the other answers with it.
"""

from trysquare.assay import Assay, CannotJudge, Metric, ProbeTimeout, validator

SOURCE = "counter.py"
SUITE = "suite.py"
SCOPE = frozenset({SOURCE, SUITE})

PROBE = """
import json
from counter import bump
print(json.dumps([bump(n) for n in (0, 41, -1)]))
"""


@validator
def evaluate(run: Assay) -> dict[str, object]:
    """Every metric of one run."""
    # What running the suite leaves behind is neither a delivery nor out of scope.
    work = run.touched - run.artefacts
    outside = work - SCOPE
    return {
        "delivered": bool(work),
        # The reason belongs to the failure; an empty one is not published.
        "in_scope": Metric(not outside, f"also touched {', '.join(sorted(outside))}" if outside else ""),
        "tests": run.tests(),
        "counts_up": counts_up(run),
        "test_first": test_first(run),
        "lines_added": lines_added(run),
        "touched": run.touched,
    }


def counts_up(run: Assay) -> Metric:
    """A behaviour is executed, in a copy of the tree, rather than recognised in the diff."""
    try:
        answers = run.probe("python3 probe.py", write={"probe.py": PROBE})
    except ProbeTimeout:
        return Metric(False, "bump does not return")
    except CannotJudge as error:
        return Metric.unjudged(str(error))
    return Metric(answers == [1, 42, 0], f"bump answers {answers}")


def test_first(run: Assay) -> Metric:
    """How the agent worked: it changed the suite before it changed the source."""
    try:
        suite, source = run.first_write(SUITE), run.first_write(SOURCE)
    except CannotJudge as error:
        return Metric.unjudged(str(error))
    if suite is None or source is None:
        return Metric(False, f"no call wrote {SUITE if suite is None else SOURCE}")
    return Metric(suite < source, f"call {suite} wrote the suite, call {source} the source")


def lines_added(run: Assay) -> int:
    """A number becomes a median; the reference side is read from the pinned commit."""
    before = [run.sources_at_etalon(name) for name in SCOPE if name in run.files_at_etalon]
    after = [(run.repo / name).read_text() for name in SCOPE if (run.repo / name).is_file()]
    return sum(len(text.splitlines()) for text in after) - sum(len(text.splitlines()) for text in before)


if __name__ == "__main__":
    raise SystemExit(evaluate.cli())

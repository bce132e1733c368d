"""The base a validator is written with.

::

    @validator
    def evaluate(run: Assay) -> dict:
        return {"delivered": bool(run.touched - run.artefacts), "tests": run.tests()}

    if __name__ == "__main__":
        raise SystemExit(evaluate.cli())
"""

from trysquare.assay.entry import validator
from trysquare.assay.metrics import CannotJudge, Metric, ProbeTimeout, plain, report
from trysquare.assay.run import Assay
from trysquare.assay.session import ToolCall
from trysquare.assay.summary import summarise

__all__ = [
    "Assay",
    "CannotJudge",
    "Metric",
    "ProbeTimeout",
    "ToolCall",
    "plain",
    "report",
    "summarise",
    "validator",
]

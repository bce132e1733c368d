"""Running the validators. They are independent: each has its own context and sees nothing of the others."""

from typing import TYPE_CHECKING, Any

from trysquare.validation.blind import blindness, describe_blindness
from trysquare.validation.context import where, write_context
from trysquare.validation.dossier import judge_dossier
from trysquare.validation.result import Result
from trysquare.validation.script import run_script
from trysquare.validation.thinking import check_thinking_precondition

if TYPE_CHECKING:
    from trysquare.validation.judge import run_judge

__all__ = [
    "Result",
    "blindness",
    "check_thinking_precondition",
    "describe_blindness",
    "judge_dossier",
    "run_judge",
    "run_script",
    "where",
    "write_context",
]


def __getattr__(name: str) -> Any:
    # Only a judge needs the agent, whose import every other score would wait for.
    if name == "run_judge":
        from trysquare.validation import judge

        return judge.run_judge
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

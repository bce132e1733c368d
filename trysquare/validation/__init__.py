"""Running the validators. They are independent: each has its own context and sees nothing of the others."""

from trysquare.validation.context import where, write_context
from trysquare.validation.result import Result
from trysquare.validation.script import run_script

__all__ = ["Result", "run_script", "where", "write_context"]

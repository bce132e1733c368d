"""What one launch of the agent was worth."""

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trysquare.measure.stream import consumed_tokens, one_line

LONGEST_DETAIL = 500

# A program that catches a signal and leaves says so with 128 and its number.
_SIGNAL_EXIT = 128


@dataclass(frozen=True)
class Outcome:
    """One launch of the agent, whatever happened to it.

    `trace` is where its events are, `usage` and `response` what they were worth; `error` is the first error, `gave_up`
    the one the provider ended on, `stderr` bounded; `code` is the exit status, None when the harness ended it
    (`timed_out`; `overflowed`, of which `excess` says what was too much); `duration` is in seconds; `model` is the id
    that answered last.
    """

    trace: Path
    response: str
    error: str
    stderr: str
    code: int | None
    duration: float
    timed_out: bool
    usage: dict[str, Any]
    overflowed: bool = False
    gave_up: str = ""
    model: str | None = None
    excess: str = "wrote more events than the ceiling allows and was stopped"

    @property
    def produced_something(self) -> bool:
        """Whether this is a measurement.

        It is none when it consumed nothing, was stopped for what it wrote, was given up by the provider (the turns
        before are real, and look like an agent that chose to change nothing), or was ended from outside.
        """
        return consumed_tokens(self.usage) and not (self.overflowed or self.gave_up or self.signalled)

    @property
    def signalled(self) -> bool:
        """Whether something outside ended it; the harness's own time limit does not count."""
        return self.code is not None and not 0 <= self.code <= _SIGNAL_EXIT

    @property
    def detail(self) -> str:
        """In one line why this is no measurement; empty when it is one."""
        if self.produced_something:
            return ""
        if self.overflowed:
            return self.excess
        line = one_line(self.error or self.gave_up or self.stderr) or self._silence()
        return line if len(line) <= LONGEST_DETAIL else line[: LONGEST_DETAIL - 1] + "…"

    def _silence(self) -> str:
        if self.signalled:
            assert self.code is not None
            number = -self.code if self.code < 0 else self.code - _SIGNAL_EXIT
            return f"ended from outside by {_name(number)}"
        return "no tokens consumed" + (" before the time limit" if self.timed_out else "")


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

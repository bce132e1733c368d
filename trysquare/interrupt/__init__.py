"""The one door that starts child processes, and how they end when somebody asks.

Every child leads a session of its own, dies with this process, and takes with it whatever it started: `run` leaves
nothing running behind it, whether the child ended, timed out, wrote too much or was stopped. Once a stop was asked
for, the door is shut.
"""

from trysquare.interrupt.door import TooMuchOutput, run
from trysquare.interrupt.registry import DEADLINE, GRACE, INTERRUPTED, POLL, Stopped
from trysquare.interrupt.signals import (
    REQUESTS,
    adopt,
    deferred,
    dismiss,
    early,
    forward,
    handled,
    hard_exit,
    insist,
    on_hard_exit,
    reset,
    signalled,
    stop,
    stopping,
)

__all__ = [
    "DEADLINE",
    "GRACE",
    "INTERRUPTED",
    "POLL",
    "REQUESTS",
    "Stopped",
    "TooMuchOutput",
    "adopt",
    "deferred",
    "dismiss",
    "early",
    "forward",
    "handled",
    "hard_exit",
    "insist",
    "on_hard_exit",
    "reset",
    "run",
    "signalled",
    "stop",
    "stopping",
]

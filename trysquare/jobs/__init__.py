"""One module per rule: each is the actor its rule's shell line starts, and holds no logic of its own."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from trysquare import interrupt
from trysquare.errors import TrysquareError, refused

OUTER = "TRYSQUARE_OUTER_PATH"
"""Where a job finds the PATH it was launched with: what it starts must not meet the interpreter of the harness."""


def entry(main: Callable[[Sequence[str]], int]) -> NoReturn:
    """Run a job's main: the job dies with its parent, and a user's condition is one sentence and exit 1."""
    interrupt.adopt()
    os.environ["PATH"] = os.environ.pop(OUTER, os.environ.get("PATH", os.defpath))
    try:
        status = main(sys.argv[1:])
    except TrysquareError as error:
        print(error, file=sys.stderr)
        status = 1
    except OSError as error:
        if not (sentence := refused(error)):
            raise
        print(sentence, file=sys.stderr)
        status = 1
    interrupt.dismiss()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # to take the interpreter apart would cost a job as much again as to start it

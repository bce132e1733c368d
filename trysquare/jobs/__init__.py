"""One module per rule: each is the actor its rule's shell line starts, and holds no logic of its own."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from trysquare import interrupt
from trysquare.errors import TrysquareError, refused


def entry(main: Callable[[Sequence[str]], int]) -> NoReturn:
    """Run a job's main: the job dies with its parent, and a user's condition is one sentence and exit 1."""
    interrupt.adopt()
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

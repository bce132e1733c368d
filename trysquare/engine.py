"""The engine as the commands start it: asked to stop while it is still loading, it ends without a traceback.

Whoever starts it may block the signals that ask, so that none meets an interpreter that cannot answer yet.
"""

import signal
import sys

from trysquare import interrupt


def main() -> None:
    """Hand the command line to the engine."""
    interrupt.early()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, interrupt.REQUESTS)
    from snakemake.cli import main as engine

    sys.argv[0] = "snakemake"
    engine()


if __name__ == "__main__":
    main()

"""The process that jobs are forked from: `python -m trysquare.forkserver.server ADDRESS`, with a line to its launch.

One thread and one loop, which reads nothing that somebody may be slow to say: a forked job reads its own request. A
job whose client lets go of the line is asked to end; so are all when the launch lets go of its own, or on a signal.
"""

import gc
import os
import select
import signal
import socket
import struct
import sys
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

from trysquare import jobs
from trysquare.interrupt import REQUESTS

LOADED = ("carry", "judge", "measure", "score")
"""The jobs that a launch has many of."""
LAUNCH = 0
"""Standard input: nothing is said on it, and it ends with the launch."""
BACKLOG = 128


class Server:
    """The jobs of a launch, and the lines to their clients."""

    def __init__(self, address: str) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(f"\0{address}")
        self._listener.listen(BACKLOG)
        self._jobs: dict[int, socket.socket] = {}
        self._lines: dict[int, int] = {}
        self._closing = False
        self._inherited = {signum: signal.getsignal(signum) for signum in (*REQUESTS, signal.SIGCHLD)}
        self._signals = self._heard()
        self._poll = select.poll()
        for source in (LAUNCH, self._signals, self._listener):
            self._poll.register(source, select.POLLIN)

    def serve(self) -> None:
        """Until the launch lets go and every job has ended."""
        while self._jobs or not self._closing:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._listener.fileno():
                    self._start()
                elif descriptor in self._lines:
                    self._end(descriptor)
                elif descriptor == self._signals:
                    self._answer()
                elif descriptor == LAUNCH:
                    self._close()

    def _heard(self) -> int:
        """The descriptor from which the numbers of arriving signals can be read."""
        heard, written = os.pipe()
        os.set_blocking(written, False)
        signal.set_wakeup_fd(written, warn_on_full_buffer=False)
        for signum, handler in self._inherited.items():
            if handler is not signal.SIG_IGN or signum == signal.SIGCHLD:
                signal.signal(signum, lambda *_: None)
        return heard

    def _answer(self) -> None:
        if set(os.read(self._signals, 4096)) & set(REQUESTS):
            self._close()
        for job in list(self._jobs):
            ended, status = os.waitpid(job, os.WNOHANG)
            if ended:
                self._report(job, os.waitstatus_to_exitcode(status))

    def _start(self) -> None:
        connection, _ = self._listener.accept()
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        job = -1
        # A signal that arrives between the fork and the job's own handlers must end the job, not be noted by ours.
        signal.pthread_sigmask(signal.SIG_BLOCK, REQUESTS)
        if struct.unpack("3i", peer)[1] == os.getuid():
            with suppress(OSError):  # no process to be had: the client tries on its own, and says so
                job = os.fork()
        if job == 0:
            self._become(connection)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, REQUESTS)
        if job < 0:
            connection.close()
            return
        self._jobs[job] = connection
        self._lines[connection.fileno()] = job
        self._poll.register(connection, select.POLLRDHUP)

    def _become(self, connection: socket.socket) -> NoReturn:
        """Be the job. It keeps its connection, so that its client cannot outlast it unnoticed."""
        signal.set_wakeup_fd(-1)
        for signum, handler in self._inherited.items():
            signal.signal(signum, handler)
        for other in (self._listener, *self._jobs.values()):
            other.close()
        os.close(self._signals)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, REQUESTS)
        main = import_module(take(connection)).main
        connection.sendall(b"+")
        jobs.entry(main)

    def _report(self, job: int, status: int) -> None:
        """Tell a client how its job ended."""
        connection = self._jobs.pop(job)
        if self._lines.pop(connection.fileno(), None):
            self._poll.unregister(connection)
        with suppress(OSError):
            connection.sendall(str(status if status >= 0 else 128 - status).encode())
        connection.close()

    def _end(self, line: int) -> None:
        """End the job of a client that is gone, or was asked to stop; its clean-up may take a while."""
        os.kill(self._lines.pop(line), signal.SIGTERM)
        self._poll.unregister(line)

    def _close(self) -> None:
        """Take no further job, and end those there are."""
        if self._closing:
            return
        self._closing = True
        for source in (LAUNCH, self._listener):
            self._poll.unregister(source)
        self._listener.close()
        for line in list(self._lines):
            self._end(line)


def take(connection: socket.socket) -> str:
    """Take a client's place: its directory, environment, streams and arguments; returns the module of its job.

    Raises
    ------
    OSError, ValueError
        When the client is gone, or its directory is.
    """
    header, streams, _, _ = socket.recv_fds(connection, 8, 3)
    message = b""
    while len(message) < int.from_bytes(header, sys.byteorder):
        if not (part := connection.recv(1 << 20)):
            raise ConnectionError("the client is gone")
        message += part
    place, count, *rest = message.split(b"\0")
    for stream, standard in zip(streams, (0, 1, 2), strict=True):
        os.dup2(stream, standard)
        os.close(stream)
    os.chdir(place)
    os.environb.clear()
    for variable in rest[int(count) :]:
        name, _, value = variable.partition(b"=")
        os.environb[name] = value
    sys.argv = [os.fsdecode(word) for word in rest[: int(count)]]
    return sys.argv[0]


def main() -> None:
    """Serve until standard input ends."""
    server = Server(sys.argv[1])  # first, so that jobs wait for what is being loaded
    for name in LOADED:
        import_module(f"trysquare.jobs.{name}")
    gc.freeze()
    server.serve()


if __name__ == "__main__":
    main()

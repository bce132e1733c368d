"""The short way into a job: `client.py ADDRESS MODULE ARGUMENT...` in an interpreter that loads no site packages.

Imports nothing that needs compiling or takes a millisecond: what this costs, every job costs. `socket` and `signal`
would double it.
"""

import os
import sys
from _signal import SIG_IGN, SIGHUP, SIGINT, SIGTERM, getsignal, signal  # type: ignore[import-not-found]
from _socket import AF_UNIX, SCM_RIGHTS, SHUT_WR, SO_PEERCRED, SOCK_STREAM, SOL_SOCKET, socket

BEGUN = b"+"
LOST = 1
"""The exit status where the server ended before it could say that of the job."""


def main(address: str, module: str, *arguments: str) -> int:
    """Hand the job over and wait for its end; the exit status is the job's. Without a server, become the job."""
    connection = socket(AF_UNIX, SOCK_STREAM)
    answer = _handed(connection, address, module, *arguments)
    if not answer:
        # A job in an interpreter of its own: by now nothing of it has begun.
        os.execvp("python", ["python", "-m", module, *arguments])

    def stop(signum: int, frame: object) -> None:
        # The server ends a job whose client does not hold the line, also where this process is killed.
        connection.shutdown(SHUT_WR)

    for signum in (SIGINT, SIGTERM, SIGHUP):
        if getsignal(signum) is not SIG_IGN:
            signal(signum, stop)
    # A job that ended before it began has a status and no plus sign.
    status = (b"" if answer == BEGUN else answer) + connection.recv(8)
    if not status:
        print("the fork server of this launch was killed, and this job with it: launch again", file=sys.stderr)
    return int(status or LOST)


def _handed(connection: socket, address: str, *words: str) -> bytes:
    """The first byte of the answer to a request; none where no server of this user took it."""
    variables = [b"=".join(pair) for pair in os.environb.items()]
    message = b"\0".join([os.getcwdb(), b"%d" % len(words), *map(os.fsencode, words), *variables])  # noqa: PTH109
    streams = b"".join(descriptor.to_bytes(4, sys.byteorder) for descriptor in (0, 1, 2))
    try:
        connection.connect(f"\0{address}")
        peer = connection.getsockopt(SOL_SOCKET, SO_PEERCRED, 12)
        if int.from_bytes(peer[4:8], sys.byteorder) != os.getuid():
            return b""
        connection.sendmsg([len(message).to_bytes(8, sys.byteorder)], [(SOL_SOCKET, SCM_RIGHTS, streams)])
        connection.sendall(message)
        return connection.recv(1)
    except OSError:
        return b""


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))

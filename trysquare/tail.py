"""The end of what a child writes, in bounded memory, however much it is."""

import os
import threading
from types import TracebackType

CHUNK = 65536
GRACE = 2.0
"""Seconds to wait for the end of the stream, which a process that survived its own killing would hold open."""


class Tail:
    """A pipe that keeps the last `limit` bytes written into it; `with Tail(n) as tail`, then give `tail.fd` to a child.

    Reading never stops, so a child that floods it is slowed down by nothing and killed by nothing.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.dropped = 0
        self._kept = bytearray()
        self._source, self.fd = os.pipe()
        self._reader = threading.Thread(target=self._read, name="tail", daemon=True)

    def __enter__(self) -> "Tail":
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.fd)
        self._reader.join(GRACE)

    def _read(self) -> None:
        while chunk := os.read(self._source, CHUNK):
            self._kept += chunk
            if len(self._kept) > 2 * self.limit:
                self._shorten()
        os.close(self._source)
        self._shorten()

    def _shorten(self) -> None:
        surplus = max(0, len(self._kept) - self.limit)
        del self._kept[:surplus]
        self.dropped += surplus

    @property
    def text(self) -> str:
        """What was kept, once the block has ended; its first line says how much was not."""
        text = bytes(self._kept).decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        return f"[{self.dropped} bytes dropped]\n{text}" if self.dropped else text

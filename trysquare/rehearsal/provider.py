"""A scripted provider inside the job it serves: a port of its own on loopback, gone with the process."""

import json
import socketserver
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from socket import SHUT_RDWR, create_connection, socket
from types import TracebackType
from typing import Any

from trysquare.files import append_line, read_lines
from trysquare.rehearsal.language import Turn
from trysquare.rehearsal.script import Script
from trysquare.rehearsal.wire import answered, chunk, chunks

NAME = "rehearsal"
"""The provider's name, which a rehearsed agent is launched with."""

PATH = "/v1/chat/completions"
SESSION = b"x-session-affinity"
LEVELS = ("minimal", "low", "medium", "high", "xhigh", "max")
CONTEXT_WINDOW = 10_000_000
MAX_TOKENS = 100_000
DRIP = 0.01
FILLER = "and so on, and so forth, " * 8


@dataclass(frozen=True)
class _Request:
    path: str
    session: str
    body: bytes


@dataclass(frozen=True)
class _Answer:
    """What goes back: the turn that is due, unless there is a `fault` (an error status has a `message`)."""

    fault: int | str | None
    turn: Turn
    number: int
    model: str
    message: str


class Provider:
    """An OpenAI-compatible streaming server that plays one run's script, used as a context manager.

    Parameters
    ----------
    script, cell, repetition
        They decide what is played.
    log
        JSON lines, one appended before each answer: `at`, `run`, `cell`, `repetition`, `request` (from 1, over this
        job), `status` (null for an answer that never comes), `judge` when one asks, and `body` when the script says
        `record`. Never a header.
    run
        The run id written there.
    judge, keys
        The name of the judge that asks, if one does, and the keys of its verdict.
    """

    def __init__(
        self,
        script: Script,
        cell: str,
        repetition: int,
        log: Path,
        run: str,
        judge: str | None = None,
        keys: Sequence[str] = (),
    ) -> None:
        self.script, self.judge = script, judge
        self.play = script.play(cell, repetition) if judge is None else script.judgement(judge, keys, cell, repetition)
        self.log = Path(log)
        self._line = {"run": run, "cell": cell, "repetition": repetition, **({} if judge is None else {"judge": judge})}
        self._lock = threading.Lock()
        self._requests = 0
        self._launches: dict[str, int] = {}
        self._job = 1
        self._closing = threading.Event()

    def __enter__(self) -> "Provider":
        if any(fault.heals_after for fault in self.play.faults):
            asked = [line for line in read_lines(self.log) if line["run"] == self._line["run"]]
            self._job += sum(line["request"] == 1 and line.get("judge") == self.judge for line in asked)
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._serve, name=NAME, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        create_connection(("127.0.0.1", self.port)).close()
        self._thread.join()
        self._server.server_close()
        for thread, connection in list(self._server.open.items()):
            with suppress(OSError):
                connection.shutdown(SHUT_RDWR)
            thread.join()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    def models(self, model: str) -> Mapping[str, Any]:
        """The agent's models.json: this provider alone, with the one model the declared pattern resolves to.

        Raises
        ------
        ScriptError
            When the script's model is not what the pattern resolves to.
        """
        price = self.script.price
        entry = {
            "id": self.script.model_id(model) if self.judge is None else model,
            "reasoning": True,
            "thinkingLevelMap": {level: level for level in LEVELS},
            "contextWindow": CONTEXT_WINDOW,
            "maxTokens": MAX_TOKENS,
            "cost": {"input": price.input, "output": price.output, "cacheRead": price.cached, "cacheWrite": 0},
        }
        served = {
            "baseUrl": f"http://127.0.0.1:{self.port}/v1",
            "api": "openai-completions",
            "apiKey": "none",
            "compat": {"sendSessionAffinityHeaders": True},
            "models": [entry],
        }
        return {"providers": {NAME: served}}

    def _serve(self) -> None:
        while not self._closing.is_set():
            self._server.handle_request()

    def _answer(self, request: _Request) -> _Answer:
        """Count a request, log it, and say what it gets."""
        number, launch, within = self._count(request.session)
        fault = self.play.fault(launch, within, self._job)
        sent, message, due = fault.answer if fault else None, "scripted failure", 0
        try:
            body = json.loads(request.body)
            due = answered(body)
        except ValueError as error:
            body, sent, message = {}, 400, f"not a chat request: {error}"
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        status = sent if isinstance(sent, int) else None if sent == "silence" else 200
        line = {"at": at, **self._line, "request": number, "status": status}
        append_line(self.log, {**line, "body": body} if self.script.record else line)
        return _Answer(sent, self.play.turn(due), due, str(body.get("model")), message)

    def _count(self, session: str) -> tuple[int, int, int]:
        """Number a request: over the job, its launch of the agent, and within that launch, all from 1."""
        with self._lock:
            self._requests += 1
            within = self._launches[session] = self._launches.get(session, 0) + 1
            return self._requests, list(self._launches).index(session) + 1, within


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.open: dict[threading.Thread, socket] = {}
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report everything but a client that went away."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def setup(self) -> None:
        """Let the provider hang up when it closes."""
        super().setup()
        self.server.open[threading.current_thread()] = self.connection

    def finish(self) -> None:
        """Forget the connection."""
        super().finish()
        del self.server.open[threading.current_thread()]

    def handle(self) -> None:
        """Answer the one request of a connection."""
        request = _read(self.rfile)
        if request is None:
            return
        if request.path != PATH:
            self._refuse(404, f"there is only {PATH}")
            return
        answer = self.server.provider._answer(request)
        if answer.fault == "silence":
            self.rfile.read()
        elif isinstance(answer.fault, int):
            self._refuse(answer.fault, answer.message)
        else:
            self._stream(answer)

    def _refuse(self, status: int, message: str) -> None:
        body = json.dumps({"error": {"message": message, "type": "rehearsal", "code": status}}).encode()
        self._head(status, "application/json", f"Content-Length: {len(body)}\r\n")
        self.wfile.write(body)

    def _head(self, status: int, kind: str, more: str = "") -> None:
        head = f"HTTP/1.1 {status} Scripted\r\nContent-Type: {kind}\r\n{more}Connection: close\r\n\r\n"
        self.wfile.write(head.encode())

    def _stream(self, answer: _Answer) -> None:
        closing = self.server.provider._closing
        closing.wait(answer.turn.pause / 1000)
        self._head(200, "text/event-stream")
        if answer.fault == "cut":
            self._event(
                chunk(answer.model, {"role": "assistant", "content": answer.turn.text[: len(answer.turn.text) // 2]})
            )
            return
        while answer.fault == "endless":
            self._event(chunk(answer.model, {"content": FILLER}))
            closing.wait(DRIP)
        for event in chunks(answer.turn, answer.number, answer.model):
            self._event(event)
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, data: Any) -> None:
        self.wfile.write(b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n")


def _read(stream: BufferedIOBase) -> _Request | None:
    """The request on a fresh connection; None when the client left before sending one whole."""
    words = stream.readline().split()
    headers = {}
    while line := stream.readline().strip():
        name, _, value = line.partition(b":")
        headers[name.lower()] = value.strip()
    length = int(headers.get(b"content-length", b"0"))
    body = stream.read(length)
    if len(words) != 3 or len(body) < length:
        return None
    return _Request(words[1].decode(errors="replace"), headers.get(SESSION, b"").decode(errors="replace"), body)

"""A scripted provider inside the job it serves: a port of its own on loopback, gone with the process."""

import json
import socketserver
import threading
import time
from collections.abc import Mapping
from http import HTTPStatus
from io import BufferedIOBase
from pathlib import Path
from socket import create_connection
from types import TracebackType
from typing import Any, NamedTuple

from trysquare.files import append_line, read_lines
from trysquare.rehearsal.script import Fault, Script, Turn
from trysquare.rehearsal.wire import answered, chunk, chunks

NAME = "rehearsal"
"""The provider's name, which a rehearsed agent is launched with."""

LEVELS = ("minimal", "low", "medium", "high", "xhigh", "max")
PATH = "/v1/chat/completions"
CONTEXT_WINDOW = 10_000_000
MAX_TOKENS = 100_000
DRIP = 0.01


class _Request(NamedTuple):
    path: str
    session: str
    body: bytes


class Provider:
    """An OpenAI-compatible streaming server that plays one run's script.

    Parameters
    ----------
    script, cell, repetition
        They decide what is played.
    log
        JSON lines, appended before each answer: `at`, `run`, `cell`, `repetition`, `request` (from 1, over this job),
        `status` (null for an answer that never comes), and `body` when the script says `record`. Headers never.
    run
        The run id written there.

    Used as a context manager; nothing is left behind when the process is killed.
    """

    def __init__(self, script: Script, cell: str, repetition: int, log: Path, run: str) -> None:
        self.script = script
        self.play = script.play(cell, repetition)
        self.log = Path(log)
        self._line = {"run": run, "cell": cell, "repetition": repetition}
        self._lock = threading.Lock()
        self._requests = 0
        self._sessions: dict[str, list[int]] = {}
        self._job = 1
        self._closing = False

    def __enter__(self) -> "Provider":
        if any(fault.heals_after for fault in self.play.faults):
            run = self._line["run"]
            self._job += sum(1 for line in read_lines(self.log) if line["run"] == run and line["request"] == 1)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.provider = self
        self._thread = threading.Thread(target=self._serve, name="rehearsal", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing = True
        create_connection(("127.0.0.1", self.port)).close()
        self._thread.join()
        self._server.server_close()

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
        price = self.script.model.price
        entry = {
            "id": self.script.model_id(model),
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
        while not self._closing:
            self._server.handle_request()

    def _count(self, session: str) -> tuple[int, int, int]:
        """This request's number over the job, its launch, and its number within the launch, all from 1."""
        with self._lock:
            self._requests += 1
            self._sessions.setdefault(session, []).append(self._requests)
            return self._requests, list(self._sessions).index(session) + 1, len(self._sessions[session])

    def _meet(self, request: _Request, stream: "_Stream") -> None:
        number, attempt, within = self._count(request.session)
        fault = self.play.fault(attempt, within, self._job)
        answer = fault.answer if fault else HTTPStatus.OK.value
        try:
            body = json.loads(request.body)
            due = answered(body)
        except ValueError as error:
            body, due, answer = request.body.decode(errors="replace"), 0, HTTPStatus.BAD_REQUEST.value
            reason = str(error)
        else:
            reason = "this failure is in the script"
        status = {"silence": None, "cut": 200, "endless": 200}.get(str(answer), answer)
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = {"at": at, **self._line, "request": number, "status": status}
        append_line(self.log, {**line, "body": body} if self.script.record else line)
        ...

"""The watch page: a read-only server on the loopback address.

Every address is one of a fixed few, and none is made into a path.
"""

import html
from collections.abc import Mapping
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

from trysquare.errors import TrysquareError
from trysquare.progress import clock
from trysquare.watching.looking import View, Watcher, watchers

ADDRESS = "127.0.0.1"
NAMES = ("127.0.0.1", "localhost")
"""The names this server answers to, so that no page of another site can reach it under its own."""

PATIENCE = 10
"""Seconds a client may take over its request."""

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Pages:
    """What is shown at each address: `/`, and for each matrix `/<key>` and `/<key>/now`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._watchers = {watcher.key: watcher for watcher in watchers(directory)}

    @cached_property
    def _templates(self) -> Any:
        from jinja2 import Environment, FunctionLoader, StrictUndefined

        folder = files("trysquare.watching") / "templates"
        made = Environment(
            loader=FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8")),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        made.filters |= {"clock": clock, "spaced": lambda number: f"{number:,}".replace(",", " ")}
        return made

    def at(self, address: str) -> str | None:
        """The page at an address; None when there is none."""
        parts = address.partition("?")[0].strip("/").split("/")
        if parts == [""]:
            return self._index()
        watcher = self._watchers.get(parts[0])
        if watcher is None or parts[1:] not in ([], ["now"]):
            return None
        view = watcher.look()
        if parts[1:] == ["now"]:
            return self._rendered("now.html.j2", view=view)
        shown = {"view": view, "alone": len(self._watchers) == 1}
        return self._finished(watcher, view) or self._rendered("watch.html.j2", **shown)

    def _index(self) -> str:
        for watcher in watchers(self._directory):
            self._watchers.setdefault(watcher.key, watcher)
        known = list(self._watchers.values())
        if len(known) == 1:
            return self.at(f"/{known[0].key}") or ""
        return self._rendered("index.html.j2", views=[watcher.look() for watcher in known])

    def _rendered(self, template: str, **shown: Any) -> str:
        return str(self._templates.get_template(template).render(shown))

    @staticmethod
    def _finished(watcher: Watcher, view: View) -> str | None:
        try:
            return watcher.page.read_text(encoding="utf-8") if view.complete else None
        except FileNotFoundError:
            return None


class Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD, to a caller that means this server."""

    server: "Server"
    timeout = PATIENCE
    server_version = "trysquare"
    sys_version = ""

    def do_GET(self) -> None:
        """One page."""
        status, text = self._answer()
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in self._headers(body).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET

    def _headers(self, body: bytes) -> Mapping[str, str]:
        return {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), **HEADERS}

    def _answer(self) -> tuple[HTTPStatus, str]:
        port = self.server.server_address[1]
        if self.headers.get_all("Host", []) not in [[f"{name}:{port}"] for name in NAMES]:
            return HTTPStatus.MISDIRECTED_REQUEST, "This is a page of this machine alone.\n"
        try:
            page = self.server.pages.at(self.path)
        except (TrysquareError, OSError) as error:
            return HTTPStatus.SERVICE_UNAVAILABLE, f"{html.escape(str(error))}\n"
        return (HTTPStatus.NOT_FOUND, "There is no such page.\n") if page is None else (HTTPStatus.OK, page)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a page that is asked for every two seconds is no news."""


class Server(ThreadingHTTPServer):
    """The server of one directory; `url` is where it answers."""

    daemon_threads = True

    def __init__(self, directory: Path, port: int = 0) -> None:
        self.pages = Pages(directory)
        try:
            super().__init__((ADDRESS, port), Handler)
        except OSError as error:
            raise TrysquareError(f"port {port} cannot be opened ({error.strerror}): give --port another one.") from None

    @property
    def url(self) -> str:
        """Where to point a browser."""
        return f"http://{ADDRESS}:{self.server_address[1]}/"

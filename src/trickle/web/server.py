"""The site on a socket: a thread for each request, from the standard library."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from ..errors import ConfigError
from ..metrics.exporter import Exporter
from .access import Access
from .live import Shared, messages, pulse
from .site import SAFE, Request, Response, Site

if TYPE_CHECKING:
    from ..scheduler.loop import Scheduler
    from ..session import Session

LARGEST = 64 * 1024
"""Bytes of a form."""


class Server:
    """Serves from a thread of its own, from `start` to `close`."""

    def __init__(self, db: Session, scheduler: Scheduler | None = None, metrics_only: bool = False) -> None:
        host, port, token = (db.settings[name] for name in ("web.host", "web.port", "web.token"))
        access = Access.of(host, token)
        workers = None if scheduler is None else lambda: (len(scheduler.workers.running), scheduler.workers.number)
        self._http = _bound(host, port, _handler(self))
        self.exporter = Exporter(db._streams, workers)
        self._unsubscribe = db.subscribe(self.exporter)
        self.site = Site(db, access, self.exporter, metrics_only)
        self.pulse = Shared(lambda: pulse(db._streams))
        self.closing = threading.Event()
        self._thread = threading.Thread(target=self._http.serve_forever, name="trickle web", daemon=True)

    @property
    def url(self) -> str:
        host, port = self._http.server_address[:2]
        shown = f"[{host!s}]" if ":" in str(host) else str(host)
        return f"http://{shown}:{port}/" + ("metrics" if self.site.metrics_only else "")

    def start(self) -> Server:
        self._thread.start()
        return self

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._unsubscribe()
        self.exporter.close()

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _bound(host: str, port: int, handler: type[BaseHTTPRequestHandler]) -> ThreadingHTTPServer:
    class Listener(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A browser that has gone is no news; anything else is logged, not printed over the events."""
            if not isinstance(sys.exception(), ConnectionError):
                logging.getLogger("trickle.web").exception("a request of %s failed", client_address)

    try:
        return Listener((host, port), handler)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host}:{port}", detail=str(error), hint="choose another web.port, or 0 for any."
        ) from None


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version, sys_version = "trickle", ""
        timeout = 60

        def do_GET(self) -> None:
            request = Request("GET", self.path, self._told())
            is_stream = self.command == "GET" and request.path == "/live"
            if is_stream and server.site.may_read(request) and not server.site.metrics_only:
                self._stream()
            else:
                self._send(server.site.answer(request))

        do_HEAD = do_GET

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "0")
            if not length.isdigit() or int(length) > LARGEST:
                self.close_connection = True
                self._send(Response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "text/plain", b"too large\n"))
                return
            form = dict(parse_qsl(self.rfile.read(int(length)).decode("utf-8", "replace")))
            self._send(server.site.answer(Request("POST", self.path, self._told(), form)))

        def _told(self) -> dict[str, str]:
            """The headers, spelled one way: clients may write them in any case."""
            return {name.title(): value for name, value in self.headers.items()}

        def _send(self, response: Response) -> None:
            self.send_response(response.status)
            told = {"Content-Type": response.type, "Content-Length": str(len(response.body))}
            for name, value in {**told, **SAFE, **response.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(response.body)

        def _stream(self) -> None:
            self.send_response(HTTPStatus.OK)
            for name, value in {"Content-Type": "text/event-stream", "Connection": "close", **SAFE}.items():
                self.send_header(name, value)
            self.end_headers()
            self.close_connection = True
            try:
                for message in messages(server.pulse, server.closing.wait):
                    self.wfile.write(message)
                    self.wfile.flush()
            except OSError:
                return  # the browser has gone

        def log_message(self, format: str, *args: object) -> None:
            logging.getLogger("trickle.web").debug(format, *args)

    return Handler

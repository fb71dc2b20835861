"""A web server that remembers what was posted to it: where webhooks are heard."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


@dataclass
class Received:
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def receiving(refused: int = 0) -> Iterator[Received]:
    """Listens on this machine inside the block; the first so many posts are heard, but answered with an error."""
    heard = Received()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(500 if len(heard.bodies) <= refused else 204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            return

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        heard.url = f"http://127.0.0.1:{server.server_port}/"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield heard
        finally:
            server.shutdown()
            thread.join()

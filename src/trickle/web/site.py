"""From a request to a response: values on both sides, no sockets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..errors import NotFound, TrickleError
from ..metrics.exporter import CONTENT_TYPE, Exporter
from ..ops import words
from . import actions, drawings, pages
from .access import Access
from .plans import Plans

if TYPE_CHECKING:
    from ..session import Session

HTML, JSON = "text/html; charset=utf-8", "application/json; charset=utf-8"
STATIC = {"style.css": "text/css", "live.js": "text/javascript", "icon.svg": "image/svg+xml"}
SAFE = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query))

    @property
    def is_program(self) -> bool:
        """It reads what programs read: it wants the answer, not a cookie and the way to it."""
        return self.path == "/metrics" or self.path.endswith(".json")

    @property
    def wants_json(self) -> bool:
        return self.path.endswith(".json") or "application/json" in self.headers.get("Accept", "")


@dataclass(frozen=True)
class Response:
    status: HTTPStatus
    type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Site:
    """Pages, twins, metrics and actions of one lake; with `metrics_only`, the metrics alone."""

    db: Session
    access: Access
    exporter: Exporter
    metrics_only: bool = False

    def __post_init__(self) -> None:
        self.plans = Plans(self.db)
        self.templates = Environment(
            loader=PackageLoader("trickle.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        self.templates.filters |= {
            "seconds": words.seconds,
            "ms": words.milliseconds,
            "count": words.count,
            "clock": words.clock,
            "ago": words.ago,
            "ticks": drawings.ticks,
            "path": lambda name: quote(name, safe=""),
        }
        self.templates.globals |= {
            "draw_graph": drawings.graph,
            "draw_durations": drawings.durations,
            "draw_rows": drawings.rows,
            "sparkline": drawings.sparkline,
        }

    def answer(self, request: Request) -> Response:
        try:
            return self._answer(request)
        except NotFound as error:
            return self._refused(request, HTTPStatus.NOT_FOUND, error)
        except TrickleError as error:
            status = HTTPStatus.CONFLICT if request.method == "POST" else HTTPStatus.SERVICE_UNAVAILABLE
            return self._refused(request, status, error)

    def _answer(self, request: Request) -> Response:
        if not self.may_read(request):
            return _text(HTTPStatus.UNAUTHORIZED, "show the token: ?token=…, or Authorization: Bearer …\n")
        if self.access.token and "token" in request.query and not request.is_program:
            return _moved(request.path, {"Set-Cookie": self.access.cookie})
        if request.path == "/metrics":
            return Response(HTTPStatus.OK, CONTENT_TYPE, self.exporter.text())
        if self.metrics_only:
            raise NotFound("there are only metrics here", hint="see /metrics.")
        if request.method == "POST":
            return self._act(request)
        if request.path.startswith("/static/"):
            return self._static(request.path.removeprefix("/static/"))
        return self._page(request)

    def may_read(self, request: Request) -> bool:
        return self.access.may_read(request.headers, request.query)

    def _page(self, request: Request) -> Response:
        template, facts = self._facts(request.path)
        if request.path.endswith(".json"):
            return _json(HTTPStatus.OK, facts)
        return self._render(HTTPStatus.OK, template, facts)

    def _facts(self, path: str) -> tuple[str, pages.Facts]:
        plain = "/" if path == "/index.json" else path.removesuffix(".json")
        if plain in pages.PAGES:
            template, read = pages.PAGES[plain]
            return template, read(self.db)
        if plain.startswith("/tables/"):
            return "table.html", pages.stream_table(self.db, self.plans, unquote(plain.removeprefix("/tables/")))
        raise NotFound(f'there is no page "{path}"', hint="begin at /.")

    def _act(self, request: Request) -> Response:
        if not self.access.may_act(request.headers, request.form):
            return _text(HTTPStatus.FORBIDDEN, "the form is from another time or place: load the page again\n")
        said, back = self._do(request)
        if request.wants_json:
            return _json(HTTPStatus.OK, {"said": said})
        return _moved(back)

    def _do(self, request: Request) -> tuple[str, str]:
        """What was done, and the page to go back to."""
        match request.path.strip("/").split("/"):
            case ["tables", name, action] if action in actions.ON_TABLE:
                table = pages.called(self.db._streams.all(), unquote(name))
                return actions.ON_TABLE[action](self.db, table, request.form), f"/tables/{name}"
            case [action] if action in actions.ON_LAKE:
                return actions.ON_LAKE[action](self.db, request.form), "/"
        raise NotFound(f'there is no action "{request.path}"', hint="see the buttons of the pages.")

    def _static(self, name: str) -> Response:
        if name not in STATIC:
            raise NotFound(f'there is no file "{name}"', hint="begin at /.")
        body = files("trickle.web").joinpath("static", name).read_bytes()
        return Response(HTTPStatus.OK, STATIC[name], body)

    def _render(self, status: HTTPStatus, template: str, facts: pages.Facts) -> Response:
        made = self.templates.get_template(template).render(**facts, action_token=self.access.action_token)
        return Response(status, HTML, made.encode())

    def _refused(self, request: Request, status: HTTPStatus, error: TrickleError) -> Response:
        said = {"code": error.code, "message": error.message, "detail": error.detail, "hint": error.hint}
        if request.wants_json or self.metrics_only:
            return _json(status, {"error": said})
        return self._render(status, "error.html", {"error": said})


def _json(status: HTTPStatus, facts: pages.Facts) -> Response:
    return Response(status, JSON, (json.dumps(facts, ensure_ascii=False, default=str) + "\n").encode())


def _text(status: HTTPStatus, text: str) -> Response:
    return Response(status, "text/plain; charset=utf-8", text.encode())


def _moved(path: str, headers: Mapping[str, str] | None = None) -> Response:
    # Never to another host, whatever the path looks like.
    return Response(HTTPStatus.SEE_OTHER, "text/plain", b"", {"Location": "/" + path.lstrip("/\\"), **(headers or {})})

"""The pages over real HTTP: what they say, their twins, who may read and who may act."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import unescape
from http.client import HTTPConnection
from urllib.parse import unquote, urlencode, urlsplit

import pytest

import trickle
from trickle.errors import ConfigError
from trickle.testing.past import Past
from trickle.web.live import Shared
from trickle.web.server import Server

PAGES = ("/", "/graph", "/health", "/tables/revenue")
TWINS = ("/index.json", "/graph.json", "/health.json", "/tables/revenue.json")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str


def ask(server: Server, path: str, form: dict[str, str] | None = None, **headers: str) -> Answer:
    """One request; header names are written with `_` for the dash."""
    address = urlsplit(server.url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=20)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    body = None if form is None else urlencode(form)
    connection.request("GET" if form is None else "POST", path, body, given)
    answer = connection.getresponse()
    found = Answer(answer.status, dict(answer.getheaders()), answer.read().decode())
    connection.close()
    return found


def action_token(server: Server) -> str:
    found = re.search(r'name="token" value="([^"]+)"', ask(server, "/").text)
    assert found
    return found[1]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_needs_nothing_from_elsewhere_and_allows_no_script_but_ours(server: Server, path: str) -> None:
    answer = ask(server, path)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert not re.search(r'(?:src|href)="(?!/)', answer.text), "everything it names is here"
    for asset in re.findall(r'(?:src|href)="(/static/[^"]+)"', answer.text):
        assert ask(server, asset).status == 200
    assert " style=" not in answer.text and "<script>" not in answer.text


@pytest.mark.parametrize(("path", "twin"), list(zip(PAGES, TWINS, strict=True)))
def test_a_twin_says_what_its_page_says(server: Server, path: str, twin: str) -> None:
    facts = json.loads(ask(server, twin).text)
    page = unescape(ask(server, path).text)
    assert f'href="{twin}"' in page
    named = [n["name"] for n in facts.get("stream_tables", []) + facts.get("nodes", [])]
    named += [p["message"] for p in facts.get("problems", [])] + [c["check"] for c in facts.get("checks", [])]
    named += [facts["query"]] if "query" in facts else []
    assert named and [name for name in named if name not in page] == []
    assert facts["health"]["fuses_blown"] == 1


def test_the_overview_says_what_is_wrong_and_what_to_do(server: Server) -> None:
    page = unescape(ask(server, "/").text)
    assert "Needs you" in page
    assert "then apply it, compute the table anew or skip it" in page
    assert "correct the rows that the message names" in page


def test_what_data_says_is_never_markup(server: Server) -> None:
    for path in ("/", "/tables/numbers", "/health"):
        text = ask(server, path).text
        assert "&lt;script&gt;alert" in text and "<script>alert" not in text


def test_a_stream_table_s_page_shows_definition_plan_charts_and_history(server: Server) -> None:
    page = unescape(ask(server, "/tables/revenue").text)
    assert page.count('class="bar ') == 80, "forty refreshes, twice"
    assert "Aggregate by" in page and "GROUP BY region" in page
    assert 'href="/tables/strong_regions"' in page


def test_the_graph_draws_every_table_and_every_reading(server: Server) -> None:
    facts = json.loads(ask(server, "/graph.json").text)
    states = {n["name"]: n["state"] for n in facts["nodes"]}
    assert states == {
        "orders": None,
        "customers": None,
        "revenue": "fresh",
        "strong_regions": "fresh",
        "best_customers": "held",
        "numbers": "failing",
    }
    page = ask(server, "/graph").text
    assert page.count('class="edge') == len(facts["edges"]) == 5
    assert page.count("<rect") == 6


def test_what_is_not_there_is_told_so_in_both_faces(server: Server) -> None:
    for path in ("/tables/nobody", "/nothing", "/static/../server.py"):
        assert ask(server, path).status == 404
    assert json.loads(ask(server, "/tables/nobody.json").text)["error"]["code"] == "not_found"


def test_metrics_are_served(server: Server) -> None:
    answer = ask(server, "/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    assert 'trickle_fuse_blown{name="best_customers"} 1.0' in answer.text


@pytest.mark.parametrize("name", ["my totals", "a.b", 'it\'s "odd"', "a/b"])
def test_a_table_of_any_name_has_a_page_and_buttons(past: Past, server: Server, name: str) -> None:
    past.stream(name, "SELECT id FROM orders", "orders")
    [path] = {
        a for a in re.findall(r'href="(/tables/[^"]+)"', ask(server, "/").text) if unquote(a) == f"/tables/{name}"
    }
    assert name in unescape(ask(server, path).text)
    assert json.loads(ask(server, f"{path}.json").text)["query"] == "SELECT id FROM orders"
    answer = ask(server, f"{path}/pause", {"token": action_token(server)})
    assert (answer.status, answer.headers["Location"]) == (303, path)
    assert [s.name for s in past.db.stream_table_status() if s.status == "SUSPENDED"] == [name]


def test_a_plan_is_explained_once_for_each_definition(
    server: Server, db: trickle.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    explained = []
    explain = type(db).explain_st

    def counted(self: trickle.Session, name: str, analyze: bool = False) -> object:
        explained.append(name)
        return explain(self, name, analyze)

    monkeypatch.setattr(type(db), "explain_st", counted)
    plans = [json.loads(ask(server, "/tables/revenue.json").text)["explanation"] for _ in range(3)]
    assert plans[0] == plans[1] == plans[2] and plans[0]["plan"] and plans[0]["source"]
    assert len(explained) == 1
    db.sql("ALTER TABLE customers DROP COLUMN region")
    assert "error" in json.loads(ask(server, "/tables/revenue.json").text)["explanation"], (
        "a source that changed is seen"
    )
    assert len(explained) == 2


# Acting.


def test_an_action_needs_the_token_of_the_form(server: Server, db: trickle.Session) -> None:
    for form in ({}, {"token": "guessed"}):
        assert ask(server, "/tables/revenue/pause", form).status == 403
    assert db.stream_table_status("revenue")[0].status == "ACTIVE"
    form = {"token": action_token(server)}
    answer = ask(server, "/tables/revenue/pause", form)
    assert (answer.status, answer.headers["Location"]) == (303, "/tables/revenue")
    assert db.stream_table_status("revenue")[0].status == "SUSPENDED"
    answer = ask(server, "/tables/revenue/resume", form, Accept="application/json")
    assert json.loads(answer.text) == {"said": "revenue goes on"}
    assert db.stream_table_status("revenue")[0].status == "ACTIVE"
    assert ask(server, "/pause", form).status == 303
    assert db.quick_health().paused
    assert ask(server, "/resume", form).status == 303


def test_a_blown_fuse_is_reset_and_one_that_is_not_says_so(server: Server, db: trickle.Session) -> None:
    form = {"token": action_token(server), "action": "apply"}
    path = "/tables/best_customers/reset-fuse"
    assert "reset" in ask(server, path, form, Accept="application/json").text
    assert db.fuse_status("best_customers")[0].state == "reset"
    again = ask(server, path, form, Accept="application/json")
    assert (again.status, json.loads(again.text)["error"]["code"]) == (409, "config_error")
    assert "is not blown" in ask(server, path, form).text
    assert ask(server, "/tables/revenue/drop", form).status == 404


# Who may read.


def test_another_name_for_this_machine_is_refused(server: Server) -> None:
    assert ask(server, "/", Host="evil.example.org").status == 401
    assert ask(server, "/", Host="localhost:1").status == 200


def test_beyond_this_machine_a_token_is_required(db: trickle.Session, tmp_path: object) -> None:
    everywhere = {"web.host": "0.0.0.0", "web.port": 0}
    with (
        trickle.connect(f"{tmp_path}/open", settings=everywhere) as other,
        pytest.raises(ConfigError, match="open to everybody"),
    ):
        Server(other)
    settings = {**everywhere, "web.token": "a long secret"}
    with trickle.connect(f"{tmp_path}/shop", settings=settings) as guarded, Server(guarded) as server:
        for path in (*PAGES, *TWINS, "/metrics", "/live", "/static/style.css"):
            assert ask(server, path).status == 401
        assert ask(server, "/?token=wrong").status == 401
        entered = ask(server, "/graph?token=a%20long%20secret")
        assert (entered.status, entered.headers["Location"]) == (303, "/graph")
        cookie = entered.headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert ask(server, "/", Cookie=cookie.partition(";")[0]).status == 200
        assert ask(server, "/metrics", authorization="Bearer a long secret").status == 200
        for path in (*TWINS[:3], "/metrics"):
            assert ask(server, f"{path}?token=a%20long%20secret").status == 200, "programs keep no cookies"
            assert ask(server, f"{path}?token=wrong").status == 401
        assert ask(server, "/pause", {}, Cookie=cookie.partition(";")[0]).status == 403
        assert ask(server, "/pause", {}, Authorization="Bearer a long secret").status == 303


def test_metrics_alone_serve_no_page(db: trickle.Session) -> None:
    with Server(db, metrics_only=True) as server:
        assert server.url.endswith("/metrics")
        assert [ask(server, path).status for path in ("/metrics", "/", "/live")] == [200, 404, 404]


def test_a_port_that_is_taken_is_named(db: trickle.Session, tmp_path: object) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            trickle.connect(f"{tmp_path}/other", settings={"web.port": port}) as other,
            pytest.raises(ConfigError, match=str(port)),
        ):
            Server(other)


# Live.


def test_a_change_is_told_to_those_who_listen(server: Server, db: trickle.Session) -> None:
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=20) as listener:
        listener.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        lines = listener.makefile("rb")
        first = next(line for line in lines if line.startswith(b"data: "))
        db.pause("revenue")
        second = next(line for line in lines if line.startswith(b"data: "))
        assert first != second


def test_however_many_listen_the_catalog_is_asked_once() -> None:
    asked = []
    shared = Shared(lambda: str(asked.append(1)))
    with ThreadPoolExecutor(8) as browsers:
        heard = list(browsers.map(lambda _: shared(), range(100)))
    assert set(heard) == {"None"} and len(asked) == 1

"""Events reach everybody who wants them: as lines, as calls, over HTTP."""

from __future__ import annotations

import inspect
import io
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from trickle import events
from trickle.events import Event, Events, FuseBlown, RefreshFailed, Suspended, Webhook, log_to


def test_every_event_is_drawn_in_the_tree_and_has_a_kind_of_its_own() -> None:
    kinds = [k for _, k in inspect.getmembers(events, inspect.isclass) if issubclass(k, Event) and k is not Event]
    assert len({k.__name__ for k in kinds}) == len(kinds) >= 12
    assert all(k.__name__ in (events.__doc__ or "") for k in kinds)
    assert FuseBlown("per").kind == "fuse_blown"


def test_a_log_is_text_for_people_or_json_for_programs() -> None:
    for as_json in (False, True):
        out = io.StringIO()
        log_to(out, as_json)(RefreshFailed("per", "query_error", "no", 2, None))
        [line] = out.getvalue().splitlines()
        if as_json:
            assert (json.loads(line)["kind"], json.loads(line)["errors_in_row"]) == ("refresh_failed", 2)
        else:
            assert "refresh_failed per: code=query_error, message=no, errors_in_row=2" in line


def test_a_subscriber_that_fails_does_not_deafen_the_others() -> None:
    told: list[Event] = []
    bus = Events()
    bus.subscribe(lambda event: 1 / 0 and None)
    end = bus.subscribe(told.append)
    bus.tell(FuseBlown("per"))
    end()
    bus.tell(FuseBlown("other"))
    assert [event.name for event in told] == ["per"]


def test_a_webhook_posts_each_event_and_survives_one_that_is_refused() -> None:
    bodies: list[dict[str, str]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(500 if len(bodies) == 1 else 204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            return

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        hook = Webhook(f"http://127.0.0.1:{server.server_port}/")
        hook(FuseBlown("per"))
        hook(Suspended("per", "three errors"))
        hook.close()
        server.shutdown()
        thread.join()
    assert [body["kind"] for body in bodies] == ["fuse_blown", "suspended"]

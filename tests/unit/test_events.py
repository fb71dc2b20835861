"""Events reach everybody who wants them: as lines, as calls, over HTTP."""

from __future__ import annotations

import inspect
import io
import json
import socket
import threading
import time

import pytest

from trickle import events
from trickle.errors import ConfigError
from trickle.events import Courier, Event, Events, FuseBlown, RefreshFailed, Suspended, Webhook, log_to
from trickle.testing.receiver import receiving


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
    with receiving(refused=1) as heard:
        hook = Webhook(heard.url)
        hook(FuseBlown("per"))
        hook(Suspended("per", "three errors"))
        hook.close()
    assert [body["kind"] for body in heard.bodies] == ["fuse_blown", "suspended"]


def test_a_webhook_outlives_a_receiver_that_does_not_speak_http() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        answers = threading.Thread(target=_babble, args=(server, 2))
        answers.start()
        hook = Webhook(f"http://127.0.0.1:{server.getsockname()[1]}/")
        hook(FuseBlown("per"))
        hook(FuseBlown("per"))
        answers.join(20)
        assert not answers.is_alive(), "the second was posted too"
        hook.close()


def _babble(server: socket.socket, times: int) -> None:
    for _ in range(times):
        with server.accept()[0] as connection:
            connection.recv(10_000)
            connection.sendall(b"not HTTP at all\r\n\r\n")


def test_a_receiver_that_hangs_keeps_nobody_waiting() -> None:
    came, go, taken = threading.Event(), threading.Event(), []

    class Hanging(Courier):
        def deliver(self, event: Event) -> None:
            came.set()
            go.wait(20)
            taken.append(event.name)

    slow = Hanging("slow one", most=2)
    began = time.monotonic()
    slow(FuseBlown("first"))
    assert came.wait(20)
    for name in ("second", "third", "one too many"):
        slow(FuseBlown(name))
    assert time.monotonic() - began < 10
    go.set()
    slow.close()
    assert taken == ["first", "second", "third"]


@pytest.mark.parametrize("url", ["receiver", "ftp://host/", "file:///etc/passwd"])
def test_a_webhook_is_posted_to_a_url_of_the_web_alone(url: str) -> None:
    with pytest.raises(ConfigError, match="not a URL"):
        Webhook(url)

"""NOTIFY takes short payloads: a long event is cut, and stays JSON."""

from __future__ import annotations

import json
import threading
import time
from types import SimpleNamespace

import pytest

from trickle.events import RefreshFailed
from trickle.scheduler.notify import LONGEST, Notify, payload


@pytest.mark.parametrize("letter", ["x", "é", "\N{SNOWMAN}", "\N{BEER MUG}", '"', "\x00"])
def test_an_event_too_long_for_notify_is_cut_and_can_be_read(letter: str) -> None:
    said = payload(RefreshFailed(letter * 9000, letter * 9000, letter * 9000, 3, None))
    assert len(said.encode()) <= LONGEST
    assert json.loads(said)["message"] == letter * 150
    whole = RefreshFailed("per", "query_error", "no", 3, None)
    assert json.loads(payload(whole))["message"] == "no"


def test_a_server_that_hangs_does_not_stop_the_scheduler() -> None:
    """It is told in a thread of its own, as a webhook is."""
    asked, go = threading.Event(), threading.Event()

    def begin() -> None:
        asked.set()
        go.wait(20)

    stuck = SimpleNamespace(engine=SimpleNamespace(begin=begin))
    notify = Notify(stuck, "trickle")  # type: ignore[arg-type]
    began = time.monotonic()
    notify(RefreshFailed("per", "query_error", "no", 3, None))
    assert asked.wait(20) and time.monotonic() - began < 10
    go.set()
    notify.close()

"""NOTIFY takes short payloads: a long event is cut, and stays JSON."""

from __future__ import annotations

import json

import pytest

from trickle.events import RefreshFailed
from trickle.scheduler.notify import LONGEST, payload


@pytest.mark.parametrize("letter", ["x", "é", "\N{SNOWMAN}", "\N{BEER MUG}", '"', "\x00"])
def test_an_event_too_long_for_notify_is_cut_and_can_be_read(letter: str) -> None:
    said = payload(RefreshFailed(letter * 9000, letter * 9000, letter * 9000, 3, None))
    assert len(said.encode()) <= LONGEST
    assert json.loads(said)["message"] == letter * 150
    whole = RefreshFailed("per", "query_error", "no", 3, None)
    assert json.loads(payload(whole))["message"] == "no"

"""The screen acts on the table that the cursor stands on, whatever comes and goes meanwhile, and outlives errors."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot

import trickle
from trickle.errors import LakeError
from trickle.ops import control
from trickle.refresh.result import RefreshResult
from trickle.testing.past import Past
from trickle.tui.app import FuseScreen, Watch

QUERY = "SELECT customer FROM orders"
Play = Callable[[Pilot[None], Watch], Awaitable[None]]


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Past]:
    with trickle.connect(tmp_path / "shop") as db:
        db.sql("CREATE TABLE orders (id INT, customer INT)")
        made = Past(db)
        made.stream("b", QUERY, "orders")
        made.stream("my totals", QUERY, "orders", options={"fuse": "on"})
        yield made


def drive(past: Past, play: Play, connect: Callable[[], Any] = lambda: None) -> None:
    app = Watch(past.db._streams, connect, every=60)

    async def run() -> None:
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: app.board.head > 0)
            await play(pilot, app)

    asyncio.run(run())


async def until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end, "it did not come true"
        await pilot.pause(0.02)


def said(app: Watch) -> str:
    return str(app.said.content)


def states(past: Past) -> dict[str, str]:
    return {s.name: s.status for s in past.db.stream_table_status()}


def test_the_cursor_stays_with_its_table_when_the_one_above_goes(past: Past) -> None:
    past.stream("c", QUERY, "orders")

    async def play(pilot: Pilot[None], app: Watch) -> None:
        await pilot.press("down")
        streams = past.db._streams
        with streams.catalog.writing() as connection:
            streams.registry.remove(connection, streams.all()[0].id)
        app.look()
        await until(pilot, lambda: len(app.board.names()) == 2)
        await pilot.press("p")
        await until(pilot, lambda: "my totals: paused" in said(app))

    drive(past, play)
    assert states(past) == {"my totals": "SUSPENDED", "c": "ACTIVE"}


def test_a_fuse_is_reset_of_the_table_that_was_asked_about(past: Past) -> None:
    [b, mine] = past.db._streams.all()
    past.blow(mine)
    past.blow(b)

    async def play(pilot: Pilot[None], app: Watch) -> None:
        await pilot.press("down", "f")
        await until(pilot, lambda: isinstance(app.screen, FuseScreen))
        app.tables.move_cursor(row=0)
        await pilot.press("enter")
        await until(pilot, lambda: "fuse reset: apply" in said(app))

    drive(past, play)
    assert {f.name: f.state for f in past.db.fuse_status()} == {"b": "blown", "my totals": "reset"}


def test_what_the_catalog_refuses_is_said(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise LakeError("the catalog is locked", hint="wait.")

    for name in ("pause", "resume", "hold", "release"):
        monkeypatch.setattr(control, name, refuse)

    async def play(pilot: Pilot[None], app: Watch) -> None:
        for key in "PUpu":
            app.say("")
            await pilot.press(key)
            await until(pilot, lambda: "the catalog is locked" in said(app))

    drive(past, play)


def test_an_error_that_nobody_foresaw_ends_the_refresh_and_not_the_screen(past: Past) -> None:
    def connect() -> Any:
        raise OSError("no room on the device")

    async def play(pilot: Pilot[None], app: Watch) -> None:
        await pilot.press("r")
        await until(pilot, lambda: "no room on the device" in said(app))
        assert app.is_running

    drive(past, play, connect)


def test_impatient_keys_open_one_session_and_one_refresh_a_table(past: Past) -> None:
    opened, asked, go = [], [], threading.Event()

    def refresh(name: str) -> RefreshResult:
        asked.append(name)
        return RefreshResult(name, "NO_DATA", "", 0, 0, 1.0, 1, 1)

    def connect() -> Any:
        opened.append(go.wait(30))
        return SimpleNamespace(refresh_stream_table=refresh, close=lambda: None)

    async def play(pilot: Pilot[None], app: Watch) -> None:
        await pilot.press("r", "r", "down", "r", "r")
        assert "my totals: is being refreshed already" in said(app)
        go.set()
        await until(pilot, lambda: len(asked) == 2 and not app._refreshing)

    drive(past, play, connect)
    assert len(opened) == 1 and sorted(asked) == ["`b`", "`my totals`"]

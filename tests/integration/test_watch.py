"""The screen of `trickle watch`, driven by textual's pilot over a real lake."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from textual.pilot import Pilot
from textual.widgets import DataTable, Static, TabbedContent

import trickle
from trickle.config import Settings
from trickle.lake.location import catalog_at
from trickle.ops.ledger import Ledger
from trickle.tui.app import PAGES, FuseScreen, Watch

pytestmark = pytest.mark.spark
TOTALS = "SELECT customer, sum(amount) AS total FROM orders GROUP BY customer"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    """A lake with a stream table that has a fuse, and one that reads it."""
    path = tmp_path_factory.mktemp("watched")
    with trickle.connect(path, spark=spark) as db:
        db.sql("CREATE TABLE orders (customer INT, amount INT)")
        db.sql("INSERT INTO orders VALUES (1, 5), (2, 7)")
        db.create_stream_table("totals", TOTALS, refresh_mode="DIFFERENTIAL", fuse="on", fuse_ceiling=10)
        db.create_stream_table("large", "SELECT customer FROM totals WHERE total > 5")
    return path


@pytest.fixture
def db(place: Path, spark: SparkSession) -> Iterator[trickle.Session]:
    with trickle.connect(place, spark=spark) as session:
        yield session


def drive(place: Path, spark: SparkSession, play: Callable[[Pilot[None], Watch], Awaitable[None]]) -> None:
    ledger = Ledger.at(catalog_at(place, Settings.of()))
    app = Watch(ledger, lambda: trickle.connect(place, spark=spark), every=0.1)

    async def run() -> None:
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: app.board.head > 0)
            await play(pilot, app)

    asyncio.run(run())
    ledger.catalog.close()


async def until(pilot: Pilot[None], true: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come true"
        await pilot.pause(0.05)


def shoot(app: Watch, name: str) -> None:
    """A picture of the screen, where TRICKLE_SCREENSHOTS says; it fetches no font from elsewhere."""
    if folder := os.environ.get("TRICKLE_SCREENSHOTS"):
        drawn = re.sub(r"@font-face \{.*?\}", "", app.export_screenshot(title="trickle watch"), flags=re.DOTALL)
        (Path(folder) / f"{name}.svg").write_text(drawn, encoding="utf-8")


def shown(app: Watch, part: str) -> str:
    found = getattr(app, part)
    if isinstance(found, DataTable):
        return "\n".join(" ".join(map(str, found.get_row_at(n))) for n in range(found.row_count))
    assert isinstance(found, Static)
    return str(found.content)


def test_every_page_shows_what_it_is_for(place: Path, spark: SparkSession) -> None:
    async def play(pilot: Pilot[None], app: Watch) -> None:
        assert "totals ACTIVE" in shown(app, "tables") and "2 stream tables" in app.sub_title
        for n, page in enumerate(PAGES, 1):
            await pilot.press(str(n))
            assert app.query_one(TabbedContent).active == page
        await pilot.press("1", "down", "enter")
        await until(pilot, lambda: "reads trickle.totals" in shown(app, "detail"))
        assert app.query_one(TabbedContent).active == "table" and "WHERE total > 5" in shown(app, "detail")
        assert "└── orders (table)" in shown(app, "picture")
        assert "FULL initial_load" in shown(app, "refreshes")
        assert "scheduler\nnone is running\nremedy: `trickle run`" in shown(app, "ill")

    drive(place, spark, play)


def test_a_table_is_paused_and_resumed(place: Path, spark: SparkSession) -> None:
    async def play(pilot: Pilot[None], app: Watch) -> None:
        await pilot.press("p")
        await until(pilot, lambda: "totals SUSPENDED" in shown(app, "tables"))
        assert "resume the stream table" in shown(app, "ill")
        await pilot.press("u")
        await until(pilot, lambda: "totals ACTIVE" in shown(app, "tables") and not app.board.ill)
        await pilot.press("P")
        await until(pilot, lambda: "PAUSED" in app.sub_title)
        await pilot.press("U")
        await until(pilot, lambda: "PAUSED" not in app.sub_title)

    drive(place, spark, play)


def test_a_refresh_blows_the_fuse_and_its_reset_lets_it_through(
    place: Path, spark: SparkSession, db: trickle.Session
) -> None:
    db.sql("INSERT INTO orders SELECT 3, id FROM range(50)")

    async def play(pilot: Pilot[None], app: Watch) -> None:
        await pilot.press("f")
        assert "not blown" in shown(app, "said")
        await pilot.press("r")
        await until(pilot, lambda: "totals FUSE BLOWN" in shown(app, "tables"))
        assert "reset_fuse" in shown(app, "ill")
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, FuseScreen))
        await pilot.pause(0.3)
        shoot(app, "watch-fuse")
        await pilot.press("enter")
        await until(pilot, lambda: any(f.state == "reset" for f in app.board.fuses))
        await pilot.press("r")
        await until(pilot, lambda: "totals: DIFFERENTIAL" in shown(app, "said"))
        await until(pilot, lambda: "fresh" in shown(app, "tables"))

    drive(place, spark, play)
    assert db.sql("SELECT total FROM totals WHERE customer = 3").toArrow().to_pylist() == [{"total": 1225}]


def test_a_broken_source_is_seen_with_its_remedy(place: Path, spark: SparkSession, db: trickle.Session) -> None:
    db.sql("CREATE TABLE texts (t STRING)")
    db.create_stream_table("numbers", "SELECT CAST(t AS INT) AS n FROM texts")
    db.sql("INSERT INTO texts VALUES ('seven')")

    async def play(pilot: Pilot[None], app: Watch) -> None:
        await until(pilot, lambda: "numbers" in [name.label for name in app.board.names()])
        await pilot.press("down", "down", "r")
        await until(pilot, lambda: "numbers" in shown(app, "ill"))
        assert "query_error" in shown(app, "ill") and "try_cast" in shown(app, "ill")
        assert "'seven'" in shown(app, "ill"), "the value is named"
        await pilot.pause(0.3)
        shoot(app, "watch-overview")
        await pilot.press("5")
        await pilot.pause(0.3)
        shoot(app, "watch-health")

    drive(place, spark, play)

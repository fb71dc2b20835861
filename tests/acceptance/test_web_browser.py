"""The pages in a real browser: a stream table created, refreshed, broken, mended, stopped by its fuse and let go."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.testing.lakes import LakeSite
from trickle.testing.past import shop
from trickle.web.server import Server

pytestmark = pytest.mark.spark

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 180_000
"""Milliseconds."""


@pytest.fixture
def page() -> Iterator[Any]:
    """A page of Chromium; what it complains about is an error."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    driver = pytest.importorskip("playwright.sync_api", reason="no playwright (extra browser)")
    with driver.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE)
        made = browser.new_page(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
        made.set_default_timeout(PATIENCE)
        complaints: list[str] = []
        made.on("pageerror", lambda error: complaints.append(str(error)))
        made.on("console", lambda said: complaints.append(said.text) if "Content Security" in said.text else None)
        yield made
        assert complaints == []
        browser.close()


@pytest.fixture
def db(lake_sqlite: LakeSite, quick: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[trickle.Session]:
    home = Path(lake_sqlite.target)
    monkeypatch.chdir(home.parent)
    with trickle.connect(home.name, spark=quick, settings={"web.port": 0}) as session:
        yield session


def shot(page: Any, name: str, height: int) -> None:
    """A picture of the page without what it told in passing, where TRICKLE_SCREENSHOTS says; none otherwise."""
    folder = os.environ.get("TRICKLE_SCREENSHOTS")
    if folder:
        page.evaluate("document.getElementById('toasts').replaceChildren()")
        page.screenshot(path=str(Path(folder) / f"{name}.png"), clip={"x": 0, "y": 0, "width": 1280, "height": height})


def test_a_stream_table_s_life_can_be_followed_in_the_browser(page: Any, db: trickle.Session) -> None:
    with Server(db) as server:
        page.goto(server.url)
        page.get_by_text("No stream tables yet").wait_for()

        # Created: it appears by itself.
        db.sql("CREATE TABLE orders (id INT, amount STRING)")
        db.append("orders", [{"id": n, "amount": str(n)} for n in range(40)])
        query = "SELECT id % 4 AS quarter, sum(CAST(amount AS INT)) AS amount FROM orders GROUP BY id % 4"
        db.create_stream_table("totals", query, refresh_mode="DIFFERENTIAL", fuse="on", fuse_ceiling=3)
        row = page.locator("#stream-tables tr[data-name=totals]")
        row.locator(".pill.fresh").wait_for()

        # Refreshed, by a button.
        db.append("orders", [{"id": 40, "amount": "2"}])
        row.locator(".pill.behind").wait_for()
        row.get_by_role("button", name="Refresh").click()
        page.get_by_text("totals: DIFFERENTIAL, +1 −1 rows").wait_for()
        row.locator(".pill.fresh").wait_for()
        shot(page, "web-overview", 512)

        # A source breaks: the error, and what to do.
        db.append("orders", [{"id": 41, "amount": "two"}])
        page.goto(f"{server.url}tables/totals")
        page.locator("h1 .pill.behind").wait_for()
        page.get_by_role("button", name="Refresh", exact=True).click()
        page.locator("h1 .pill.failing").wait_for()
        assert "query_error" in page.locator(".problem h3").inner_text()
        assert "correct the rows that the message names" in page.locator(".problem .remedy").inner_text()
        assert page.locator("rect.bar.error").count() == 1
        shot(page, "web-error", 568)

        # Mended: the same button.
        db.sql("UPDATE orders SET amount = '2' WHERE id = 41")
        page.get_by_role("button", name="Refresh", exact=True).click()
        page.locator("h1 .pill.fresh").wait_for()

        # Too large a change: the fuse, and its reset.
        db.append("orders", [{"id": n, "amount": "1"} for n in range(100, 110)])
        page.get_by_role("button", name="Refresh", exact=True).click()
        page.locator("h1 .pill.held").wait_for()
        shot(page, "web-fuse", 606)
        page.get_by_role("button", name="Reset fuse: apply the change").click()
        page.get_by_text("the fuse of totals is reset").wait_for()
        page.get_by_role("button", name="Refresh", exact=True).click()
        page.locator("h1 .pill.fresh").wait_for()
        shot(page, "web-table", 720)

        # Paused and resumed; the theme stays.
        page.get_by_role("button", name="Pause").click()
        page.locator("h1 .pill.suspended").wait_for()
        page.get_by_role("button", name="Resume").first.click()
        page.locator("h1 .pill.fresh").wait_for()
        before = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.locator("#theme").click()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before

        # The graph leads back.
        page.goto(f"{server.url}graph")
        page.locator("svg.graph a").click()
        page.wait_for_url("**/tables/totals")
    rows = sorted(tuple(r) for r in db.table("totals").collect())
    assert rows == sorted(tuple(r) for r in db.sql(query).collect())


def test_the_graph_shows_freshness_by_colour(page: Any, tmp_path: Path) -> None:
    with trickle.connect(tmp_path / "shop", settings={"web.port": 0}) as db:
        shop(db)
        with Server(db) as server:
            page.goto(f"{server.url}graph")
            for name, state in (("revenue", "fresh"), ("best_customers", "held"), ("numbers", "failing")):
                assert state in page.locator("svg.graph a").filter(has_text=name).text_content()
            colours = page.locator("svg.graph a rect").evaluate_all("all => all.map(r => getComputedStyle(r).stroke)")
            assert len(set(colours)) == 3, "held, failing, and two that are fresh"
            shot(page, "web-graph", 400)

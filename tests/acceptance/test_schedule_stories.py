"""A scheduler at work, told by command and by SQL: clocks, limits, holds, advice, events. No Spark is started."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from trickle.events import FallingBehind
from trickle.refresh.result import RefreshResult
from trickle.registry.models import Dependency, Refresh, StreamTable
from trickle.scheduler.loop import Scheduler
from trickle.scheduler.workers import Workers
from trickle.schedules import Cron
from trickle.testing.commands import Command
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.pretence import ORDERS, Pretence, moved, wait

pytestmark = pytest.mark.timeout(120)
CUSTOMERS = Dependency("main.customers", 2, ("id",), "")
SETTINGS = {"scheduler__lease_seconds": 1.0, "scheduler__watermark_stuck_seconds": 0.1}


@pytest.fixture
def shop(lake_sqlite: LakeSite) -> Iterator[Pretence]:
    with Pretence.at(lake_sqlite, **SETTINGS) as shop:
        shop.db.sql("CREATE TABLE customers (id INT)")
        yield shop


def test_a_cron_time_comes_and_the_table_is_refreshed_then_and_not_before(shop: Pretence) -> None:
    """The scheduler's clock runs ahead, so that the next minute is near."""
    per = shop.stream("per", schedule="* * * * * Europe/Berlin")
    shop.change()
    due = Cron("* * * * *").due(per.created_at or datetime.now(UTC))
    assert due is not None
    ahead = due - timedelta(seconds=1) - datetime.now(UTC)
    scheduler = Scheduler(shop.db._streams, shop.db.events, lambda: datetime.now(UTC) + ahead)
    with shop.running(scheduler):
        wait(lambda: "refresh_finished" in shop.kinds("per"))
    [began] = [event.at + ahead for event in shop.told if event.kind == "refresh_started"]
    assert due <= began < due + timedelta(seconds=30)
    assert shop.frontier(per) == shop.db.head()


def test_a_table_that_runs_alone_is_not_begun_beside_others_nor_they_beside_it(
    shop: Pretence, command: Command
) -> None:
    shop.stream("alone", schedule="on_change", worker_limit=1)
    for name in ("one", "other"):
        shop.stream(name, schedule="on_change")
    shop.change()
    told = beside(command("run", "--until-idle", "--log", "json"))
    assert [names for names in told if "alone" in names] == [{"alone"}]
    assert {"one", "other"} in told, "those that may, run at the same time"


def beside(told: list[dict[str, Any]]) -> list[set[str]]:
    """Who was at work together, each time that one more was."""
    running: set[str] = set()
    found = []
    for event in told:
        if event["kind"] == "refresh_started":
            running.add(event["name"])
            found.append(set(running))
        elif event["kind"] == "refresh_finished":
            running.remove(event["name"])
    return found


def test_who_falls_behind_is_slowed_down_and_it_is_told(shop: Pretence) -> None:
    busy = shop.stream("busy", schedule="1ms")
    with shop.taking(0.002), shop.running():
        for _ in range(4):
            shop.change()
            wait(lambda: shop.frontier(busy) == shop.db.head())
    slowed = [event for event in shop.told if isinstance(event, FallingBehind)]
    assert [event.factor for event in slowed][:3] == [2, 4, 8], "twice as long with each, eightfold at most"
    assert all(event.duration_seconds > event.interval_seconds == 0.001 for event in slowed)


def test_gates_and_watermarks_hold_and_it_is_told_until_they_let_go(shop: Pretence, command: Command) -> None:
    shop.stream("regions", ORDERS, CUSTOMERS, schedule="on_change")
    command("watermark", "group", "day", "orders", "customers", "--tolerance", "1m")
    assert [g["sources"] for g in command("watermark", "groups")] == [["orders", "customers"]]
    shop.db.sql("CALL trickle.advance_watermark('orders', '2024-05-01 12:00')")
    shop.change()
    command("run", "--until-idle", "--log", "none")
    assert command.said == "held: regions (watermark)\n"
    with shop.running():
        wait(lambda: "watermark_stuck" in shop.kinds("regions"))
        command("watermark", "advance", "customers", "2024-05-01T12:00")
        wait(lambda: "refresh_finished" in shop.kinds("regions"))
        command("gate", "close", "customers")
        wait(lambda: shop.kinds("customers") == ["gated"])
        shop.change()
        wait(lambda: shop.kinds("regions").count("held") == 2)
        shop.db.sql("CALL trickle.ungate_source('customers')")
        wait(lambda: shop.kinds("regions").count("refresh_finished") == 2)
    assert shop.kinds("customers") == ["gated", "ungated"]
    assert shop.kinds("regions").count("watermark_stuck") == 1
    assert [line["reason"] for line in command("history", "regions") if line["action"] == "SKIP"] == [
        *("gated", "watermark", "watermark"),
    ]


def test_a_change_too_large_to_be_differential_is_told_as_a_fallback(
    shop: Pretence, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def whole(workers: Workers, tables: Sequence[StreamTable], target: int) -> Sequence[RefreshResult]:
        return [replace(r, action="FULL", reason="change_ratio") for r in moved(workers, tables, target)]

    monkeypatch.setattr(Workers, "_refresh", whole)
    shop.stream("per", schedule="on_change")
    shop.change()
    said = command("run", "--until-idle", "--log", "json")
    told = [(e["name"], e["action"], e["reason"]) for e in said if e["kind"] == "mode_fallback"]
    assert told == [("per", "FULL", "change_ratio")]


def test_a_long_history_is_advice_and_is_forgotten_in_the_end(shop: Pretence, command: Command) -> None:
    per = shop.stream("per", schedule="1h")
    assert [r["recommended"] for r in (*command("recommend", "per"), *command("recommend", "--mode"))] == [None, None]
    record(shop, per, "NO_DATA", 600, 1)
    record(shop, per, "FULL", 3, 900)
    record(shop, per, "DIFFERENTIAL", 9, 150)
    record(shop, per, "NO_DATA", 600, 1)
    for words, call, found in (
        (("per",), "recommend_schedule('per')", "10s"),
        (("--mode",), "recommend_refresh_mode()", "DIFFERENTIAL"),
    ):
        [told] = command("recommend", *words)
        assert told == shop.db.sql(f"CALL trickle.{call}")[0].asdict()
        assert (told["recommended"], told["samples"], told["confidence"]) == (found, 12, pytest.approx(12 / 22))
    assert len(command("history", "per", "--limit", "2000")) == 1212
    command("run", "--until-idle", "--log", "none")
    assert [line["action"] for line in command("history", "per")] == ["NO_DATA", "DIFFERENTIAL", "FULL"]


def record(shop: Pretence, table: StreamTable, action: str, number: int, ms: float) -> None:
    """So many refreshes, one every five seconds, a month and more ago."""
    with shop.db.lake.catalog.writing() as connection:
        for n in range(number):
            at = datetime.now(UTC) - timedelta(days=60, seconds=-5 * n)
            facts = (table.id, table.label, at, at, action, "", 1, 0, 1, ms, 1, 1, "user")
            shop.db._streams.registry.record(connection, Refresh(*facts))

"""The scheduler in this process: order, holds, errors, leases, events; and its commands."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pyspark.sql import SparkSession

from trickle.cli.main import app
from trickle.events import Event
from trickle.registry.scheduling import Scheduling
from trickle.scheduler.loop import Scheduler
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

PER = "SELECT cust, count(*) AS n, sum(amount) AS amount FROM orders GROUP BY cust"
LARGE = "SELECT id, cust, amount FROM orders WHERE amount > 8"
BOTH = "SELECT l.id, p.n, p.amount FROM large l JOIN per p ON p.cust = l.cust"
QUICK = {"scheduler__retry_seconds": 0.05, "scheduler__retry_cap_seconds": 0.2, "scheduler__lease_seconds": 2.0}


class Kept(Stage):
    """A lake with a scheduler at work beside it."""

    @contextmanager
    def running(self) -> Iterator[list[Event]]:
        told: list[Event] = []
        end = self.db.subscribe(told.append)
        scheduler = self.db.scheduler()
        thread = threading.Thread(target=self.db.run_scheduler, args=(scheduler,))
        thread.start()
        try:
            yield told
        finally:
            scheduler.stop()
            thread.join()
            end()

    def wait(self, condition: Callable[[], Any], seconds: float = 240) -> Any:
        until = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < until, "waited in vain"
            time.sleep(0.02)
        return found

    def fresh(self, *names: str) -> bool:
        found = {s.name: s for s in self.db.stream_table_status()}
        return all(found[n].lag_seconds == 0 for n in names or found)


@pytest.fixture
def shop(lake: LakeSite, quick: SparkSession) -> Iterator[Kept]:
    with lake.connect(quick, **QUICK) as db:
        stage = Kept(db)
        stage.change(
            "CREATE TABLE orders (id INT, cust INT, amount INT)",
            "CREATE TABLE customers (id INT, region STRING)",
            "INSERT INTO orders VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5), (3, 2, 5)",
            "INSERT INTO customers VALUES (1, 'north'), (2, 'south')",
        )
        yield stage


def kinds(told: list[Event], name: str) -> list[str]:
    return [event.kind for event in told if event.name == name]


def test_commits_wake_it_diamonds_are_one_commit_and_holds_are_recorded(shop: Kept) -> None:
    for name, query in (("per", PER), ("large", LARGE), ("both", BOTH)):
        shop.stream(name, query, schedule="on_change")
    with shop.running() as told:
        shop.change("INSERT INTO orders VALUES (4, 2, 9)")
        shop.wait(shop.fresh)
        lines = shop.db.refresh_history(limit=3)
        assert {(line.name, line.initiated_by) for line in lines} == {
            (n, "scheduler") for n in ("per", "large", "both")
        }
        assert len({line.snapshot for line in lines}) == 1
        for name, query in (("per", PER), ("large", LARGE), ("both", BOTH)):
            shop.agrees(name, query)
        assert kinds(told, "both")[:2] == ["refresh_started", "refresh_finished"]
        shop.db.gate_source("orders")
        shop.change("INSERT INTO orders VALUES (5, 2, 9)")
        shop.wait(lambda: "held" in kinds(told, "per"))
        shop.wait(lambda: [h.reason for h in shop.db.refresh_history("per", 1)] == ["gated"])
        assert shop.db.refresh_history("per", 1)[0].action == "SKIP"
        shop.db.ungate_source("orders")
        shop.wait(shop.fresh)
    assert [h.reason for h in shop.db.refresh_history("per", 10)].count("gated") == 1, "once, not at each tick"


def test_a_poison_row_suspends_its_table_alone_and_is_told_with_a_remedy(shop: Kept) -> None:
    shop.stream("ratio", "SELECT id, 100 / (amount - 7) AS part FROM orders", schedule="on_change")
    shop.stream("over", "SELECT id, part FROM ratio", schedule="on_change")
    shop.stream("per", PER, schedule="on_change")
    with shop.running() as told:
        shop.change("INSERT INTO orders VALUES (4, 2, 7)")
        shop.wait(lambda: "suspended" in kinds(told, "ratio"))
        shop.wait(lambda: shop.fresh("per"))
        assert kinds(told, "ratio").count("refresh_failed") == 3
        assert kinds(told, "per").count("refresh_failed") == 0
        [broken] = shop.db.diagnose_errors()
        assert (broken.name, broken.status, broken.code) == ("ratio", "SUSPENDED", "query_error")
        assert "resume" in broken.remedy
        shop.change("DELETE FROM orders WHERE id = 4")
        shop.db.resume("ratio")
        shop.wait(shop.fresh)
    assert shop.db.diagnose_errors() == []
    shop.agrees("ratio", "SELECT id, 100 / (amount - 7) AS part FROM orders")
    shop.agrees("over", "SELECT id, 100 / (amount - 7) AS part FROM orders")


def test_what_storage_refuses_is_tried_until_it_is_taken(shop: Kept, lake: LakeSite) -> None:
    """The folder of the stored rows is replaced by a file, as a broken mount would be."""
    shop.stream("per", PER, schedule="on_change")
    stored = shop.db._streams.refresher.stored(shop.db._streams.all()[0], shop.db.lake.head())
    folder = Path(stored.path)
    aside = folder.with_name("aside")
    shutil.move(folder, aside)
    folder.write_text("no folder")
    with shop.running() as told:
        shop.change("INSERT INTO orders VALUES (4, 2, 9)")
        shop.wait(lambda: kinds(told, "per").count("refresh_failed") >= 4)
        assert "suspended" not in kinds(told, "per")
        folder.unlink()
        shutil.move(aside, folder)
        shop.wait(shop.fresh)
    shop.agrees("per", PER)


def test_a_lease_is_respected_while_it_is_renewed_and_taken_over_when_not(shop: Kept) -> None:
    shop.stream("per", PER, schedule="on_change")
    shop.db._streams.migrate()
    scheduling = Scheduling(shop.db._streams.registry)
    [table] = shop.db._streams.all()
    with shop.db.lake.catalog.writing() as connection:
        assert scheduling.lease(connection, [table.id], "another", datetime.now(UTC), 3.0)
    shop.change("INSERT INTO orders VALUES (4, 2, 9)")
    began = time.monotonic()
    with shop.running():
        shop.wait(shop.fresh)
    assert time.monotonic() - began > 2.5
    with shop.db.lake.reading() as connection:
        assert scheduling.leases(connection, datetime.now(UTC)) == {}
        assert scheduling.schedulers(connection) == []


def test_who_died_is_swept_away_at_once(shop: Kept) -> None:
    shop.stream("per", PER, schedule="on_change")
    shop.db._streams.migrate()
    dead = Scheduler(shop.db._streams, shop.db.events)
    dead.arrive()
    with shop.db.lake.catalog.writing() as connection:
        scheduler = shop.db._streams.registry.tables["scheduler"]
        connection.execute(scheduler.update().values(process=2**22 + 1))
        assert dead.scheduling.lease(connection, [1], dead.owner, datetime.now(UTC), 3600.0)
    shop.change("INSERT INTO orders VALUES (4, 2, 9)")
    with shop.running():
        shop.wait(shop.fresh)
    shop.agrees("per", PER)


def test_a_blown_fuse_is_an_event_and_stops_the_diamond_it_is_in(shop: Kept) -> None:
    shop.stream("per", PER, schedule="on_change", fuse="on", fuse_ceiling=2)
    for name, query in (("large", LARGE), ("both", BOTH)):
        shop.stream(name, query, schedule="on_change")
    before = shop.rows("large")
    with shop.running() as told:
        shop.change("INSERT INTO orders VALUES (4, 2, 9), (5, 2, 9), (6, 2, 9)")
        shop.wait(lambda: "fuse_blown" in kinds(told, "per"))
        assert shop.rows("large") == before
        shop.db.reset_fuse("per")
        shop.wait(shop.fresh)
    shop.agrees("both", BOTH)


def test_the_commands_say_what_the_functions_say(shop: Kept, lake: LakeSite, capfd: pytest.CaptureFixture[str]) -> None:
    if lake.address.on_postgres:
        pytest.skip("the same on both catalogs")
    shop.stream("per", PER)
    shop.stream("large", LARGE)

    def said(*words: str) -> Any:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            app(["--lake", lake.target, *words], prog_name="trickle")
        out, err = capfd.readouterr()
        assert not ended.value.code, err
        return json.loads(out) if "--json" in words else out

    assert said("gate", "close", "orders", "--json")[0]["gated"]
    assert said("gate", "list", "--json")[0]["stream_tables"] == ["per", "large"]
    assert said("diagnose", "--json")[0]["code"] == "gated"
    assert not said("gate", "open", "orders", "--json")[0]["gated"]
    assert said("watermark", "group", "day", "orders", "customers", "--tolerance", "1m", "--json")
    assert said("watermark", "advance", "orders", "2024-05-01", "--json")[0]["source"] == "orders"
    assert [s["aligned"] for s in said("watermark", "status", "--json")] == [False]
    assert len(said("watermark", "list", "--json")) == 1
    said("watermark", "drop", "day")
    assert said("fuse", "status", "per", "--json")[0]["state"] == "off"
    assert said("group", "create", "day", "per", "large", "--json")[0]["members"] == ["per", "large"]
    assert said("group", "list", "--json")[0]["name"] == "day"
    said("group", "drop", "day")
    assert said("recommend", "--json")[0]["recommended"] is None
    assert said("recommend", "--mode", "per", "--json")[0]["samples"] == 1
    assert "per (stream table)" in said("graph")
    assert said("graph", "--format", "mermaid").startswith("graph LR")
    assert said("graph", "per", "--json")[1]["name"] == "orders"
    said("pause")
    shop.change("INSERT INTO orders VALUES (4, 2, 9)")
    said("run", "--for", "1s")
    assert not shop.fresh()
    said("resume")
    assert '"kind": "refresh_finished"' in said("run", "--until-idle", "--log", "json")
    assert shop.fresh()
    said("pause", "per")
    assert {s.name: s.status for s in shop.db.stream_table_status()}["per"] == "SUSPENDED"


def test_events_are_sent_with_notify_on_postgresql(shop: Kept, lake: LakeSite) -> None:
    if not lake.address.on_postgres:
        pytest.skip("only PostgreSQL has NOTIFY")
    shop.stream("per", PER, schedule="on_change")
    with psycopg.connect(lake.target, autocommit=True) as listener:
        listener.execute("LISTEN trickle")
        with shop.running():
            shop.change("INSERT INTO orders VALUES (4, 2, 9)")
            shop.wait(shop.fresh)
        heard = [json.loads(n.payload)["kind"] for n in listener.notifies(timeout=2)]
    assert {"scheduler_started", "refresh_finished", "scheduler_stopped"} <= set(heard)


def test_history_is_forgotten_after_a_while_but_the_newest_of_each_kind(shop: Kept) -> None:
    shop.stream("per", PER)
    shop.change("INSERT INTO orders VALUES (4, 2, 9)")
    shop.refresh("per")
    with shop.db.lake.catalog.writing() as connection:
        gone = Scheduling(shop.db._streams.registry).forget_history(connection, datetime.now(UTC))
    assert gone == 0
    for n in range(3):
        shop.change(f"INSERT INTO orders VALUES ({10 + n}, 2, 9)")
        shop.refresh("per")
    with shop.db.lake.catalog.writing() as connection:
        gone = Scheduling(shop.db._streams.registry).forget_history(connection, datetime.now(UTC))
    assert gone == 3
    assert [h.action for h in shop.db.refresh_history("per")] == ["DIFFERENTIAL", "FULL"]

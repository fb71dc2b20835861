"""The scheduler in this process: order, holds, errors, leases, events."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from pyspark.sql import SparkSession

from trickle.events import FuseBlown
from trickle.registry.scheduling import Scheduling
from trickle.scheduler.loop import Scheduler
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.kept import Kept, kinds

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

PER = "SELECT cust, count(*) AS n, sum(amount) AS amount FROM orders GROUP BY cust"
LARGE = "SELECT id, cust, amount FROM orders WHERE amount > 8"
BOTH = "SELECT l.id, p.n, p.amount FROM large l JOIN per p ON p.cust = l.cust"
QUICK = {"scheduler__retry_seconds": 0.05, "scheduler__retry_cap_seconds": 0.2, "scheduler__lease_seconds": 2.0}


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
    shop.stream("per", PER, schedule="on_change", target_lag="1s")
    stored = shop.db._streams.refresher.stored(shop.db._streams.all()[0], shop.db.lake.head())
    folder = Path(stored.path)
    aside = folder.with_name("aside")
    shutil.move(folder, aside)
    folder.write_text("no folder")
    with shop.running() as told:
        shop.change("INSERT INTO orders VALUES (4, 2, 9)")
        shop.wait(lambda: kinds(told, "per").count("refresh_failed") >= 4)
        shop.wait(lambda: "stale" in kinds(told, "per"))
        failed = kinds(told, "per").count("refresh_failed")
        shop.wait(lambda: kinds(told, "per").count("refresh_failed") > failed)
        assert kinds(told, "per").count("stale") == 1, "once, however often it is tried"
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
        [blown] = [event for event in told if isinstance(event, FuseBlown)]
        assert (blown.changed_rows, blown.ceiling) == (3, 2.0)
        assert shop.rows("large") == before
        shop.db.reset_fuse("per")
        shop.wait(shop.fresh)
    shop.agrees("both", BOTH)


def test_tables_are_altered_paused_and_dropped_beside_a_running_scheduler(shop: Kept) -> None:
    """Whatever it is at: nobody has to try again, and nothing is counted twice or forgotten."""
    queries = (PER, PER.replace("count(*)", "count(amount)"))
    shop.stream("per", PER, schedule="on_change")
    shop.stream("over", "SELECT cust FROM per WHERE n > 1", schedule="on_change")
    with shop.running() as told:
        for n in range(4):
            shop.change(f"INSERT INTO orders VALUES ({10 + n}, {n % 3}, {n})", f"DELETE FROM orders WHERE id = {9 + n}")
            shop.db.sql(f"ALTER STREAM TABLE per SET (tier = '{('hot', 'warm')[n % 2]}')")
            shop.change(f"INSERT INTO orders VALUES ({20 + n}, {n % 3}, NULL)")
            shop.db.pause("per")
            shop.db.resume("per")
            shop.db.alter_stream_table("per", query=queries[n % 2])
        shop.change("INSERT INTO orders VALUES (30, 1, 1)")
        shop.wait(shop.fresh)
        shop.agrees("per", queries[1])
        shop.change("INSERT INTO orders VALUES (31, 1, 1)")
        assert shop.db.drop_stream_table("per", cascade=True) == ["over", "per"]
    assert {event.kind for event in told} <= {"scheduler_started", "refresh_started", "refresh_finished", "held"} | {
        "scheduler_stopped",
        "falling_behind",
    }


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

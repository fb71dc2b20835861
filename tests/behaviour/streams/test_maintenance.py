"""Maintenance between refreshes: visible, harmless, and no frontier is ever passed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.errors import CommitConflict, StorageError
from trickle.events import Event, Maintained, MaintenanceFailed
from trickle.lake.maintenance import jobs
from trickle.scheduler.loop import Scheduler
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

PER = "SELECT cust, count(*) AS n, sum(amount) AS total FROM orders GROUP BY cust"
EAGER = {"maintenance__every_refreshes": 1, "maintenance__payback": 0.0}
"""Everything that can be done is done, after every refresh."""


def opened(db: trickle.Session) -> Stage:
    stage = Stage(db)
    stage.change(
        "CREATE TABLE orders (id INT, cust INT, amount INT)",
        "INSERT INTO orders VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5), (4, 3, 7)",
    )
    return stage


@pytest.fixture
def eager(lake: LakeSite, quick: SparkSession) -> Iterator[Stage]:
    with lake.connect(quick, **EAGER) as db:
        yield opened(db)


def order(stage: Stage, n: int) -> None:
    stage.change(f"INSERT INTO orders VALUES ({10 + n}, {n % 3 + 1}, {n})")


def test_small_files_are_merged_between_refreshes_and_that_can_be_read(eager: Stage) -> None:
    told: list[Event] = []
    eager.db.subscribe(told.append)
    eager.stream("per", PER)
    eager.stream("busy", "SELECT cust FROM per WHERE n > 2")
    for n in range(4):
        order(eager, n)
        eager.refresh("busy")
        eager.agrees("per", PER)
    eager.agrees("busy", f"SELECT cust FROM ({PER}) WHERE n > 2")
    lines = eager.db.maintenance_history("per")
    assert {line.table for line in lines} == {"trickle.per"}
    assert {line.action for line in lines} <= {"MERGE", "REWRITE"} and lines[0].files_after == 1
    assert "its absence has cost" in lines[0].reason and lines[0].initiated_by == "user"
    assert {e.table for e in told if isinstance(e, Maintained)} >= {"trickle.per"}
    assert {line.action for line in eager.db.refresh_history("per")} == {"FULL", "DIFFERENTIAL", "NO_DATA"}
    assert eager.db.sql("SELECT * FROM trickle.maintenance_history").count() == len(eager.db.maintenance_history())


def test_sources_are_left_alone_unless_the_setting_says_all(lake: LakeSite, quick: SparkSession) -> None:
    with lake.connect(quick, **EAGER) as db:
        stage = opened(db)
        stage.stream("per", PER)
        order(stage, 1)
        stage.refresh("per")
        assert db.maintenance_history("orders") == []
    with lake.connect(quick, **EAGER, maintenance__automatic="all") as db:
        order(Stage(db), 2)
        Stage(db).refresh("per")
        [line] = db.maintenance_history("orders")
        assert (line.action, line.files_before, line.files_after) == ("MERGE", 3, 1)
        Stage(db).agrees("per", PER)


def test_nothing_is_done_that_does_not_pay_or_is_not_wanted(lake: LakeSite, quick: SparkSession) -> None:
    for settings in ({"maintenance__automatic": "off", **EAGER}, {"maintenance__every_refreshes": 1}):
        with lake.connect(quick, **settings) as db:
            if not db.tables():
                opened(db).stream("per", PER)
            order(Stage(db), 1)
            Stage(db).refresh("per")
            assert db.maintenance_history() == []


@pytest.mark.parametrize(
    "error", [CommitConflict("lost", hint="again"), StorageError("full", hint="buy"), OSError("x")]
)
def test_a_refresh_succeeds_whatever_becomes_of_maintenance(
    eager: Stage, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(*_: object) -> None:
        raise error

    told: list[Event] = []
    eager.db.subscribe(told.append)
    eager.stream("per", PER)
    monkeypatch.setattr(jobs, "jobs", broken)
    order(eager, 1)
    assert eager.refresh("per").action == "DIFFERENTIAL"
    assert eager.db.refresh_all()
    failed = [e for e in told if isinstance(e, MaintenanceFailed)]
    assert bool(failed) is not isinstance(error, CommitConflict)


def test_old_snapshots_expire_by_themselves_but_no_frontier_is_passed(lake: LakeSite, quick: SparkSession) -> None:
    settings = {"maintenance__every_refreshes": 1, "maintenance__keep_snapshots": 4}
    with lake.connect(quick, **settings) as db:
        stage = opened(db)
        stage.stream("late", PER)
        stage.stream("per", PER)
        late = db.stream_table_status("late")[0].data_snapshot
        for n in range(4):
            order(stage, n)
            stage.refresh("per")
        assert late is not None and min(s.id for s in db.snapshots()) <= late
        stage.refresh("late")
        order(stage, 5)
        stage.refresh("per")
        stage.refresh("late")
        assert len(db.snapshots()) <= 6
        assert "EXPIRE" in {line.action for line in db.maintenance_history()}
        stage.agrees("late", PER)


def test_a_change_is_not_lost_with_the_snapshot_that_made_it(shop: Stage) -> None:
    shop.stream("per", PER)
    order(shop, 1)
    shop.change("CREATE TABLE other (id INT)")
    shop.db.expire_snapshots(keep=1)
    shop.refresh("per")
    shop.agrees("per", PER)


def test_a_scheduler_maintains_between_refreshes(eager: Stage) -> None:
    copy = "SELECT id, cust FROM orders"
    eager.stream("copy", copy, schedule="on_change")
    for n in range(3):
        order(eager, n)
        eager.db.run(until_idle=True)
    eager.agrees("copy", copy)
    assert {line.initiated_by for line in eager.db.maintenance_history("copy")} == {"scheduler"}


def test_a_scheduler_that_arrives_collects_orphans(shop: Stage, lake: LakeSite) -> None:
    orphan = lake.data / "main" / "orders" / "trickle-lost.parquet"
    orphan.write_bytes(b"x")
    os.utime(orphan, (0, 0))
    scheduler = Scheduler(shop.db._streams, shop.db.events)
    scheduler.streams.migrate()
    scheduler.arrive()
    assert _is_gone(orphan)
    scheduler.leave()


def _is_gone(file: Path) -> bool:
    until = time.monotonic() + 10
    while file.exists() and time.monotonic() < until:
        time.sleep(0.02)
    return not file.exists()


JOINED = "SELECT o.id, c.region FROM orders o JOIN customers c ON o.cust = c.id"


def test_clustering_is_advised_by_what_stream_tables_look_up(shop: Stage) -> None:
    shop.stream("joined", JOINED)
    shop.stream("per", PER)
    shop.change("ALTER TABLE customers CLUSTER BY (id)")
    customers, orders = shop.db.recommend_clustering()
    assert (customers.table, customers.recommended, customers.is_clustered) == ("customers", ("id",), True)
    assert (orders.table, orders.recommended, orders.is_clustered) == ("orders", ("cust",), False)
    assert orders.stream_tables == ("joined",) and "too small" in orders.reason
    assert shop.db.recommend_clustering("per") == []


def test_sources_are_clustered_as_advised_where_the_setting_says_so(lake: LakeSite, quick: SparkSession) -> None:
    settings = {**EAGER, "maintenance__cluster_sources": True, "lake__row_group_rows": 1024}
    with lake.connect(quick, **settings) as db:
        stage = opened(db)
        stage.change("CREATE TABLE customers (id INT, region STRING)")
        db.append("customers", [{"id": n * 7919 % 6000, "region": str(n % 5)} for n in range(6000)])
        stage.stream("joined", JOINED)
        order(stage, 1)
        stage.refresh("joined")
        [line] = db.maintenance_history("customers")
        assert (line.action, line.files_after) == ("CLUSTER", 1)
        [customers] = [r for r in db.recommend_clustering() if r.table == "customers"]
        assert customers.is_clustered and customers.clustered_by == ("id",)
        order(stage, 2)
        stage.refresh("joined")
        stage.agrees("joined", JOINED)
        assert len(db.maintenance_history("customers")) == 1

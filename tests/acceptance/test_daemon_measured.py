"""Bad days and stop-watches of the daemon: alone on the machine (`--heavy`)."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.testing.daemon.judge import times
from trickle.testing.daemon.process import Daemon
from trickle.testing.daemon.shop import persist
from trickle.testing.disks import DiskUnavailable, fill, small_disk
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite, postgres_site
from trickle.testing.postgres_server import start_postgres
from trickle.testing.smoke import rows

pytestmark = [pytest.mark.spark, pytest.mark.timeout(3600)]

PER = "SELECT cust, count(*) AS n, sum(amount) AS amount FROM orders GROUP BY cust"
QUICK = {"scheduler__retry_seconds": 0.1, "scheduler__retry_cap_seconds": 1.0}


def prepare(site: LakeSite, spark: SparkSession, peer: DuckDBPeer) -> None:
    with site.connect(spark) as db:
        peer.run(
            site.address,
            "CREATE TABLE orders (id INT, cust INT, amount INT)",
            "CREATE TABLE items (id INT, price INT)",
            "INSERT INTO orders SELECT n, n % 5, n FROM range(1000) t(n)",
            "INSERT INTO items VALUES (1, 1)",
        )
        db.create_stream_table("per", PER, schedule="on_change", refresh_mode="DIFFERENTIAL")
        db.create_stream_table("prices", "SELECT id, price FROM items WHERE price > 0", schedule="on_change")


def test_on_change_takes_little_more_than_the_refresh_itself(
    lake: LakeSite, quick: SparkSession, peer: DuckDBPeer, tmp_path: Path
) -> None:
    """Median of commit → refreshed and committed ≤ 1.2 × the refresh's own time + 100 ms."""
    prepare(lake, quick, peer)
    with lake.connect(quick) as db, Daemon(lake, tmp_path / "daemon").ready() as daemon:
        waited, own = [], []
        for n in range(40):
            [before] = [s.data_snapshot for s in db.stream_table_status("per")]
            db.append("orders", [{"id": n, "cust": n % 5, "amount": n}])

            def done(before: int | None = before) -> bool:
                return db.stream_table_status("per")[0].data_snapshot != before

            daemon.wait_for(done)
            line = db.refresh_history("per", 1)[0]
            at = times(db)
            assert line.data_snapshot is not None and line.snapshot is not None
            if n >= 15:  # Spark is warm
                waited.append((at[line.snapshot] - at[line.data_snapshot]).total_seconds())
                own.append(line.duration_ms / 1000)
        daemon.end()
    print(f"on_change: median {median(waited) * 1000:.0f} ms, of which the refresh {median(own) * 1000:.0f} ms")
    assert median(waited) <= 1.2 * median(own) + 0.1


def test_a_dropped_source_suspends_its_reader_and_no_other(
    lake: LakeSite, quick: SparkSession, peer: DuckDBPeer, tmp_path: Path
) -> None:
    prepare(lake, quick, peer)
    with lake.connect(quick) as db, Daemon(lake, tmp_path / "daemon", **QUICK).ready() as daemon:
        persist(peer, lake.address, "DROP TABLE items", "INSERT INTO orders VALUES (1, 1, 1)")
        daemon.wait_for(lambda: daemon.events("suspended"))
        assert {event["name"] for event in daemon.events("suspended")} == {"prices"}
        daemon.wait_for(lambda: db.stream_table_status("per")[0].lag_seconds == 0)
        [found] = db.diagnose_errors()
        assert (found.name, found.code) == ("prices", "schema_changed")
        assert "restore the source" in found.remedy
        assert daemon.end() == 0


def test_a_catalog_that_is_gone_for_a_while_is_waited_for(
    quick: SparkSession, peer: DuckDBPeer, tmp_path: Path
) -> None:
    with start_postgres() as server:
        site = postgres_site(server.database(), tmp_path / "lake")
        prepare(site, quick, peer)
        with Daemon(site, tmp_path / "daemon", **QUICK).ready() as daemon:
            persist(peer, site.address, "INSERT INTO orders VALUES (1, 1, 1)")
            daemon.wait_for(lambda: daemon.events("refresh_finished"))
            with server.outage():
                time.sleep(20)
            persist(peer, site.address, "INSERT INTO orders VALUES (2, 1, 1)", "INSERT INTO items VALUES (2, 7)")
            with site.connect(quick) as db:
                daemon.wait_for(lambda: all(s.lag_seconds == 0 for s in db.stream_table_status()))
                assert daemon.events("suspended") == []
                assert {s.status for s in db.stream_table_status()} == {"ACTIVE"}
            assert daemon.end() == 0


def test_a_disk_that_refuses_is_tried_until_it_takes(
    lake: LakeSite, quick: SparkSession, peer: DuckDBPeer, tmp_path: Path
) -> None:
    prepare(lake, quick, peer)
    [folder] = lake.data.glob("trickle/per*")
    aside = folder.with_name("aside")
    with lake.connect(quick) as db, Daemon(lake, tmp_path / "daemon", **QUICK).ready() as daemon:
        shutil.move(folder, aside)
        folder.write_text("no folder")
        persist(peer, lake.address, "INSERT INTO orders VALUES (1, 1, 1)", "INSERT INTO items VALUES (2, 7)")
        daemon.wait_for(lambda: len(daemon.events("refresh_failed")) >= 4)
        daemon.wait_for(lambda: db.stream_table_status("prices")[0].lag_seconds == 0)
        assert daemon.events("suspended") == []
        folder.unlink()
        shutil.move(aside, folder)
        daemon.wait_for(lambda: all(s.lag_seconds == 0 for s in db.stream_table_status()))
        assert daemon.end() == 0


def test_without_its_java_the_daemon_ends_and_blames_no_table(
    lake: LakeSite, quick: SparkSession, peer: DuckDBPeer, tmp_path: Path
) -> None:
    prepare(lake, quick, peer)
    with lake.connect(quick) as db, Daemon(lake, tmp_path / "daemon", **QUICK).ready() as daemon:
        persist(peer, lake.address, "INSERT INTO orders VALUES (1, 1, 1)")
        daemon.wait_for(lambda: daemon.events("refresh_finished"))
        daemon.kill_java()
        persist(peer, lake.address, "INSERT INTO orders VALUES (2, 1, 1)")
        assert daemon.wait(120) == 3
        assert "spark has gone away" in daemon.log()
        assert {s.status for s in db.stream_table_status()} <= {"ACTIVE", "ERROR"}
    with lake.connect(quick) as db, Daemon(lake, tmp_path / "daemon", **QUICK).ready() as daemon:
        daemon.wait_for(lambda: all(s.lag_seconds == 0 for s in db.stream_table_status()))
        assert {s.status for s in db.stream_table_status()} == {"ACTIVE"}
        assert daemon.end() == 0


def test_a_full_disk_holds_its_table_until_there_is_space(
    lake: LakeSite, quick: SparkSession, peer: DuckDBPeer, tmp_path: Path
) -> None:
    """The folder of one stream table is on a disk of its own, which fills up and is freed again."""
    prepare(lake, quick, peer)
    [folder] = lake.data.glob("trickle/per*")
    aside = folder.rename(folder.with_name("aside"))
    try:
        with small_disk(folder, "1m") as disk, lake.connect(quick) as db:
            shutil.copytree(aside, disk, dirs_exist_ok=True)
            with Daemon(lake, tmp_path / "daemon", **QUICK).ready() as daemon:
                ballast = fill(disk)
                persist(peer, lake.address, "INSERT INTO orders VALUES (1, 1, 1)", "INSERT INTO items VALUES (2, 7)")
                daemon.wait_for(lambda: len(daemon.events("refresh_failed")) >= 4)
                failures = {(e["name"], e["code"]) for e in daemon.events("refresh_failed")}
                assert failures == {("per", "storage_error")}
                assert "the disk is full" in daemon.events("refresh_failed")[0]["message"]
                daemon.wait_for(lambda: db.stream_table_status("prices")[0].lag_seconds == 0)
                [found] = db.diagnose_errors()
                assert (found.name, found.status, "free space" in found.remedy) == ("per", "ERROR", True)
                ballast.unlink()
                daemon.wait_for(lambda: all(s.lag_seconds == 0 for s in db.stream_table_status()))
                assert daemon.events("suspended") == []
                assert daemon.end() == 0
            assert db.diagnose_errors() == []
            assert rows(db.table("per")) == rows(db.sql(PER))
    except DiskUnavailable as reason:
        pytest.skip(str(reason))


def fragile(marker: str) -> Callable[[int], int]:
    def kept(value: int) -> int:
        if os.path.exists(marker):
            os._exit(1)  # the worker process of Spark that runs it is gone, and its job with it
        return value

    return kept


def test_a_spark_job_that_dies_and_a_poison_row_suspend_their_tables_alone(
    lake: LakeSite, quick: SparkSession, peer: DuckDBPeer, tmp_path: Path
) -> None:
    prepare(lake, quick, peer)
    marker = tmp_path / "marker"
    with lake.connect(quick) as db:
        db.create_function("fragile", fragile(str(marker)), "INT")
        streams = {
            "weak": "SELECT id, fragile(amount) AS amount FROM orders WHERE amount > 990",
            "ratio": "SELECT id, 100 / (amount - 7777) AS part FROM orders WHERE amount > 990",
        }
        for name, query in streams.items():
            db.create_stream_table(name, query, schedule="on_change", refresh_mode="DIFFERENTIAL")
        with Daemon(lake, tmp_path / "daemon", **QUICK).ready() as daemon:
            marker.touch()
            persist(peer, lake.address, "INSERT INTO orders VALUES (1, 1, 7777)")
            daemon.wait_for(lambda: len(daemon.events("suspended")) == 2)
            daemon.wait_for(lambda: db.stream_table_status("per")[0].lag_seconds == 0)
            assert {(e["name"], e["errors_in_row"]) for e in daemon.events("refresh_failed")} == {
                (name, n) for name in streams for n in (1, 2, 3)
            }
            assert {(d.name, d.status, "resume" in d.remedy) for d in db.diagnose_errors()} == {
                (name, "SUSPENDED", True) for name in streams
            }
            marker.unlink()
            persist(peer, lake.address, "DELETE FROM orders WHERE amount = 7777")
            for name in streams:
                db.sql(f"CALL trickle.resume('{name}')")
            daemon.wait_for(lambda: all(s.lag_seconds == 0 for s in db.stream_table_status()))
            assert daemon.end() == 0
        assert db.diagnose_errors() == []
        for name, query in streams.items():
            assert rows(db.table(name)) == rows(db.sql(query))


def test_a_catalog_file_that_is_locked_for_a_while_is_waited_for(
    lake_sqlite: LakeSite, quick: SparkSession, peer: DuckDBPeer, tmp_path: Path
) -> None:
    prepare(lake_sqlite, quick, peer)
    with Daemon(lake_sqlite, tmp_path / "daemon", **QUICK, catalog__lock_timeout_seconds=2).ready() as daemon:
        persist(peer, lake_sqlite.address, "INSERT INTO orders VALUES (1, 1, 1)")
        daemon.wait_for(lambda: daemon.events("refresh_finished"))
        with closing(sqlite3.connect(lake_sqlite.address.catalog, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            time.sleep(20)
            other.execute("ROLLBACK")
        persist(peer, lake_sqlite.address, "INSERT INTO orders VALUES (2, 1, 1)", "INSERT INTO items VALUES (2, 7)")
        with lake_sqlite.connect(quick) as db:
            daemon.wait_for(lambda: all(s.lag_seconds == 0 for s in db.stream_table_status()))
            assert {s.status for s in db.stream_table_status()} == {"ACTIVE"}
        assert daemon.events("suspended") == []
        assert daemon.end() == 0


def register(db: trickle.Session, number: int) -> None:
    """So many stream tables more, all of them filled, on a table that does not change."""
    streams = db._streams
    [pattern] = [t for t in streams.all() if t.name == "prices"]
    with db.lake.catalog.writing() as connection:
        for n in range(number):
            added = streams.registry.add(connection, replace(pattern, name=f"prices_{n}", stored_name=f"prices_{n}"))
            streams.registry.mark(connection, added, frontier=pattern.frontier, snapshot=pattern.snapshot)


def test_a_thousand_idle_stream_tables_cost_next_to_nothing(
    lake: LakeSite, quick: SparkSession, peer: DuckDBPeer, tmp_path: Path
) -> None:
    """Registered 1,000, one of them at work: CPU of the idle daemon and its Java < 2 % of a core, memory flat."""
    prepare(lake, quick, peer)
    with lake.connect(quick) as db:
        register(db, 998)
        began = time.perf_counter()
        assert len(db.stream_table_status()) == 1000
        print(f"status of 1,000 stream tables: {(time.perf_counter() - began) * 1000:.0f} ms")
        with Daemon(lake, tmp_path / "daemon").ready() as daemon:

            def change(number: int) -> None:
                for _ in range(number):
                    db.append("orders", [{"id": 1, "cust": 1, "amount": 1}])
                daemon.wait_for(lambda: db.stream_table_status("per")[0].lag_seconds == 0)

            change(30)
            time.sleep(15)
            before = daemon.usage()
            time.sleep(30)
            after = daemon.usage()
            busy = (after.cpu_seconds - before.cpu_seconds) / 30
            change(150)
            grown = daemon.usage().own_mb - after.own_mb
            print(f"idle: {busy:.2%} of a core; {after.own_mb:.0f} MB, {grown:+.1f} MB after 150 more commits")
            assert busy < 0.02
            assert grown < 10
            assert daemon.events("refresh_failed") == []
            assert {e["name"] for e in daemon.events("refresh_started")} == {"per"}
            assert daemon.end() == 0

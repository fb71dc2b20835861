"""Bad days and stop-watches of the daemon: alone on the machine (`--heavy`)."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from statistics import median

import pytest
from pyspark.sql import SparkSession

from trickle.testing.daemon.judge import times
from trickle.testing.daemon.process import Daemon
from trickle.testing.daemon.shop import persist
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite, postgres_site
from trickle.testing.postgres_server import start_postgres

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

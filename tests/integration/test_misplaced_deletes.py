"""A delete of DuckDB's that loses a race on PostgreSQL: told in one snapshot, dead since an older one."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest
from pyspark.sql import SparkSession

from trickle.lake.told_deletes import misplaced
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import CATALOG_SCHEMA, LakeSite

pytestmark = [pytest.mark.spark, pytest.mark.postgres]

LOCK = f"LOCK TABLE {CATALOG_SCHEMA}.ducklake_snapshot IN SHARE ROW EXCLUSIVE MODE"
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"
NEXT = f"""INSERT INTO {CATALOG_SCHEMA}.ducklake_snapshot
    SELECT snapshot_id + 1, now(), schema_version, next_catalog_id, next_file_id FROM {CATALOG_SCHEMA}.ducklake_snapshot
    ORDER BY snapshot_id DESC LIMIT 1"""
QUERY = "SELECT count(*) AS n, sum(qty) AS qty FROM orders"
PATIENT = "SET ducklake_retry_wait_ms = 8000"


def beaten(site: LakeSite, peer: DuckDBPeer, statement: str) -> threading.Thread:
    """DuckDB commits a statement, and another commit is there first: it will try again in a while."""
    thread = threading.Thread(target=lambda: peer.run(site.address, PATIENT, statement))
    with psycopg.connect(site.target) as first, psycopg.connect(site.target, autocommit=True) as watch:
        first.execute(LOCK)
        thread.start()
        deadline = time.monotonic() + 30
        while not watch.execute(WAITING).fetchone()[0]:  # type: ignore[index]
            assert time.monotonic() < deadline, "DuckDB never came to its commit"
            time.sleep(0.01)
        first.execute(NEXT)
    return thread


@pytest.mark.parametrize("gone", [(7,), (7, 1000)], ids=["all of them", "some of them"])
def test_rows_that_die_before_the_frontier_are_noticed_and_the_table_starts_anew(
    spark: SparkSession, lake_postgres: LakeSite, peer: DuckDBPeer, gone: tuple[int, ...]
) -> None:
    """Of a file that lost rows before, DuckDB writes with each delete since when, which it does not correct."""
    site = lake_postgres
    with site.connect(spark) as db:
        db.sql("CREATE TABLE orders (id INT, qty INT)")
        db.append("orders", [{"id": n, "qty": n} for n in range(200)])
        db.append("orders", [{"id": n, "qty": n} for n in range(1000, 1020)])
        peer.run(site.address, "DELETE FROM orders WHERE id = 0")
        db.create_stream_table("total", QUERY)
        late = beaten(site, peer, f"DELETE FROM orders WHERE id IN ({', '.join(map(str, gone))})")
        early = db.refresh_stream_table("total")
        assert late.is_alive(), "the delete was there before the refresh"
        assert early.action == "NO_DATA"
        late.join(60)
        assert db.sql("SELECT count(*) FROM orders").first()[0] == 219 - len(gone)
        [state] = db.stream_table_status()
        with db.lake.reading() as connection:
            table = db.lake.definitions.table(connection, db.lake.head(), "main", "orders")
            assert table is not None
            head = db.lake.head().id
            assert misplaced(
                db.lake.catalog, connection, db.lake.storage, table, db.lake.snapshot(state.data_snapshot), head
            )
        done = db.refresh_stream_table("total")
        assert (done.action, done.reason) == ("REINITIALIZE", "misplaced_delete")
        assert tuple(db.sql("SELECT n, qty FROM total").first()) == (
            219 - len(gone),
            sum(range(200)) + sum(range(1000, 1020)) - sum(gone),
        )
        peer.run(site.address, "DELETE FROM orders WHERE id = 8")
        assert db.refresh_stream_table("total").action == "DIFFERENTIAL", "once is enough"


def test_deletes_that_stand_where_they_were_told_are_no_reason(
    spark: SparkSession, lake_postgres: LakeSite, peer: DuckDBPeer
) -> None:
    site = lake_postgres
    with site.connect(spark) as db:
        db.sql("CREATE TABLE orders (id INT, qty INT)")
        db.append("orders", [{"id": n, "qty": n} for n in range(200)])
        db.create_stream_table("total", QUERY, refresh_mode="DIFFERENTIAL")
        start, left = db.lake.head(), 200
        for statement, gone in (
            ("DELETE FROM orders WHERE id < 30", 30),
            ("UPDATE orders SET qty = 0 WHERE id = 40", 0),
            ("INSERT INTO orders VALUES (1000, 1)", -1),
            ("DELETE FROM orders WHERE id = 1000", 1),
            ("DELETE FROM orders WHERE id BETWEEN 50 AND 52", 3),
            ("CALL ducklake_flush_inlined_data('lake')", 0),
            ("DELETE FROM orders", 167),
        ):
            peer.run(site.address, statement)
            left -= gone
            done = db.refresh_stream_table("total")
            assert done.action in ("DIFFERENTIAL", "NO_DATA"), (statement, done)
            assert db.sql("SELECT n FROM total").first()[0] == left
        with db.lake.reading() as connection:
            table = db.lake.definitions.table(connection, db.lake.head(), "main", "orders")
            assert table is not None
            head = db.lake.head().id
            assert not misplaced(db.lake.catalog, connection, db.lake.storage, table, start, head)

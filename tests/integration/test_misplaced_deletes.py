"""A delete of DuckDB's that loses a race on PostgreSQL: told in one snapshot, written as if of an older one."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import psycopg
import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.lake.model import Table
from trickle.lake.told_deletes import found, told
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import CATALOG_SCHEMA, LakeSite

pytestmark = [pytest.mark.spark, pytest.mark.postgres]

LOCK = f"LOCK TABLE {CATALOG_SCHEMA}.ducklake_snapshot IN SHARE ROW EXCLUSIVE MODE"
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"
NEXT = f"""INSERT INTO {CATALOG_SCHEMA}.ducklake_snapshot
    SELECT snapshot_id + 1, now(), schema_version, next_catalog_id, next_file_id FROM {CATALOG_SCHEMA}.ducklake_snapshot
    ORDER BY snapshot_id DESC LIMIT 1"""
SAYS = f"""INSERT INTO {CATALOG_SCHEMA}.ducklake_snapshot_changes (snapshot_id, changes_made)
    SELECT max(snapshot_id), '%s' FROM {CATALOG_SCHEMA}.ducklake_snapshot"""
QUERY = "SELECT count(*) AS n, sum(qty) AS qty FROM orders"
JOINED = "SELECT o.id, o.qty, p.id AS other FROM orders o JOIN orders p ON p.id = o.qty + 1"
PATIENT = "SET ducklake_retry_wait_ms = %d"
OLD, NEW = range(200), range(1000, 1020)


def beaten(site: LakeSite, peer: DuckDBPeer, statement: str, says: str = "", wait_ms: int = 8000) -> threading.Thread:
    """DuckDB commits a statement, and another commit is there first: it will try again in a while."""
    thread = threading.Thread(target=lambda: peer.run(site.address, PATIENT % wait_ms, statement))
    with psycopg.connect(site.target) as first, psycopg.connect(site.target, autocommit=True) as watch:
        first.execute(LOCK)
        thread.start()
        deadline = time.monotonic() + 30
        while not watch.execute(WAITING).fetchone()[0]:  # type: ignore[index]
            assert time.monotonic() < deadline, "DuckDB never came to its commit"
            time.sleep(0.01)
        first.execute(NEXT)
        if says:
            first.execute(SAYS % says)
    return thread


def filled(db: trickle.Session, site: LakeSite, peer: DuckDBPeer) -> None:
    """Two files, of which one lost rows: DuckDB writes of each further delete since when, and does not correct it."""
    db.sql("CREATE TABLE orders (id INT, qty INT)")
    for ids in (OLD, NEW):
        db.append("orders", [{"id": n, "qty": n} for n in ids])
    peer.run(site.address, "DELETE FROM orders WHERE id = 0")
    db.create_stream_table("total", QUERY, refresh_mode="DIFFERENTIAL")
    db.create_stream_table("pairs", JOINED, refresh_mode="DIFFERENTIAL")


def orders(db: trickle.Session) -> Table:
    table = db.lake.table("main", "orders", db.lake.head())
    assert table is not None
    return table


def is_right(db: trickle.Session, gone: Sequence[int]) -> bool:
    left = [n for n in (*OLD, *NEW) if n not in (0, *gone)]
    pairs = [(n, n, n + 1) for n in left if n + 1 in left]
    held = sorted(tuple(row) for row in db.sql("SELECT id, qty, other FROM pairs").collect())
    return tuple(db.sql("SELECT n, qty FROM total").first()) == (len(left), sum(left)) and held == pairs


@pytest.mark.parametrize("gone", [(7,), (7, 1000)], ids=["all of them", "some of them"])
def test_rows_that_died_before_the_frontier_by_what_is_written_are_taken_away(
    spark: SparkSession, lake_postgres: LakeSite, peer: DuckDBPeer, gone: tuple[int, ...]
) -> None:
    site = lake_postgres
    with site.connect(spark) as db:
        filled(db, site, peer)
        late = beaten(site, peer, f"DELETE FROM orders WHERE id IN ({', '.join(map(str, gone))})")
        early = [db.refresh_stream_table(name) for name in ("total", "pairs")]
        assert late.is_alive(), "the delete was there before the refreshes"
        assert [done.action for done in early] == ["NO_DATA", "NO_DATA"]
        late.join(60)
        frontier, head = early[0].data_snapshot, db.lake.head().id
        with db.lake.reading() as connection:
            lake, table = db.lake, orders(db)
            missing = told(lake.catalog, connection, table, 0, head)
            missing -= found(lake.catalog, connection, lake.storage, table, 0, head)
            before = lake.raw_changes(table, 0, frontier).count()
        assert len(missing) == (1 if len(gone) == 1 else 0), "DuckDB writes the delete into the snapshot it tried first"
        assert before == 219, "and it is read as it was"
        assert [db.refresh_stream_table(name).action for name in ("total", "pairs")] == ["DIFFERENTIAL"] * 2
        assert is_right(db, gone)
        peer.run(site.address, "DELETE FROM orders WHERE id = 8", "DELETE FROM orders WHERE id = 1001")
    with site.connect(spark) as db:  # knows nothing of what the first one saw
        assert [db.refresh_stream_table(name).action for name in ("total", "pairs")] == ["DIFFERENTIAL"] * 2
        assert is_right(db, [*gone, 8, 1001])


def test_a_delete_written_into_a_snapshot_that_deleted_itself_is_noticed_and_the_table_starts_anew(
    spark: SparkSession, lake_postgres: LakeSite, peer: DuckDBPeer
) -> None:
    """What is written does not tell the deletes of the two apart."""
    site = lake_postgres
    with site.connect(spark) as db:
        filled(db, site, peer)
        says = f"deleted_from_table:{orders(db).id}"
        late = beaten(site, peer, "DELETE FROM orders WHERE id = 7", says, wait_ms=20_000)
        for name in ("total", "pairs"):
            db.refresh_stream_table(name, full=True)
        assert late.is_alive(), "the delete was there before the refreshes"
        late.join(60)
        done = [db.refresh_stream_table(name) for name in ("total", "pairs")]
        assert [(d.action, d.reason) for d in done] == [("REINITIALIZE", "misplaced_delete")] * 2
        assert is_right(db, [7])
        peer.run(site.address, "DELETE FROM orders WHERE id = 8")
        assert db.refresh_stream_table("total").action == "DIFFERENTIAL", "once is enough"


def test_deletes_that_stand_where_they_were_told_are_no_reason(
    spark: SparkSession, lake_postgres: LakeSite, peer: DuckDBPeer
) -> None:
    site = lake_postgres
    with site.connect(spark) as db:
        db.sql("CREATE TABLE orders (id INT, qty INT)")
        db.append("orders", [{"id": n, "qty": n} for n in OLD])
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
            assert not db.lake.placing.is_in_doubt(connection, orders(db), start.id, db.lake.head().id)

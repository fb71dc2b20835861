"""A full refresh writes what differs and nothing else, whoever finds that out: the driver, or Spark."""

from __future__ import annotations

import pytest

import trickle
from trickle.refresh import renewal
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

ODD = """
    (1, 0.0, 1.10, 'a', TIMESTAMP'2026-01-01 12:00:00', DATE'2026-01-01', X'00', true),
    (1, 0.0, 1.10, 'a', TIMESTAMP'2026-01-01 12:00:00', DATE'2026-01-01', X'00', true),
    (2, double('NaN'), NULL, '', NULL, NULL, NULL, NULL),
    (3, -0.0D, 0.00, NULL, TIMESTAMP'9999-12-31 23:59:59.999999', DATE'0001-01-01', X'', false)"""
COLUMNS = "k INT, x DOUBLE, d DECIMAL(20, 2), t STRING, at TIMESTAMP, day DATE, b BINARY, y BOOLEAN"


@pytest.fixture(params=["driver", "spark"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "spark":
        monkeypatch.setattr(renewal, "FEW_ROWS", 0)
    return str(request.param)


def test_values_of_every_type_come_and_go(db: trickle.Session, way: str) -> None:
    stage = Stage(db)
    stage.change(f"CREATE TABLE odd ({COLUMNS})", f"INSERT INTO odd VALUES {ODD}")
    db.create_stream_table("same", "SELECT * FROM odd", refresh_mode="FULL")
    head = db.head()
    again = db.refresh_stream_table("same", full=True)
    assert (again.action, again.rows_inserted, again.rows_deleted, db.head()) == ("FULL", 0, 0, head)
    stage.change("DELETE FROM odd WHERE k = 3", "INSERT INTO odd SELECT * FROM odd WHERE k = 1")
    done = db.refresh_stream_table("same")
    assert (done.action, done.rows_inserted, done.rows_deleted) == ("FULL", 2, 1)
    stage.agrees("same", "SELECT * FROM odd")
    stage.change("UPDATE odd SET t = 'b' WHERE k = 1 OR k = 2")
    done = db.refresh_stream_table("same")
    assert (done.rows_inserted, done.rows_deleted) == (5, 5)
    stage.agrees("same", "SELECT * FROM odd")


@pytest.mark.parametrize("left", [9, 8, 5, 1, 0])
def test_so_many_copies_of_a_row_go_as_are_too_many(db: trickle.Session, way: str, left: int) -> None:
    """Rows that stand in one file and in others, some of which went before."""
    stage = Stage(db)
    stage.change("CREATE TABLE t (k INT, n INT)", "INSERT INTO t SELECT 1, id FROM range(4)")
    db.create_stream_table("same", "SELECT k FROM t", refresh_mode="FULL")
    for start, end in ((4, 8), (8, 12)):
        stage.change(f"INSERT INTO t SELECT 1, id FROM range({start}, {end})", "INSERT INTO t VALUES (2, 0), (3, 0)")
        db.refresh_stream_table("same")
    stage.change("DELETE FROM t WHERE n IN (5, 9, 11)")
    assert db.refresh_stream_table("same").rows_deleted == 3
    stage.change(f"DELETE FROM t WHERE k = 1 AND n NOT IN (SELECT n FROM t WHERE k = 1 ORDER BY n LIMIT {left})")
    stage.change("DELETE FROM t WHERE k = 3", "INSERT INTO t VALUES (2, 1), (2, 1), (2, 1)")
    done = db.refresh_stream_table("same")
    assert (done.action, done.rows_inserted, done.rows_deleted) == ("FULL", 3, 9 - left + 2)
    stage.agrees("same", "SELECT k FROM t")


def test_lists_and_structs_are_compared_by_spark(db: trickle.Session) -> None:
    stage = Stage(db)
    stage.change("CREATE TABLE t (k INT, l ARRAY<INT>, s STRUCT<a: INT, b: STRING>)")
    stage.change("INSERT INTO t VALUES (1, array(1, NULL), named_struct('a', 1, 'b', 'x')), (2, NULL, NULL)")
    db.create_stream_table("same", "SELECT * FROM t", refresh_mode="FULL")
    stage.change("UPDATE t SET l = array(2) WHERE k = 2")
    done = db.refresh_stream_table("same")
    assert (done.action, done.rows_inserted, done.rows_deleted) == ("FULL", 1, 1)


def test_what_grew_beyond_what_the_driver_holds_is_left_to_spark(shop: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renewal, "FEW_ROWS", 20)
    shop.db.create_stream_table("same", "SELECT id, amount FROM orders", refresh_mode="FULL")
    stored = len(shop.rows("same"))
    shop.change("INSERT INTO orders SELECT id + 100, 1, id FROM range(50)", "DELETE FROM orders WHERE id = 1")
    done = shop.db.refresh_stream_table("same")
    assert (done.action, done.rows_inserted, done.rows_deleted) == ("FULL", 50, 1)
    assert len(shop.rows("same")) == stored + 49
    shop.agrees("same", "SELECT id, amount FROM orders")

"""Lakes that DuckDB made, and lakes that moved, on every catalog."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from trickle.errors import UnsupportedType
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite, sqlite_site
from trickle.testing.rows import rows_of
from trickle.testing.smoke import rows

pytestmark = pytest.mark.spark


def test_a_lake_of_duckdb_is_read_written_and_handed_back(
    lake: LakeSite, spark: SparkSession, peer: DuckDBPeer
) -> None:
    lake.data.mkdir(parents=True, exist_ok=True)
    peer.run(
        lake.address,
        "CREATE TABLE t (a INTEGER, b VARCHAR)",
        "INSERT INTO t SELECT range, 'r' || range FROM range(100)",
        "INSERT INTO t VALUES (1000, 'inlined'), (1001, NULL)",
        "DELETE FROM t WHERE a IN (5, 1001)",
        "UPDATE t SET b = 'u' WHERE a = 7",
    )
    with lake.connect(spark) as db:
        assert rows(db.table("t")) == peer.rows(lake.address, "FROM t").counts
        db.sql("UPDATE t SET b = 'trickle' WHERE a IN (7, 8, 1000)")
        db.sql("DELETE FROM t WHERE a < 4")
        expected = rows(db.table("t"))
        assert expected[(1000, "trickle")] == 1
        assert peer.rows(lake.address, "FROM t").counts == expected
        head = db.head()
        peer.run(lake.address, "UPDATE t SET b = 'back' WHERE a = 1000", "CALL ducklake_flush_inlined_data('lake')")
        assert rows(db.changes("t", head, db.head())) == {(1000, "trickle", -1): 1, (1000, "back", 1): 1}


def test_partitions_of_duckdb_are_kept(lake: LakeSite, spark: SparkSession, peer: DuckDBPeer) -> None:
    lake.data.mkdir(parents=True, exist_ok=True)
    peer.run(
        lake.address,
        "CREATE TABLE t (a INTEGER, d DATE)",
        "ALTER TABLE t SET PARTITIONED BY (a, year(d))",
        "INSERT INTO t SELECT r % 2, DATE '2020-01-01' + r::INTEGER * 300 FROM range(30) x(r)",
    )
    with lake.connect(spark) as db:
        db.sql("INSERT INTO t VALUES (1, DATE '2030-05-05'), (NULL, NULL)")
        db.sql("DELETE FROM t WHERE a = 0")
        expected = peer.rows(lake.address, "FROM t").counts
        assert sum(expected.values()) == 17
        found = rows(db.sql("SELECT a, CAST(d AS STRING) FROM t"))
        assert found == expected


def test_a_type_that_spark_cannot_read_is_named_only_when_it_is_read(
    lake: LakeSite, spark: SparkSession, peer: DuckDBPeer
) -> None:
    lake.data.mkdir(parents=True, exist_ok=True)
    peer.run(lake.address, "CREATE TABLE u (a INTEGER, i INTERVAL)", "CREATE TABLE t (a INTEGER)")
    with lake.connect(spark) as db:
        db.append("t", [{"a": 1}])
        assert rows(db.table("t")) == {(1,): 1}
        with pytest.raises(UnsupportedType) as caught:
            db.table("u").collect()
        assert "i" in str(caught.value) and caught.value.hint


def test_a_lake_that_moved_still_opens(tmp_path: Path, spark: SparkSession, peer: DuckDBPeer) -> None:
    site = sqlite_site(tmp_path / "old")
    with site.connect(spark) as db:
        db.sql("CREATE TABLE t (a INT)")
        db.append("t", [{"a": 1}, {"a": 2}])
        db.sql("DELETE FROM t WHERE a = 1")
    shutil.move(tmp_path / "old", tmp_path / "new place")
    moved = sqlite_site(tmp_path / "new place")
    with moved.connect(spark) as db:
        assert rows(db.table("t")) == {(2,): 1}
        db.append("t", [{"a": 3}])
        assert rows(db.table("t")) == {(2,): 1, (3,): 1}
    assert peer.rows(moved.address, "FROM t").counts == {(2,): 1, (3,): 1}
    assert not (tmp_path / "old").exists()


def test_statistics_let_duckdb_answer_right(lake: LakeSite, spark: SparkSession, peer: DuckDBPeer) -> None:
    """DuckDB trusts statistics blindly: wrong ones would show in filters, minima and orders."""
    with lake.connect(spark) as db:
        db.sql("CREATE TABLE t (i INT, s STRING, d DOUBLE, n DECIMAL(18, 4), z TIMESTAMP)")
        db.sql(
            "INSERT INTO t SELECT id - 500, CASE WHEN id % 7 = 0 THEN NULL ELSE concat('ß', id) END, "
            "CASE WHEN id = 3 THEN CAST('NaN' AS DOUBLE) ELSE id / 3 END, -id, "
            "TIMESTAMP '1969-12-31 23:00:00+00:00' + make_interval(0, 0, 0, 0, id) FROM range(1000)"
        )
        db.sql("DELETE FROM t WHERE i IN (-500, 499)")
        db.sql("UPDATE t SET d = CAST('-Infinity' AS DOUBLE), s = '' WHERE i = 0")
        db.sql("INSERT INTO t VALUES (100000, repeat('z', 500), CAST('Infinity' AS DOUBLE), 99999999999999.9999, NULL)")
        for query in (
            "SELECT min(i), max(i), min(d), max(d), min(n), max(n), count(s) FROM t",
            "SELECT count(*) FROM t WHERE i > 498",
            "SELECT count(*) FROM t WHERE d > 1000",
            "SELECT count(*) FROM t WHERE s > 'zz'",
            "SELECT count(*) FROM t WHERE s IS NULL",
            "SELECT count(*) FROM t WHERE n = -3",
            "SELECT count(*) FROM t WHERE s = ''",
        ):
            assert peer.rows(lake.address, query).counts == rows_of(db.sql(query).toArrow()).counts, query

"""INSERT, UPDATE, DELETE, MERGE, TRUNCATE and append: what they make of rows, on every catalog."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite
from trickle.testing.smoke import rows

pytestmark = pytest.mark.spark


@pytest.fixture
def shop(db: trickle.Session) -> trickle.Session:
    db.sql("CREATE TABLE item (id INT, name STRING, price DECIMAL(9, 2))")
    db.sql("CREATE TABLE sale (item INT, n INT)")
    db.sql("INSERT INTO item VALUES (1, 'a', 1.50), (2, 'b', 2.00), (3, NULL, NULL), (3, NULL, NULL)")
    db.sql("INSERT INTO sale VALUES (1, 10), (1, 5), (2, 7), (NULL, 1)")
    return db


def items(db: trickle.Session) -> Counter[tuple[object, ...]]:
    return rows(db.sql("SELECT id, name FROM item"))


def test_insert_casts_as_it_stores(shop: trickle.Session) -> None:
    shop.sql("INSERT INTO item SELECT CAST(id AS BIGINT), concat('n', id), 3 FROM range(4, 5)")
    assert rows(shop.sql("SELECT * FROM item WHERE id = 4")) == {(4, "n4", Decimal("3.00")): 1}


def test_insert_matches_columns_by_position_or_by_the_names_given(shop: trickle.Session) -> None:
    shop.sql("INSERT INTO sale (n, item) VALUES (99, 9)")
    assert rows(shop.sql("SELECT item, n FROM sale WHERE n = 99")) == {(9, 99): 1}


def test_a_table_can_be_inserted_into_itself(shop: trickle.Session) -> None:
    shop.sql("INSERT INTO sale SELECT * FROM sale")
    assert rows(shop.table("sale")) == {(1, 10): 2, (1, 5): 2, (2, 7): 2, (None, 1): 2}


def test_update_sees_old_values_on_every_right_hand_side(shop: trickle.Session) -> None:
    shop.sql("UPDATE sale SET item = n, n = item WHERE item = 1")
    assert rows(shop.table("sale")) == {(10, 1): 1, (5, 1): 1, (2, 7): 1, (None, 1): 1}


def test_update_and_delete_take_subqueries(shop: trickle.Session) -> None:
    shop.sql("UPDATE item AS i SET name = (SELECT CAST(sum(n) AS STRING) FROM sale WHERE sale.item = i.id)")
    assert items(shop) == {(1, "15"): 1, (2, "7"): 1, (3, None): 2}
    shop.sql("DELETE FROM item WHERE id IN (SELECT item FROM sale WHERE n = 7)")
    shop.sql("DELETE FROM item AS i WHERE NOT EXISTS (SELECT 1 FROM sale AS s WHERE s.item = i.id)")
    assert items(shop) == {(1, "15"): 1}


def test_delete_takes_no_row_whose_predicate_is_null(shop: trickle.Session) -> None:
    shop.sql("DELETE FROM item WHERE name <> 'a'")
    assert items(shop) == {(1, "a"): 1, (3, None): 2}
    shop.sql("DELETE FROM item WHERE id NOT IN (SELECT item FROM sale)")
    assert items(shop) == {(1, "a"): 1, (3, None): 2}


def test_twins_are_deleted_together_and_stay_together(shop: trickle.Session) -> None:
    shop.sql("UPDATE item SET name = 'twin' WHERE name IS NULL")
    assert items(shop)[(3, "twin")] == 2
    shop.sql("DELETE FROM item WHERE id = 3")
    assert items(shop) == {(1, "a"): 1, (2, "b"): 1}


def test_statements_that_touch_nothing_commit_nothing(shop: trickle.Session) -> None:
    head = shop.head()
    shop.sql("DELETE FROM item WHERE id = 4711")
    shop.sql("UPDATE item SET name = 'x' WHERE FALSE")
    shop.sql("INSERT INTO item SELECT * FROM item WHERE FALSE")
    shop.append("item", pa.table({"id": pa.array([], pa.int32())}))
    assert shop.head() == head


def test_truncate_and_delete_all_leave_an_empty_table_that_takes_rows(shop: trickle.Session) -> None:
    shop.sql("TRUNCATE TABLE item")
    assert items(shop) == {}
    shop.sql("DELETE FROM sale")
    assert rows(shop.table("sale")) == {}
    shop.sql("INSERT INTO item VALUES (7, 'new', NULL)")
    assert items(shop) == {(7, "new"): 1}


def test_merge_takes_the_first_clause_that_applies(shop: trickle.Session) -> None:
    shop.sql(
        """
        MERGE INTO item AS t
        USING (VALUES (1, 'one'), (2, 'two'), (8, 'eight'), (9, 'nine')) AS s(id, name) ON t.id = s.id
        WHEN MATCHED AND s.id = 1 THEN UPDATE SET name = s.name, price = t.price * 2
        WHEN MATCHED THEN DELETE
        WHEN NOT MATCHED AND s.id = 8 THEN INSERT (id, name) VALUES (s.id, upper(s.name))
        WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)
        WHEN NOT MATCHED BY SOURCE AND t.id = 3 THEN UPDATE SET name = 'lonely'
        WHEN NOT MATCHED BY SOURCE THEN DELETE
        """
    )
    assert rows(shop.table("item")) == {
        (1, "one", Decimal("3.00")): 1,
        (8, "EIGHT", None): 1,
        (9, None, None): 1,
        (3, "lonely", None): 2,
    }


def test_merge_knows_stars_and_tables_as_sources(shop: trickle.Session) -> None:
    shop.sql("CREATE TABLE news (id INT, name STRING, price DECIMAL(9, 2))")
    shop.sql("INSERT INTO news VALUES (1, 'A', 9), (5, 'E', 5)")
    shop.sql(
        "MERGE INTO item USING news ON item.id = news.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert items(shop) == {(1, "A"): 1, (2, "b"): 1, (3, None): 2, (5, "E"): 1}


def test_a_null_key_matches_nothing(shop: trickle.Session) -> None:
    shop.sql(
        "MERGE INTO sale AS t USING (SELECT CAST(NULL AS INT) AS item, 50 AS n) AS s ON t.item = s.item "
        "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (item, n) VALUES (s.item, s.n)"
    )
    assert rows(shop.table("sale"))[(None, 50)] == 1
    assert rows(shop.table("sale"))[(None, 1)] == 1


def test_append_takes_every_carrier(shop: trickle.Session, spark: SparkSession) -> None:
    shop.append("sale", [{"item": 20, "n": 1}, {"n": 2, "item": None}])
    shop.append("sale", pd.DataFrame({"n": [3], "item": [21]}))
    shop.append("sale", pa.table({"item": pa.array([22], pa.int64()), "n": pa.array([4], pa.int8())}))
    shop.append("sale", spark.createDataFrame(pa.table({"item": [23], "n": [5]})))
    assert rows(shop.sql("SELECT * FROM sale WHERE item >= 20 OR n = 2")) == {
        (20, 1): 1,
        (None, 2): 1,
        (21, 3): 1,
        (22, 4): 1,
        (23, 5): 1,
    }


def test_an_empty_piece_of_an_arrow_table_hides_nothing(lake_sqlite: LakeSite, spark: SparkSession) -> None:
    """Spark 4.3 forgets the rows behind one."""
    pieces = [pa.table({"n": pa.array(values, pa.int64())}) for values in ([1, 2], [], [3], [])]
    with lake_sqlite.connect(spark, lake__small_write_rows=0) as db:
        db.sql("CREATE TABLE t (n BIGINT)")
        db.append("t", pa.concat_tables(pieces))
        assert rows(db.table("t")) == {(1,): 1, (2,): 1, (3,): 1}


def test_append_leaves_absent_columns_to_their_defaults(db: trickle.Session) -> None:
    db.sql("CREATE TABLE t (a INT, b STRING DEFAULT 'd', c DOUBLE)")
    db.append("t", [{"a": 1}])
    db.append("t", pd.DataFrame({"a": [2], "c": [0.5]}))
    assert rows(db.table("t")) == {(1, "d", None): 1, (2, "d", 0.5): 1}


def test_moments_keep_their_microsecond_in_every_carrier(db: trickle.Session) -> None:
    moment = datetime(2024, 3, 31, 1, 30, 0, 123456, tzinfo=UTC)
    db.sql("CREATE TABLE t (z TIMESTAMP, n TIMESTAMP_NTZ)")
    db.append("t", [{"z": moment, "n": moment.replace(tzinfo=None)}])
    db.append("t", pd.DataFrame({"z": [pd.Timestamp(moment)], "n": [pd.Timestamp(moment.replace(tzinfo=None))]}))
    db.sql(
        "INSERT INTO t VALUES (TIMESTAMP '2024-03-31 03:30:00.123456+02:00', "
        "TIMESTAMP_NTZ '2024-03-31 01:30:00.123456')"
    )
    assert rows(db.table("t")) == {(moment, moment.replace(tzinfo=None)): 3}


@pytest.mark.parametrize("small_rows", [0, 20_000])
def test_large_and_small_writes_are_the_same_to_the_reader(
    lake: LakeSite, spark: SparkSession, small_rows: int
) -> None:
    with lake.connect(spark, lake__small_write_rows=small_rows) as db:
        db.sql("CREATE TABLE t (a BIGINT, s STRING, l ARRAY<STRUCT<x: INT>>, m MAP<STRING, DATE>)")
        db.append(
            "t",
            spark.sql(
                "SELECT id AS a, 's' AS s, array(named_struct('x', 1)) AS l, "
                "map('k', DATE '2024-01-01') AS m FROM range(1000)"
            ),
        )
        db.sql("UPDATE t SET s = 'u' WHERE a % 10 = 0")
        db.sql("DELETE FROM t WHERE a % 10 = 1")
        counts = db.sql("SELECT s, count(*), sum(a), count(l[0].x), count(m['k']) FROM t GROUP BY s")
        assert rows(counts) == {("u", 100, 49500, 100, 100): 1, ("s", 800, 400400, 800, 800): 1}


def test_a_column_takes_the_values_of_another_in_more_rows_than_the_driver_holds(
    lake_sqlite: LakeSite, spark: SparkSession
) -> None:
    """Data files number their columns: rows that are set down on the way must not be told apart by that."""
    with lake_sqlite.connect(spark, lake__small_delete_rows=10, lake__driver_read_mb=0) as db:
        db.sql("CREATE TABLE t AS SELECT id AS a, id * 2 AS b, named_struct('x', id, 'y', id) AS c FROM range(2000)")
        db.sql("CREATE TABLE s AS SELECT id AS a FROM range(2000)")
        db.sql("UPDATE t SET a = b, c = struct(b AS x, b AS y) WHERE b >= 1000")
        assert rows(db.sql("SELECT count_if(a = b), count_if(c.x = b AND c.y = b), sum(a) FROM t")) == {
            (1501, 1501, 499 * 250 + (1000 + 3998) * 750): 1  # 0 is its own double
        }
        db.sql("""MERGE INTO t USING s ON t.b = s.a WHEN MATCHED THEN UPDATE SET a = s.a
                  WHEN NOT MATCHED THEN INSERT (a, b) VALUES (s.a, s.a)""")
        assert rows(db.sql("SELECT count(*), count_if(a = b) FROM t")) == {(3000, 3000): 1}


@pytest.mark.parametrize("setting", ["lake.small_delete_rows", "lake.small_delete_files"])
def test_more_deletes_than_the_driver_holds_show_no_other_columns(
    setting: str, lake_sqlite: LakeSite, spark: SparkSession
) -> None:
    with lake_sqlite.connect(spark, **{setting.replace(".", "__"): 1}) as db:
        db.sql("CREATE TABLE t (id BIGINT, name STRING)")
        for start in (0, 100, 200):
            db.append("t", spark.sql(f"SELECT id, concat('n', id) AS name FROM range({start}, {start + 100}, 1, 1)"))
        db.sql("DELETE FROM t WHERE id < 200 AND id % 2 = 0")
        found = db.sql("SELECT * FROM t")
        assert found.columns == ["id", "name"]
        wanted = {(n, f"n{n}"): 1 for n in range(300) if n >= 200 or n % 2}
        assert rows(found) == wanted
        assert rows(db.table("t")) == wanted


def test_a_zero_is_found_whatever_its_sign(lake: LakeSite, spark: SparkSession, peer: DuckDBPeer) -> None:
    """Spark's reader of Parquet leaves out what a file's dictionary or Bloom filter does not hold bit by bit."""
    with lake.connect(spark) as db:
        db.sql("CREATE TABLE t (id INT, x DOUBLE, y FLOAT, s STRUCT<z: DOUBLE, t: STRUCT<u: FLOAT>>)")
        for zero in (-0.0, 0.0):
            s, t = {"z": zero, "t": {"u": zero}}, {"z": 1.5, "t": {"u": 2.5}}
            some = [{"id": n, "x": zero, "y": zero, "s": s} for n in range(300)]
            db.append("t", some + [{"id": n, "x": 1.5, "y": 2.5, "s": t} for n in range(300, 400)])
        filled = "SELECT i, -0.0, -0.0, {'z': -0.0, 't': {'u': -0.0}} FROM range(3000) r(i)"
        peer.run(lake.address, f"INSERT INTO t {filled}", "CALL ducklake_flush_inlined_data('lake')")
        for sought in ("x = 0", "x = -0.0D", "y = 0", "x IN (0, 7)", "s.z = 0", "s.t.u = 0"):
            assert db.sql(f"SELECT count(*) FROM t WHERE {sought}").first()[0] == 3600, sought
        assert db.sql("DELETE FROM t WHERE x = 0 AND id < 10").rows == 30

"""REFRESH: what it does, how much it writes, what it says."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import trickle
from trickle.errors import QueryError
from trickle.refresh import frames
from trickle.sql.names import Name
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

PER_CUSTOMER = "SELECT cust, count(*) AS n, sum(amount) AS amount FROM orders GROUP BY cust"


def test_without_a_change_nothing_is_committed_and_the_frontier_advances(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.change("INSERT INTO customers VALUES (3, 'east')")
    head = shop.db.head()
    result = shop.db.refresh_stream_table("per")
    assert (result.action, result.reason, result.data_snapshot) == ("NO_DATA", "", head)
    assert shop.db.head() == head
    assert shop.db.stream_table_status("per")[0].lag_seconds == 0


def test_a_full_refresh_writes_only_the_difference(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("over", "SELECT cust, amount FROM per WHERE n > 1")
    head = shop.db.head()
    result = shop.db.refresh_stream_table("per", full=True)
    assert (result.action, result.reason, result.rows_inserted, result.rows_deleted) == ("FULL", "requested", 0, 0)
    assert shop.db.head() == head, "the same rows: nothing to commit"
    shop.change("INSERT INTO orders VALUES (4, 2, 1)")
    result = shop.db.sql("REFRESH STREAM TABLE per FULL")
    assert (result.rows_inserted, result.rows_deleted) == (1, 1)
    behind = shop.refresh("over")
    assert (behind.rows_inserted, behind.rows_deleted) == (1, 1)
    assert shop.rows("over") == [(1, 30), (2, 11)]


def test_refresh_all_brings_every_table_to_one_data_snapshot(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("named", "SELECT c.region, p.n FROM per p JOIN customers c ON p.cust = c.id")
    shop.stream("regions", "SELECT region, sum(n) AS n FROM named GROUP BY region")
    shop.change("INSERT INTO orders VALUES (4, 2, 1)", "UPDATE customers SET region = 'west' WHERE id = 1")
    target = shop.db.head()
    results = shop.db.refresh_all()
    assert [r.name for r in results] == ["per", "named", "regions"]
    assert {r.action for r in results} == {"DIFFERENTIAL"}
    assert {r.data_snapshot for r in results} == {target}
    assert shop.rows("regions") == [("south", 3), ("west", 2)]
    assert {r.action for r in shop.db.refresh_all()} == {"NO_DATA"}


def test_a_reader_can_be_refreshed_up_to_what_its_sources_hold(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("named", "SELECT c.region, p.n FROM per p JOIN customers c ON p.cust = c.id")
    held = shop.db.stream_table_status("per")[0].data_snapshot
    shop.change("INSERT INTO orders VALUES (4, 2, 1)", "INSERT INTO customers VALUES (2, 'twice')")
    assert shop.db.refresh_stream_table("named", upstream=False).data_snapshot <= shop.db.head() - 1
    assert shop.db.stream_table_status("per")[0].data_snapshot == held
    assert shop.rows("named") == [("north", 2), ("south", 2)], "as consistent as its sources are"
    assert shop.refreshed("named") == [("north", 2), ("south", 3), ("twice", 3)]


def test_append_only_ends_with_the_first_row_that_goes(shop: Stage) -> None:
    shop.stream("copied", "SELECT o.id, c.region FROM orders o JOIN customers c ON o.cust = c.id", append_only=True)
    shop.stream("tops", "SELECT cust, max(amount) AS top, count(*) AS n FROM orders GROUP BY cust", append_only=True)
    shop.change(
        "INSERT INTO orders VALUES (4, 2, 50), (4, 2, 50), (5, 1, 1)", "INSERT INTO customers VALUES (2, 'twice')"
    )
    assert shop.refreshed("copied") == [
        *[(1, "north"), (2, "north"), (3, "south"), (3, "south"), (3, "twice"), (3, "twice")],
        *[(4, "south"), (4, "south"), (4, "twice"), (4, "twice"), (5, "north")],
    ]
    assert shop.refreshed("tops") == [(1, 20, 3), (2, 50, 4)]
    assert all(table.append_only for table in shop.db._streams.all())
    shop.change("UPDATE orders SET amount = 3 WHERE amount = 50", "DELETE FROM orders WHERE id = 3")
    for name in ("copied", "tops"):
        result = shop.db.refresh_stream_table(name)
        assert (result.action, result.reason) == ("DIFFERENTIAL", "append_only_ended"), name
    assert shop.rows("copied") == [
        *[(1, "north"), (2, "north"), (4, "south"), (4, "south"), (4, "twice"), (4, "twice"), (5, "north")]
    ]
    assert shop.rows("tops") == [(1, 20, 3), (2, 3, 2)]
    assert not any(table.append_only for table in shop.db._streams.all())
    shop.change("DELETE FROM orders WHERE id = 4")
    assert shop.refreshed("tops") == [(1, 20, 3)]

    # What was declared is as it was: saying it again is no change, saying it anew is.
    before = shop.db._streams.find(Name(None, "tops"))
    again = shop.db.create_or_replace_stream_table("tops", before.query, refresh_mode="DIFFERENTIAL", append_only=True)
    assert again.version == before.version and not again.append_only
    assert shop.db.alter_stream_table("tops", append_only=True).append_only


def test_auto_recomputes_when_most_of_the_source_changed(shop: Stage) -> None:
    shop.db.create_stream_table("per", PER_CUSTOMER)
    shop.change("UPDATE orders SET amount = amount + 1 WHERE true")
    result = shop.db.refresh_stream_table("per")
    assert (result.action, result.reason) == ("FULL", "change_ratio")
    assert shop.rows("per") == [(1, 2, 32), (2, 2, 12)]


def test_a_refresh_that_fails_leaves_nothing_and_the_next_goes_on(shop: Stage, lake: LakeSite) -> None:
    shop.stream("ratios", "SELECT id, 100 DIV amount AS ratio FROM orders")
    shop.stream(
        "strict", "SELECT id, CASE WHEN amount < 0 THEN raise_error('negative') ELSE amount END AS a FROM orders"
    )
    shop.change("INSERT INTO orders VALUES (6, 1, -1)")
    head, files = shop.db.head(), lake.files()
    with pytest.raises(QueryError, match="strict"):
        shop.db.refresh_stream_table("strict")
    assert (shop.db.head(), lake.files()) == (head, files)
    [status] = shop.db.stream_table_status("strict")
    assert (status.status, status.last_action) == ("ERROR", "SKIP")
    assert status.last_error is not None and "query_error" in status.last_error
    shop.db.sql("UPDATE orders SET amount = 1 WHERE amount < 0")
    assert shop.refreshed("strict") == [(1, 10), (2, 20), (3, 5), (3, 5), (6, 1)]
    assert shop.db.stream_table_status("strict")[0].status == "ACTIVE"
    assert shop.refreshed("ratios") == [(1, 10), (2, 5), (3, 20), (3, 20), (6, 100)]


NEAR = "DATE'2020-01-01', TIMESTAMP_NTZ'2020-01-01', 'a'"
FAR = "date_add(DATE'9999-12-31', 1), TIMESTAMP_NTZ'9999-12-31' + INTERVAL 2 DAYS, CAST(X'FF' AS STRING)"


def test_values_that_python_does_not_have_come_and_go(db: trickle.Session) -> None:
    flat = "SELECT f.id, f.day, f.at, f.name, d.note FROM facts f JOIN days d ON f.day = d.day"
    queries = {"flat": flat, "all": "SELECT day, at, name FROM facts"}
    db.sql("CREATE TABLE facts (id INT, day DATE, at TIMESTAMP_NTZ, name STRING)")
    db.sql("CREATE TABLE days (day DATE, note STRING)")
    for id, row in ((1, NEAR), (2, FAR)):
        db.sql(f"INSERT INTO facts SELECT {id}, {row}")
        db.sql(f"INSERT INTO days SELECT day, 'n{id}' FROM facts WHERE id = {id}")
    db.create_stream_table("flat", flat, refresh_mode="DIFFERENTIAL")
    db.create_stream_table("all", queries["all"], refresh_mode="FULL")
    db.sql("UPDATE days SET note = 'x'")
    assert db.refresh_stream_table("flat").rows_deleted == 2
    db.sql("DELETE FROM facts WHERE id = 2")
    for name, query in queries.items():
        assert db.refresh_stream_table(name).rows_deleted == 1
        left = db.sql(f"{query} EXCEPT ALL SELECT * FROM {name}").toArrow().num_rows
        assert (left, db.table(name).count()) == (0, 1)


FAN_OUT = {
    "flat": "SELECT o.id, o.amount, c.region FROM orders o JOIN customers c ON o.cust = c.id",
    "kept": "SELECT o.id, c.region, sum(o.amount) AS v FROM orders o JOIN customers c ON o.cust = c.id GROUP BY 1, 2",
}


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows came to the driver, each time."""
    numbers: list[int] = []

    def to_arrow(frame: DataFrame) -> pa.Table:
        found = frame.toArrow()
        numbers.append(found.num_rows)
        return found

    monkeypatch.setattr(frames, "to_arrow", to_arrow)
    return numbers


def fanned_out(db: trickle.Session) -> Stage:
    db.sql("CREATE TABLE customers AS SELECT CAST(id AS INT) AS id, 'north' AS region FROM range(2)")
    db.sql("CREATE TABLE orders AS SELECT id, CAST(id % 2 AS INT) AS cust, 1 AS amount FROM range(1000)")
    return Stage(db)


def test_what_a_join_makes_of_a_small_change_is_written_by_spark_if_it_is_large(
    lake: LakeSite, quick: SparkSession, collected: list[int]
) -> None:
    with lake.connect(quick, refresh__small_result_rows=100) as db:
        stage = fanned_out(db)
        for name, query in FAN_OUT.items():
            stage.stream(name, query)
        db.sql("UPDATE customers SET region = 'south' WHERE id = 1")
        for name, query in FAN_OUT.items():
            collected.clear()
            assert stage.refresh(name).rows_inserted == 500
            assert collected == [101]
            stage.agrees(name, query)


def test_columns_of_one_origin_or_of_one_number_in_their_tables_are_told_apart_in_large_changes(
    lake: LakeSite, quick: SparkSession
) -> None:
    """Data files number their columns; what Spark sets down on the way has the numbers of several tables."""
    queries = {
        "ids": "SELECT o.id, o.id AS again, c.id AS customer, c.region FROM orders o JOIN customers c ON o.cust = c.id",
        "inner": """SELECT o.id, struct(o.id AS a, c.id AS b) AS pair, array(struct(c.id AS c, o.cust AS d)) AS list,
                    c.region FROM orders o JOIN customers c ON o.cust = c.id""",
        "ranked": "SELECT id, rank() OVER (PARTITION BY cust ORDER BY id) AS place, cust FROM orders",
    }
    with lake.connect(quick, refresh__small_result_rows=100, lake__driver_read_mb=0) as db:
        stage = fanned_out(db)
        for name, query in queries.items():
            stage.stream(name, query)
        db.sql("UPDATE customers SET region = 'south' WHERE id = 1")
        db.sql("DELETE FROM orders WHERE id < 3")
        for name, query in queries.items():
            assert stage.refresh(name).rows_inserted > 100
            stage.agrees(name, query)
        db.sql("UPDATE orders SET amount = 2, cust = 1 - cust")
        for name, query in queries.items():
            assert stage.refresh(name).rows_inserted > 100
            stage.agrees(name, query)


def test_what_was_too_large_for_the_driver_is_not_brought_there_again_until_it_is_little(
    lake: LakeSite, quick: SparkSession, collected: list[int]
) -> None:
    with lake.connect(quick, refresh__small_result_rows=100, refresh__standing_plans=False) as db:
        stage = fanned_out(db)
        stage.stream("flat", FAN_OUT["flat"])
        seen = []
        for id, region in ((1, "south"), (1, "west"), (2, "east"), (2, "far"), (2, "near")):
            db.sql(
                f"MERGE INTO customers c USING (SELECT {id} AS id) s ON c.id = s.id "
                f"WHEN MATCHED THEN UPDATE SET region = '{region}' "
                f"WHEN NOT MATCHED THEN INSERT (id, region) VALUES ({id}, '{region}')"
            )
            collected.clear()
            stage.refresh("flat")
            seen.append(list(collected))
            stage.agrees("flat", FAN_OUT["flat"])
        assert seen == [[101], [], [0], [], [0]]  # one row came, then two in place of two

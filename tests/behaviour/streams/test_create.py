"""CREATE STREAM TABLE: what it makes, what it leaves alone, what it refuses without a trace."""

from __future__ import annotations

import pytest

from trickle.errors import AlreadyExists, ConfigError, NotFound, NotIncremental, QueryError
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

PER_CUSTOMER = "SELECT cust, count(*) AS n, sum(amount) AS amount FROM orders GROUP BY cust"


def test_a_stream_table_is_filled_published_and_known(shop: Stage, lake: LakeSite, peer: DuckDBPeer) -> None:
    before = shop.db.head()
    shop.db.sql(f"CREATE STREAM TABLE per WITH (refresh_mode = 'DIFFERENTIAL') AS {PER_CUSTOMER}")
    assert shop.db.head() == before + 1
    assert shop.rows("per") == [(1, 2, 30), (2, 2, 10)]
    assert peer.rows(lake.address, "FROM per").names == ("cust", "n", "amount")
    assert peer.rows(lake.address, "FROM per").counts == {(1, 2, 30): 1, (2, 2, 10): 1}
    [status] = shop.db.stream_table_status("per")
    assert (status.status, status.refresh_mode, status.data_snapshot, status.snapshot) == (
        "ACTIVE",
        "DIFFERENTIAL",
        before,
        before + 1,
    )


def test_if_not_exists_leaves_what_is_there(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    head = shop.db.head()
    shop.db.create_stream_table_if_not_exists("per", "SELECT id FROM customers")
    shop.db.sql("CREATE STREAM TABLE IF NOT EXISTS PER AS SELECT id FROM customers")
    assert shop.db.head() == head
    assert shop.db.table("per").columns == ["cust", "n", "amount"]


def test_or_replace_does_the_least_that_is_needed(shop: Stage) -> None:
    shop.db.create_or_replace_stream_table("per", PER_CUSTOMER)
    head = shop.db.head()
    shop.db.create_or_replace_stream_table("per", PER_CUSTOMER.replace(" FROM", "\n  FROM") + ";")
    assert shop.db.head() == head, "the same query: nothing to do"
    shop.db.create_or_replace_stream_table("per", PER_CUSTOMER, refresh_mode="DIFFERENTIAL")
    assert shop.db.head() == head, "only settings: nothing is written"
    assert shop.db.stream_table_status("per")[0].refresh_mode == "DIFFERENTIAL"
    kept = f"{PER_CUSTOMER} HAVING true AND cust = 1"
    shop.db.create_or_replace_stream_table("per", PER_CUSTOMER.replace("sum(", "max("))
    assert shop.db.stream_table_status("per")[0].refresh_mode == "AUTO", "what is not said is the default"
    assert shop.rows("per") == [(1, 2, 20), (2, 2, 5)]
    shop.db.create_or_replace_stream_table("per", kept)
    assert shop.rows("per") == [(1, 2, 30)]
    shop.db.create_or_replace_stream_table("per", "SELECT region FROM customers", refresh_mode="DIFFERENTIAL")
    assert shop.rows("per") == [("north",), ("south",)]
    assert {h.reason for h in shop.db.refresh_history("per")} == {"initial_load", "query_changed"}
    shop.change("INSERT INTO customers VALUES (3, 'east')")
    assert shop.refreshed("per") == [("east",), ("north",), ("south",)]


def test_without_initialize_it_waits_for_its_first_refresh(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER, initialize=False)
    assert shop.rows("per") == []
    assert shop.db.table("per").columns == ["cust", "n", "amount"]
    assert shop.db.stream_table_status("per")[0].status == "UNPOPULATED"
    shop.stream("over", "SELECT n FROM per", initialize=False)
    with pytest.raises(QueryError, match="not filled yet"):
        shop.db.refresh_stream_table("over", upstream=False)
    result = shop.db.refresh_stream_table("over")
    assert (result.action, result.reason, result.rows_inserted) == ("FULL", "initial_load", 2)
    assert shop.rows("per") == [(1, 2, 30), (2, 2, 10)]
    shop.change("DELETE FROM orders WHERE cust = 2")
    assert shop.refreshed("over") == [(2,)]


def test_a_stream_table_over_empty_tables_is_empty_until_rows_come(shop: Stage) -> None:
    shop.change("CREATE TABLE nothing (k INT, x INT)")
    shop.stream("none", "SELECT k, max(x) AS x FROM nothing GROUP BY k")
    shop.stream("zero", "SELECT count(*) AS n, sum(x) AS x FROM nothing")
    assert (shop.rows("none"), shop.rows("zero")) == ([], [(0, None)])
    shop.change("INSERT INTO nothing VALUES (1, 2)")
    assert (shop.refreshed("none"), shop.refreshed("zero")) == ([(1, 2)], [(1, 2)])


def test_what_cannot_be_created_leaves_nothing_behind(shop: Stage, lake: LakeSite) -> None:
    shop.db.sql("CREATE TABLE taken (a INT)")
    head, files = shop.db.head(), lake.files()
    with pytest.raises(AlreadyExists, match="taken"):
        shop.stream("taken", PER_CUSTOMER)
    with pytest.raises(NotFound, match="nowhere"):
        shop.stream("a", "SELECT * FROM nowhere")
    with pytest.raises(QueryError, match="colour"):
        shop.stream("b", "SELECT colour FROM orders")
    with pytest.raises(NotIncremental, match="current_timestamp"):
        shop.stream("c", "SELECT id, current_timestamp() AS now FROM orders")
    with pytest.raises(QueryError, match="reserved"):
        shop.stream("d", "SELECT id AS __trickle_count FROM orders")
    with pytest.raises(ConfigError, match="refresh_mood"):
        shop.stream("e", PER_CUSTOMER, refresh_mood="AUTO")
    with pytest.raises(ConfigError, match="append_only"):
        shop.stream("f", PER_CUSTOMER, refresh_mode="IMMEDIATE", append_only=True)
    with pytest.raises(QueryError, match="spark could not run it"):
        shop.stream("g", "SELECT CASE WHEN id > 0 THEN raise_error('no') ELSE id END AS x FROM orders")
    assert shop.db.stream_tables() == []
    assert {table.schema for table in shop.db.tables()} == {"main"}
    assert (shop.db.head(), lake.files()) == (head, files)


def test_auto_keeps_a_query_without_a_differential_form_by_full_refreshes(shop: Stage) -> None:
    shop.db.create_stream_table("lucky", "SELECT id, rand() >= 0 AS yes FROM orders WHERE id < 3")
    assert shop.db.stream_table_status("lucky")[0].effective_mode == "FULL"
    shop.change("INSERT INTO orders VALUES (0, 9, 9)")
    result = shop.db.refresh_stream_table("lucky")
    assert result.action == "FULL"
    assert result.reason.startswith("not_incremental:rand")
    assert shop.rows("lucky") == [(0, True), (1, True), (2, True)]


@pytest.mark.parametrize("mode", ["DIFFERENTIAL", "FULL", "AUTO", "IMMEDIATE"])
def test_sql_that_spark_does_not_know_is_kept_in_every_mode(shop: Stage, mode: str) -> None:
    largest = "SELECT id, amount FROM orders WHERE amount >= ALL (SELECT amount FROM orders)"
    [said] = shop.db.validate_query(largest)
    assert (said.valid, said.effective_mode, said.columns) == (True, "DIFFERENTIAL", ("id int", "amount int"))
    shop.stream("largest", largest, refresh_mode=mode)
    first = "SELECT DISTINCT ON (cust) cust, id FROM orders ORDER BY cust, amount DESC"
    shop.stream("firsts", first, refresh_mode=mode, dialect="postgres")
    assert (shop.rows("largest"), shop.rows("firsts")) == ([(2, 20)], [(1, 2), (2, 3)])
    shop.change("INSERT INTO orders VALUES (4, 2, 30)", "DELETE FROM orders WHERE id = 2")
    for name in ("largest", "firsts"):
        shop.db.refresh_stream_table(name)
    assert (shop.rows("largest"), shop.rows("firsts")) == ([(4, 30)], [(1, 1), (2, 4)])

"""What can be asked about stream tables, as methods and through SQL."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from trickle.errors import NotFound, QueryError
from trickle.registry.models import Dependency
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

PER_CUSTOMER = "SELECT cust, count(*) AS n FROM orders GROUP BY cust"


def test_history_tells_every_refresh_newest_first(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.change("INSERT INTO orders VALUES (4, 2, 1), (5, 3, 1)")
    result = shop.refresh("per")
    shop.db.refresh_stream_table("per")
    nothing, small, first = shop.db.refresh_history("per")
    assert [(h.action, h.reason) for h in (nothing, small, first)] == [
        ("NO_DATA", ""),
        ("DIFFERENTIAL", ""),
        ("FULL", "initial_load"),
    ]
    assert (small.rows_inserted, small.rows_deleted) == (2, 1) == (result.rows_inserted, result.rows_deleted)
    assert (small.data_snapshot, small.snapshot) == (result.data_snapshot, result.snapshot)
    assert first.started_at <= first.finished_at <= small.started_at
    assert (small.initiated_by, small.error) == ("user", None)
    assert [h.action for h in shop.db.refresh_history("per", limit=1)] == ["NO_DATA"]
    with pytest.raises(NotFound, match="nobody"):
        shop.db.refresh_history("nobody")


def test_the_registry_can_be_read_with_sql(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("named", "SELECT c.region, p.n FROM per p JOIN customers c ON p.cust = c.id")
    [table] = shop.db.sql("SELECT name, refresh_mode, status FROM trickle.stream_tables WHERE name = 'per'").collect()
    assert tuple(table) == ("per", "DIFFERENTIAL", "ACTIVE")
    sources = shop.db.sql("SELECT name, source, columns FROM trickle.dependencies ORDER BY 1, 2").collect()
    assert [tuple(row) for row in sources] == [
        ("named", "main.customers", ["id", "region"]),
        ("named", "trickle.per", ["cust", "n"]),
        ("per", "main.orders", ["cust"]),
    ]
    [done] = shop.db.sql("SELECT count(*) AS n FROM trickle.refresh_history WHERE reason = 'initial_load'").collect()
    assert done.n == 2
    joined = """SELECT s.name, s.data_snapshot, h.rows_inserted FROM trickle.stream_table_status() s
                JOIN trickle.refresh_history h ON h.name = s.name AND h.reason = 'initial_load'
                WHERE s.name = 'per'"""
    assert [r.rows_inserted for r in shop.db.sql(joined).collect()] == [2]


def test_facts_have_their_columns_where_there_are_none(shop: Stage) -> None:
    assert shop.db.sql("SELECT name, remedy FROM trickle.diagnose_errors()").collect() == []
    assert shop.db.sql("SELECT count(*) AS n FROM trickle.refresh_history WHERE rows_inserted > 0").collect()[0].n == 0
    shop.db.create_stream_table("per", PER_CUSTOMER, initialize=False)
    status = shop.db.sql("SELECT data_snapshot, last_refresh_at, lag_seconds FROM trickle.stream_table_status()")
    assert [kind for _, kind in status.dtypes] == ["bigint", "timestamp", "double"]
    assert tuple(status.collect()[0]) == (None, None, None)


def test_every_step_of_a_life_can_be_said_in_sql(shop: Stage) -> None:
    shop.db.sql(
        f"CREATE MATERIALIZED VIEW per WITH (trickle.stream = true, refresh_mode = 'DIFFERENTIAL') AS {PER_CUSTOMER}"
    )
    shop.change("DELETE FROM orders WHERE cust = 2")
    result = shop.db.sql("REFRESH MATERIALIZED VIEW per")
    assert (result.action, shop.rows("per")) == ("DIFFERENTIAL", [(1, 2)])
    shop.db.sql("CALL trickle.alter_stream_table('per', refresh_mode => 'AUTO')")
    shop.change("INSERT INTO orders VALUES (9, 9, 9)")
    [row] = shop.db.sql("SELECT * FROM trickle.refresh_stream_table(name => 'per', full => true)").collect()
    assert (row.action, row.reason, row.rows_inserted) == ("FULL", "requested", 1)
    shop.db.sql("ALTER STREAM TABLE per SUSPEND")
    assert shop.db.stream_table_status("per")[0].status == "SUSPENDED"
    shop.db.sql("ALTER STREAM TABLE per RESUME")
    shop.db.sql("DROP MATERIALIZED VIEW per")
    assert shop.db.stream_tables() == []
    with pytest.raises(NotFound, match="no_such_thing"):
        shop.db.sql("CALL trickle.no_such_thing()")
    with pytest.raises(QueryError, match="called wrongly"):
        shop.db.sql("CALL trickle.refresh_stream_table(nome => 'per')")


def test_a_stream_tables_past_can_be_read(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    first = shop.db.head()
    shop.change("DELETE FROM orders WHERE cust = 2", "INSERT INTO orders VALUES (4, 1, 1)")
    shop.refresh("per")
    assert sorted(map(tuple, shop.db.table("per", at=first).collect())) == [(1, 2), (2, 2)]
    changes = sorted(map(tuple, shop.db.changes("per", first).collect()))
    assert changes == [(1, 2, -1), (1, 3, 1), (2, 2, -1)]


def test_the_status_of_a_thousand_is_read_in_one_pass(shop: Stage) -> None:
    """A chain of them: whoever asked each for what is below it would ask half a million times."""
    shop.stream("per", PER_CUSTOMER)
    streams = shop.db._streams
    [first] = streams.all()
    with shop.db.lake.catalog.writing() as connection:
        for n in range(999):
            read = (
                (*first.dependencies, Dependency(f"trickle.s{n - 1}", 10_000 + n, (), "")) if n else first.dependencies
            )
            one = replace(first, name=f"s{n}", stored_name=f"s{n}", dependencies=read)
            streams.registry.add(connection, one)
    assert {s.lag_seconds for s in shop.db.stream_table_status()} == {0.0}
    shop.change("INSERT INTO orders VALUES (4, 2, 1)")
    began = time.thread_time()
    found = shop.db.stream_table_status()
    took = time.thread_time() - began
    print(f"status of 1,000 stream tables: {took * 1000:.0f} ms")
    assert len(found) == 1000 and all(s.lag_seconds > 0 for s in found)
    assert shop.db.stream_table_status("s998")[0].lag_seconds > 0
    assert took < 1.0

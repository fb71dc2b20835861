"""Sources change under a stream table: definitions, views, maintenance, other clients."""

from __future__ import annotations

import pytest

from trickle.errors import DependentsExist, SchemaChanged
from trickle.refresh.compile import Compiled
from trickle.sql.names import Name
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

PER_CUSTOMER = "SELECT cust, count(*) AS n, sum(amount) AS amount FROM orders GROUP BY cust"


def test_harmless_changes_of_a_source_pass(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.db.sql("ALTER TABLE orders ADD COLUMN note STRING")
    shop.db.sql("ALTER TABLE orders DROP COLUMN id")
    shop.db.sql("CREATE TABLE unrelated (a INT)")
    shop.db.sql("CREATE VIEW aside AS SELECT a FROM unrelated")
    shop.change("INSERT INTO orders VALUES (2, 5, 'new')")
    assert shop.refreshed("per") == [(1, 2, 30), (2, 3, 15)]


def test_a_query_is_understood_anew_only_if_the_change_concerns_it(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("above", "SELECT cust FROM per WHERE n > 1")
    streams = shop.db._streams

    def compiled(name: str) -> Compiled:
        return streams.refresher.compiled(streams.find(Name(None, name)), streams.lake.head())

    before = compiled("per"), compiled("above")
    shop.db.sql("CREATE TABLE unrelated (a INT)")
    shop.db.create_stream_table("aside", "SELECT a FROM unrelated")
    assert all(now is then for now, then in zip((compiled("per"), compiled("above")), before, strict=True))
    shop.db.sql("ALTER TABLE orders ADD COLUMN note STRING")
    assert compiled("per") is not before[0] and compiled("above") is before[1]
    assert compiled("per").tables["orders"].column("note") is not None


def test_a_change_that_would_alter_the_meaning_is_blocked(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("wide", "SELECT * FROM customers")
    head = shop.db.head()
    for statement, reader in (
        ("ALTER TABLE orders DROP COLUMN amount", "per"),
        ("ALTER TABLE orders RENAME COLUMN amount TO total", "per"),
        ("ALTER TABLE orders RENAME TO bestellungen", "per"),
        ("ALTER TABLE orders ALTER COLUMN amount TYPE BIGINT", "per"),
        ("ALTER TABLE customers ADD COLUMN vip BOOLEAN", "wide"),
    ):
        with pytest.raises(DependentsExist) as refused:
            shop.db.sql(statement)
        assert refused.value.detail.startswith(f"{reader}: "), statement
    assert shop.db.head() == head


def test_adapt_follows_a_source_and_names_the_reason(shop: Stage) -> None:
    shop.stream("wide", "SELECT * FROM customers", source_ddl="adapt")
    shop.stream("sums", PER_CUSTOMER, source_ddl="adapt")
    shop.db.sql("ALTER TABLE customers ADD COLUMN vip BOOLEAN")
    shop.db.sql("ALTER TABLE orders ALTER COLUMN cust TYPE BIGINT")
    shop.change("INSERT INTO customers VALUES (3, 'east', true)", "INSERT INTO orders VALUES (9, 5000000000, 1)")
    result = shop.db.refresh_stream_table("wide")
    assert (result.action, result.reason) == ("REINITIALIZE", "source_schema_changed")
    assert shop.db.table("wide").columns == ["id", "region", "vip"]
    assert shop.rows("wide") == [(1, "north", None), (2, "south", None), (3, "east", True)]
    assert shop.db.refresh_stream_table("sums").reason == "source_schema_changed"
    shop.agrees("sums", PER_CUSTOMER)
    shop.change("DELETE FROM orders WHERE cust = 1")
    assert shop.refreshed("sums") == [(2, 2, 10), (5000000000, 1, 1)]


def test_adapt_to_what_the_query_needs_fails_until_it_is_back(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER, source_ddl="adapt")
    shop.db.sql("ALTER TABLE orders RENAME COLUMN amount TO total")
    with pytest.raises(SchemaChanged, match="per"):
        shop.db.refresh_stream_table("per")
    [status] = shop.db.stream_table_status("per")
    assert status.status == "ERROR"
    assert "amount" in shop.db.refresh_history("per")[0].error
    assert shop.rows("per") == [(1, 2, 30), (2, 2, 10)], "what was there stays readable"
    shop.db.sql("ALTER TABLE orders RENAME COLUMN total TO amount")
    shop.change("INSERT INTO orders VALUES (4, 2, 1)")
    shop.db.refresh_stream_table("per")
    assert shop.rows("per") == [(1, 2, 30), (2, 3, 11)]
    assert shop.db.stream_table_status("per")[0].status == "ACTIVE"


def test_a_view_in_between_is_guarded_like_a_table(shop: Stage) -> None:
    shop.db.sql("CREATE VIEW large AS SELECT cust, amount FROM orders WHERE amount >= 10")
    shop.stream("seen", "SELECT cust, count(*) AS n FROM large GROUP BY cust")
    with pytest.raises(DependentsExist, match="depend"):
        shop.db.sql("CREATE OR REPLACE VIEW large AS SELECT cust, amount FROM orders")
    with pytest.raises(DependentsExist, match="depend"):
        shop.db.sql("DROP VIEW large")
    shop.db.alter_stream_table("seen", source_ddl="adapt")
    shop.db.sql("CREATE OR REPLACE VIEW large AS SELECT cust, amount FROM orders WHERE amount < 10")
    assert shop.db.refresh_stream_table("seen").reason == "source_schema_changed"
    assert shop.rows("seen") == [(2, 2)]


def test_another_clients_changes_count_like_our_own(shop: Stage, lake: LakeSite, peer: DuckDBPeer) -> None:
    shop.stream("per", PER_CUSTOMER)
    peer.run(
        lake.address,
        "BEGIN",
        "DELETE FROM orders WHERE id = 1",
        "INSERT INTO orders VALUES (7, 2, 100), (8, NULL, NULL)",
        "UPDATE orders SET amount = 6 WHERE id = 3",
        "COMMIT",
    )
    assert shop.refreshed("per") == [(1, 1, 20), (2, 3, 112), (None, 1, None)]


def test_a_source_made_anew_by_another_client_starts_the_table_anew(
    shop: Stage, lake: LakeSite, peer: DuckDBPeer
) -> None:
    shop.stream("per", PER_CUSTOMER)
    peer.run(
        lake.address,
        "DROP TABLE orders",
        "CREATE TABLE orders (cust INT, amount INT)",
        "INSERT INTO orders VALUES (5, 50)",
    )
    result = shop.db.refresh_stream_table("per")
    assert (result.action, result.reason) == ("REINITIALIZE", "source_schema_changed")
    assert shop.rows("per") == [(5, 1, 50)]
    shop.change("INSERT INTO orders VALUES (5, 1)")
    assert shop.refreshed("per") == [(5, 2, 51)]


def test_maintenance_of_files_is_no_change(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.change("INSERT INTO orders VALUES (4, 3, 1)")
    shop.change("DELETE FROM orders WHERE id = 3")
    shop.db.rewrite_deletes(threshold=0.0)
    shop.db.merge_files()
    assert shop.refreshed("per") == [(1, 2, 30), (3, 1, 1)]
    shop.db.rewrite_deletes(threshold=0.0)
    shop.db.merge_files()
    shop.db.clean_files(grace_seconds=0)
    assert shop.db.refresh_stream_table("per").action == "NO_DATA"
    shop.change("UPDATE orders SET cust = 1 WHERE cust = 3")
    assert shop.refreshed("per") == [(1, 3, 31)]


def test_snapshots_that_a_frontier_needs_do_not_expire(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("over", "SELECT n FROM per")
    for n in range(3):
        shop.change(f"INSERT INTO orders VALUES (1{n}, {n}, 1)")
    shop.db.expire_snapshots(keep=1)
    shop.db.clean_files(grace_seconds=0)
    assert shop.refreshed("over") == [(1,), (3,), (3,)]

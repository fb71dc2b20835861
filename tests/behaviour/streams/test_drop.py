"""DROP: what goes, what is kept because others stand on it."""

from __future__ import annotations

import pytest

from trickle.errors import DependentsExist, NotFound, QueryError
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

PER_CUSTOMER = "SELECT cust, count(*) AS n FROM orders GROUP BY cust"


def test_a_dropped_stream_table_is_gone_for_everybody(shop: Stage, lake: LakeSite, peer: DuckDBPeer) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.db.sql("DROP STREAM TABLE per")
    assert shop.db.stream_tables() == []
    assert [t.name for t in shop.db.tables()] == ["customers", "orders"]
    assert (
        peer.rows(lake.address, "SELECT table_name FROM information_schema.tables WHERE table_name = 'per'").counts
        == {}
    )
    shop.db.sql("DROP STREAM TABLE IF EXISTS per")
    with pytest.raises(NotFound, match="per"):
        shop.db.drop_stream_table("per")


def test_a_name_can_be_used_again_and_starts_with_a_history_of_its_own(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.db.drop_stream_table("per")
    shop.stream("per", "SELECT region FROM customers")
    assert shop.rows("per") == [("north",), ("south",)]
    assert [h.action for h in shop.db.refresh_history("per")] == ["FULL"]
    assert len(shop.db.refresh_history()) == 2


def test_one_that_others_read_needs_cascade(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("over", "SELECT n FROM per")
    shop.stream("top", "SELECT max(n) AS n FROM over")
    shop.stream("apart", "SELECT id FROM customers")
    with pytest.raises(DependentsExist, match="per") as refused:
        shop.db.sql("DROP STREAM TABLE per")
    assert "over" in refused.value.detail
    assert len(shop.db.stream_tables()) == 4
    before = shop.db.head()
    shop.db.sql("DROP STREAM TABLE per CASCADE")
    assert shop.db.head() == before + 1, "all in one commit"
    assert [s.name for s in shop.db.stream_tables()] == ["apart"]
    shop.change("INSERT INTO customers VALUES (3, 'east')")
    assert shop.refreshed("apart") == [(1,), (2,), (3,)]


def test_a_source_cannot_be_dropped_under_its_readers(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("over", "SELECT n FROM per")
    with pytest.raises(DependentsExist) as refused:
        shop.db.sql("DROP TABLE orders")
    assert "per" in refused.value.detail
    shop.db.sql("DROP TABLE orders CASCADE")
    assert shop.db.stream_tables() == []
    assert [t.name for t in shop.db.tables()] == ["customers"]


def test_a_schema_goes_with_its_stream_tables_only_by_cascade(shop: Stage) -> None:
    shop.db.sql("CREATE SCHEMA mart")
    shop.stream("mart.per", PER_CUSTOMER)
    with pytest.raises(DependentsExist):
        shop.db.sql("DROP SCHEMA mart")
    shop.db.sql("DROP SCHEMA mart CASCADE")
    assert shop.db.stream_tables() == []
    assert [t.name for t in shop.db.tables()] == ["customers", "orders"]


def test_stored_rows_are_changed_by_refreshes_alone(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    for statement in (
        "INSERT INTO per VALUES (9, 9)",
        "DELETE FROM per",
        "UPDATE per SET n = 0",
        "DROP TABLE per",
        "DROP VIEW per",
        "CREATE TABLE per (a INT)",
        "INSERT INTO trickle.per VALUES (9, 9)",
        "DROP TABLE trickle.per",
        "DROP SCHEMA trickle CASCADE",
        "CREATE TABLE trickle.mine (a INT)",
    ):
        with pytest.raises(QueryError):
            shop.db.sql(statement)
    for name in ("per", "trickle.per"):
        with pytest.raises(QueryError):
            shop.db.append(name, [{"cust": 9, "n": 9}])
    assert shop.rows("per") == [(1, 2), (2, 2)]

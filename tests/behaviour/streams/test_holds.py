"""What holds refreshes back, what lets them go, and what is said of it: as functions and in SQL."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from trickle.errors import AlreadyExists, ConfigError, NotFound, QueryError
from trickle.registry.scheduling import Scheduling
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

PER_CUSTOMER = "SELECT cust, count(*) AS n, sum(amount) AS amount FROM orders GROUP BY cust"
JOINED = "SELECT o.id, c.region FROM orders o JOIN customers c ON c.id = o.cust"


def said(shop: Stage, name: str) -> tuple[str, str]:
    line = shop.db.refresh_history(name, 1)[0]
    return line.action, line.reason


def test_a_gate_holds_whoever_reads_the_source_until_it_is_opened(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("over", "SELECT cust, amount FROM per WHERE n > 1")
    first = shop.db.gate_source("orders")
    assert (first.source, first.gated) == ("orders", True)
    assert shop.db.gate_source("orders").gated_at == first.gated_at, "closing twice changes nothing"
    before = shop.rows("over")
    shop.change("INSERT INTO orders VALUES (4, 2, 1)")
    result = shop.db.refresh_stream_table("over")
    assert (result.action, said(shop, "per")) == ("NO_DATA", ("SKIP", "gated"))
    assert shop.rows("over") == before
    [status] = shop.db.bootstrap_gate_status()
    assert (status.stream_tables, status.gated_seconds > 0) == (("per",), True)
    assert shop.db.diagnose_errors()[0].asdict()["code"] == "gated"
    shop.db.sql("CALL trickle.ungate_source('orders')")
    assert not shop.db.ungate_source("orders").gated
    assert shop.refreshed("over") == [(1, 30), (2, 11)]
    assert [r.gated for r in shop.db.sql("SELECT * FROM trickle.source_gates").collect()] == [False]
    assert shop.db.diagnose_errors() == []


def test_a_gate_is_on_tables_not_on_views(shop: Stage) -> None:
    shop.change("CREATE VIEW seen AS SELECT id FROM orders")
    with pytest.raises(QueryError, match='"seen" is a view'):
        shop.db.gate_source("seen")
    with pytest.raises(NotFound):
        shop.db.gate_source("nothing")


def test_sources_whose_watermarks_lie_apart_hold_who_reads_both(shop: Stage) -> None:
    shop.stream("joined", JOINED)
    shop.stream("per", PER_CUSTOMER)
    shop.db.create_watermark_group("day", ["orders", "customers"], "1m")
    with pytest.raises(AlreadyExists):
        shop.db.create_watermark_group("day", "orders, customers")
    shop.change("INSERT INTO orders VALUES (4, 2, 1)")
    assert shop.refresh("joined").rows_inserted == 1, "as long as there are no watermarks, nobody waits"
    shop.db.advance_watermark("orders", "2024-05-01 12:00")
    shop.change("INSERT INTO orders VALUES (5, 2, 1)")
    assert shop.db.refresh_stream_table("joined").reason == "watermark"
    assert shop.refresh("per").rows_inserted == 1, "one source alone is complete in itself"
    shop.db.sql("CALL trickle.advance_watermark('customers', '2024-05-01T11:00:00+00:00')")
    [status] = shop.db.watermark_status()
    assert (status.aligned, status.lag_seconds, status.with_watermark, status.sources) == (False, 3600.0, 2, 2)
    assert shop.db.refresh_stream_table("joined").reason == "watermark"
    shop.db.advance_watermark("customers", datetime(2024, 5, 1, 11, 59, tzinfo=UTC))
    assert shop.db.watermark_status()[0].aligned
    assert shop.refresh("joined").rows_inserted == 1
    with pytest.raises(ConfigError, match="cannot go back"):
        shop.db.advance_watermark("orders", "2024-05-01 11:00")
    assert [m.source for m in shop.db.watermarks()] == ["customers", "orders"]
    assert shop.db.sql("SELECT name FROM trickle.watermark_groups").collect()[0].name == "day"
    shop.db.drop_watermark_group("day")
    with pytest.raises(NotFound):
        shop.db.drop_watermark_group("day")


@pytest.mark.parametrize("action", ["apply", "reinitialize", "skip_changes"])
def test_a_blown_fuse_stops_the_table_until_somebody_says_what_to_do(shop: Stage, action: str) -> None:
    shop.stream("per", PER_CUSTOMER, fuse="on", fuse_ceiling=3)
    shop.stream("over", "SELECT cust, amount FROM per WHERE n > 1")
    shop.change("INSERT INTO orders VALUES (4, 2, 1)")
    shop.refresh("per")
    before = shop.rows("per")
    shop.change("INSERT INTO orders VALUES (5, 2, 1), (6, 2, 1), (7, 2, 1), (8, 2, 1)")
    for _ in range(2):
        result = shop.db.refresh_stream_table("per")
        assert (result.action, result.reason) == ("SKIP", "fuse_blown")
    shop.db.refresh_stream_table("over")
    assert shop.rows("per") == before, "and whoever reads it stays where it is"
    [status] = shop.db.fuse_status("per")
    assert (status.state, status.ceiling, status.changed_rows) == ("blown", 3.0, 4)
    assert shop.db.diagnose_errors()[0].code == "fuse_blown"
    shop.db.sql(f"CALL trickle.reset_fuse('per', action => '{action}')")
    result = shop.db.refresh_stream_table("per")
    if action == "skip_changes":
        assert (result.action, shop.rows("per")) == ("NO_DATA", before)
    else:
        assert result.action == {"apply": "DIFFERENTIAL", "reinitialize": "REINITIALIZE"}[action]
        shop.agrees("per", PER_CUSTOMER)
    assert shop.db.fuse_status("per")[0].state == "armed"
    with pytest.raises(ConfigError, match="not blown"):
        shop.db.reset_fuse("per")


def test_a_fuse_counts_what_was_deleted_since_not_what_was_deleted_before(shop: Stage) -> None:
    """One delete file names all rows of its data file that are gone, whenever they went."""
    shop.change(
        "INSERT INTO orders SELECT id, 3, 7 FROM range(10, 40)", "DELETE FROM orders WHERE id BETWEEN 15 AND 39"
    )
    shop.stream("per", PER_CUSTOMER, fuse="on", fuse_ceiling=2)
    for id in (10, 11):
        shop.change(f"DELETE FROM orders WHERE id = {id}")
        shop.refresh("per")
    assert [(h.action, h.reason) for h in shop.db.refresh_history("per", 2)] == [("DIFFERENTIAL", "")] * 2
    shop.agrees("per", PER_CUSTOMER)
    shop.change("DELETE FROM orders WHERE id IN (12, 13, 14)")
    assert shop.db.refresh_stream_table("per").reason == "fuse_blown"
    assert shop.db.fuse_status("per")[0].changed_rows == 3


def test_an_older_registry_is_brought_up_to_date_when_it_is_needed(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    registry = shop.db._streams.registry
    with shop.db.lake.catalog.writing() as connection:
        for name in ("gate", "fuse", "signal", "control", "lease", "scheduler", "watermark", "watermark_group", "read"):
            registry.tables[name].drop(connection)
        registry.tables["refresh_group"].drop(connection)
        connection.execute(registry.tables["registry"].update().values(version=1))
    registry._known_version = 0
    assert shop.db.source_gates() == []
    shop.change("INSERT INTO orders VALUES (4, 2, 1)")
    assert shop.refresh("per").rows_inserted == 1
    assert shop.db.gate_source("orders").gated


def test_the_graph_shows_tables_views_and_stream_tables(shop: Stage) -> None:
    shop.change("CREATE VIEW big AS SELECT id, cust, amount FROM orders WHERE amount > 8")
    shop.stream("per", PER_CUSTOMER)
    shop.stream("both", "SELECT b.id, p.n, p.amount + b.amount AS total FROM big b JOIN per p ON p.cust = b.cust")
    tree = [(r.depth, r.name, r.kind) for r in shop.db.dependency_tree("both")]
    assert tree == [
        (0, "both", "stream table"),
        (1, "big", "view"),
        (2, "orders", "table"),
        (1, "per", "stream table"),
        (2, "orders", "table"),
    ]
    assert '"per"' in shop.db.graph("dot") and "graph LR" in shop.db.graph("mermaid")
    assert "view" in shop.db.sql("SELECT * FROM trickle.graph('json')").collect()[0].value
    with pytest.raises(ConfigError, match="'png'"):
        shop.db.graph("png")
    origins = {(r.column, r.source, r.source_column) for r in shop.db.column_lineage("both")}
    assert origins == {
        ("id", "orders", "id"),
        ("n", "per", "n"),
        ("total", "per", "amount"),
        ("total", "orders", "amount"),
    }


def test_recommendations_wait_for_enough_history(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    [nothing] = shop.db.recommend_schedule("per")
    assert (nothing.recommended, nothing.confidence, nothing.samples) == (None, 0.0, 1)
    shop.stream("noise", "SELECT id FROM orders", refresh_mode="FULL")
    assert [r.recommended for r in shop.db.recommend_refresh_mode()] == [None, None]
    assert len(shop.db.sql("SELECT * FROM trickle.schedule_recommendations()").collect()) == 2


def test_a_refresh_group_names_stream_tables(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("joined", JOINED)
    assert shop.db.create_refresh_group("day", "per, joined").members == ("per", "joined")
    assert [g.name for g in shop.db.refresh_groups()] == ["day"]
    for wrong in (["per"], ["per", "per"]):
        with pytest.raises(ConfigError, match="two stream tables"):
            shop.db.create_refresh_group("other", wrong)
    with pytest.raises(NotFound):
        shop.db.create_refresh_group("other", ["per", "nothing"])
    shop.db.sql("CALL trickle.drop_refresh_group('day')")
    assert shop.db.refresh_groups() == []


def test_a_read_is_remembered_of_tables_that_learn_their_tier(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER, tier="auto")
    shop.stream("joined", JOINED)
    scheduling = Scheduling(shop.db._streams.registry)
    shop.rows("per"), shop.rows("joined"), shop.db.sql("SELECT * FROM per").collect()
    shop.db._reads.close()
    with shop.db.lake.reading() as connection:
        assert list(scheduling.reads(connection)) == [shop.db._streams.all()[0].id]

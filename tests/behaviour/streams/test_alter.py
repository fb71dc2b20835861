"""ALTER STREAM TABLE: settings, query, pauses, modes."""

from __future__ import annotations

import warnings
from dataclasses import replace

import pytest

from trickle.errors import CommitConflict, ConfigError, CycleDetected, DependentsExist, NotIncremental, TrickleWarning
from trickle.sql.names import Name
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

PER_CUSTOMER = "SELECT cust, count(*) AS n, sum(amount) AS amount FROM orders GROUP BY cust"


def test_a_suspended_table_stays_as_it_is_until_resumed(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("over", "SELECT n, count(*) AS custs FROM per GROUP BY n")
    shop.db.sql("ALTER STREAM TABLE per SUSPEND")
    shop.change("INSERT INTO orders VALUES (4, 2, 1)")
    result = shop.db.refresh_stream_table("per")
    assert (result.action, result.reason) == ("SKIP", "suspended")
    assert shop.rows("per") == [(1, 2, 30), (2, 2, 10)]
    held = shop.db.stream_table_status("per")[0].data_snapshot
    assert shop.db.refresh_stream_table("over").data_snapshot == held, "no fresher than what it reads"
    assert [r.name for r in shop.db.refresh_all()] == ["over"]
    shop.db.alter_stream_table("per", status="ACTIVE")
    assert shop.refreshed("over") == [(2, 1), (3, 1)]
    assert shop.rows("per") == [(1, 2, 30), (2, 3, 11)]


def test_the_mode_can_be_switched(shop: Stage) -> None:
    shop.db.create_stream_table("per", PER_CUSTOMER, refresh_mode="FULL")
    shop.change("INSERT INTO orders VALUES (4, 2, 1)")
    result = shop.db.refresh_stream_table("per")
    assert (result.action, result.reason, result.rows_inserted) == ("FULL", "refresh_mode", 1)
    shop.db.sql("ALTER STREAM TABLE per SET (refresh_mode = 'DIFFERENTIAL')")
    shop.change("INSERT INTO orders VALUES (5, 3, 7)")
    assert shop.refreshed("per") == [(1, 2, 30), (2, 3, 11), (3, 1, 7)]
    shop.change("DELETE FROM orders WHERE id = 5")
    shop.db.alter_stream_table("per", refresh_mode="IMMEDIATE")
    shop.change("INSERT INTO orders VALUES (6, 1, 1)")
    assert shop.rows("per") == [(1, 3, 31), (2, 3, 11)], "what was waiting came along"


def test_a_mode_that_the_query_cannot_have_is_refused(shop: Stage) -> None:
    shop.db.create_stream_table("moments", "SELECT id, now() AS seen FROM orders")
    with pytest.raises(NotIncremental, match="moments"):
        shop.db.alter_stream_table("moments", refresh_mode="DIFFERENTIAL")
    with pytest.raises(ConfigError, match="SIDEWAYS"):
        shop.db.alter_stream_table("moments", refresh_mode="SIDEWAYS")
    assert shop.db.stream_table_status("moments")[0].refresh_mode == "AUTO"


def test_a_new_query_with_the_same_columns_is_a_small_change_for_its_readers(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("over", "SELECT cust, amount + 1 AS more FROM per")
    shop.db.refresh_all()  # nothing to do, but both frontiers are at the head now
    shop.db.alter_stream_table("per", query=PER_CUSTOMER.replace("GROUP", "WHERE cust <> 2 GROUP"))
    assert shop.rows("per") == [(1, 2, 30)]
    result = shop.refresh("over")
    assert (result.rows_inserted, result.rows_deleted) == (0, 1)
    assert shop.rows("over") == [(1, 31)]


def test_a_new_query_that_needs_other_hidden_columns_starts_its_readers_anew(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("over", "SELECT cust, amount + 1 AS more FROM per")
    shop.db.alter_stream_table("per", query=f"{PER_CUSTOMER} HAVING sum(amount) > 10")
    result = shop.db.refresh_stream_table("over")
    assert (result.action, result.reason) == ("REINITIALIZE", "source_schema_changed")
    assert (result.rows_inserted, result.rows_deleted) == (0, 1)
    shop.change("INSERT INTO orders VALUES (4, 2, 1)")
    assert shop.refreshed("over") == [(1, 31), (2, 12)]


def test_columns_that_others_read_are_not_taken_away(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("over", "SELECT cust, amount FROM per")
    with pytest.raises(DependentsExist, match="per") as refused:
        shop.db.sql("ALTER STREAM TABLE per AS SELECT cust FROM orders")
    assert "over" in refused.value.detail
    assert shop.rows("per") == [(1, 2, 30), (2, 2, 10)]


def test_a_circle_is_refused_with_its_path(shop: Stage) -> None:
    shop.stream("a", "SELECT cust, amount FROM orders")
    shop.stream("b", "SELECT cust, amount FROM a")
    shop.stream("c", "SELECT cust, amount FROM b")
    with pytest.raises(CycleDetected) as circle:
        shop.db.create_or_replace_stream_table("a", "SELECT cust, amount FROM c")
    assert circle.value.detail == "a → b → c → a"
    with pytest.raises(CycleDetected, match='"b" would read itself'):
        shop.db.alter_stream_table("b", query="SELECT b.cust, b.amount FROM b JOIN orders o ON o.cust = b.cust")
    shop.change("DELETE FROM orders WHERE cust = 2")
    assert shop.refreshed("c") == [(1, 10), (1, 20)]


def test_another_dialect_comes_with_the_query(shop: Stage) -> None:
    shop.stream("texts", "SELECT CAST(id AS STRING) AS id FROM orders WHERE id = 1")
    shop.db.alter_stream_table("texts", query="SELECT id::text AS id FROM orders WHERE id = 2", dialect="postgres")
    assert shop.rows("texts") == [("2",)]
    shop.db.create_or_replace_stream_table("texts", "SELECT id::text || '!' AS id FROM orders", dialect="postgres")
    assert shop.rows("texts") == [("1!",), ("2!",), ("3!",), ("3!",)]


def test_options_that_say_how_rows_are_stored_take_effect(shop: Stage) -> None:
    shop.db.sql("CREATE TABLE weights (k INT, x DOUBLE)")
    shop.change("INSERT INTO weights VALUES (1, 0.1), (1, 0.2), (2, 1e300)")
    shop.stream("sums", "SELECT k, sum(x) AS x FROM weights GROUP BY k")
    assert len(shop.db.list_auxiliary_columns("sums")) == 2
    shop.db.alter_stream_table("sums", float_sums="rescan")
    assert shop.db.list_auxiliary_columns("sums") == []
    shop.change("INSERT INTO weights VALUES (1, 1e20)", "DELETE FROM weights WHERE x = 1e300")
    shop.refresh("sums")
    shop.change("DELETE FROM weights WHERE x = 1e20")
    assert shop.refreshed("sums") == [(1, 0.1 + 0.2)]
    shop.db.alter_stream_table("sums", partition_by="k")
    shop.change("INSERT INTO weights VALUES (3, 0.5)")
    assert shop.refreshed("sums") == [(1, 0.1 + 0.2), (3, 0.5)]


def test_a_definition_that_is_stored_late_does_not_undo_a_refresh(shop: Stage) -> None:
    """What ALTER read may be older than the refresh that was committed before it writes."""
    shop.stream("per", PER_CUSTOMER)
    streams, name = shop.db._streams, Name(None, "per")
    read = streams.find(name)
    shop.change("INSERT INTO orders VALUES (9, 1, 90)")
    shop.refresh("per")
    refreshed = streams.find(name)
    altered = replace(read, options={**read.options, "tier": "cold"}, version=read.version + 1)
    streams.store(read, altered)
    stored = streams.find(name)
    assert (stored.frontier, stored.snapshot, stored.seen) == (refreshed.frontier, refreshed.snapshot, refreshed.seen)
    assert stored.options["tier"] == "cold"
    with pytest.raises(CommitConflict, match="altered"):
        streams.store(read, altered)
    shop.change("INSERT INTO orders VALUES (10, 1, 90)")
    shop.refresh("per")
    shop.agrees("per", PER_CUSTOMER)


def test_a_new_query_is_warned_of_like_a_first_one(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    with pytest.warns(TrickleWarning, match="ORDER BY"):
        shop.db.sql(f"ALTER STREAM TABLE per AS {PER_CUSTOMER} ORDER BY cust")
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrickleWarning)
        shop.db.alter_stream_table("per", schedule="5m")

"""Operators below others are stored beside the stream table: hidden, moved with it, gone with it."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from trickle.refresh.sources import STORED_SCHEMA
from trickle.testing.effort import Effort
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

QUERIES = {
    "an aggregate of an aggregate": """
        SELECT n, count(*) AS customers, max(total) AS most FROM (
            SELECT cust, count(*) AS n, sum(amount) AS total FROM orders GROUP BY cust) GROUP BY n""",
    "the first of an aggregate": """
        SELECT cust, sum(amount) AS total FROM orders GROUP BY cust ORDER BY total DESC, cust LIMIT 2""",
    "an aggregate under an outer join": """
        SELECT c.region, t.total FROM customers c
        LEFT JOIN (SELECT cust, sum(amount) AS total FROM orders GROUP BY cust) t ON t.cust = c.id""",
    "a subquery read twice": """
        WITH t AS (SELECT cust, sum(amount) AS total FROM orders GROUP BY cust)
        SELECT cust FROM t WHERE total = (SELECT max(total) FROM t)""",
    "a window below a join": """
        SELECT c.region, o.id FROM customers c
        JOIN (SELECT id, cust, row_number() OVER (PARTITION BY cust ORDER BY amount DESC, id) AS place FROM orders) o
        ON o.cust = c.id WHERE o.place = 1""",
    "a set operation below an aggregate": """
        SELECT count(*) AS n, max(id) AS most FROM (SELECT cust AS id FROM orders EXCEPT SELECT id FROM customers)""",
}
CHANGES = (
    ["INSERT INTO orders VALUES (4, 3, 7), (5, NULL, 1)", "INSERT INTO customers VALUES (3, NULL)"],
    ["UPDATE orders SET cust = 3 WHERE id = 3"],
    ["DELETE FROM orders WHERE cust = 1", "DELETE FROM customers WHERE id = 2"],
    ["INSERT INTO orders SELECT id + 10, cust, amount FROM orders", "UPDATE orders SET amount = amount + 1"],
)


def test_every_shape_stays_exact(shop: Stage, effort: Effort) -> None:
    for n, query in enumerate(QUERIES.values()):
        shop.stream(f"t{n}", query, intermediates="always")
        assert stored_beside(shop, f"t{n}"), query
    for change in CHANGES[: effort.of(2, 4, 4)]:
        shop.change(*change)
        for n, query in enumerate(QUERIES.values()):
            shop.refresh(f"t{n}")
            shop.agrees(f"t{n}", query)


def test_inside_a_transaction_too(shop: Stage) -> None:
    chosen = ("an aggregate of an aggregate", "a subquery read twice")
    for n, name in enumerate(chosen):
        shop.stream(f"t{n}", QUERIES[name], intermediates="always", refresh_mode="IMMEDIATE")
    for change in CHANGES[:2]:
        with shop.db.transaction():
            for statement in change:
                shop.db.sql(statement)
                shop.agrees("t0", QUERIES[chosen[0]])
        for n, name in enumerate(chosen):
            shop.agrees(f"t{n}", QUERIES[name])


def test_they_are_chosen_by_the_size_of_their_sources_and_taken_up_when_those_grow(
    lake_sqlite: LakeSite, quick: SparkSession
) -> None:
    query = QUERIES["the first of an aggregate"]
    with lake_sqlite.connect(quick, refresh__intermediate_rows=20) as db:
        stage = Stage(db)
        stage.change("CREATE TABLE orders (id INT, cust INT, amount INT)", "INSERT INTO orders VALUES (1, 1, 10)")
        stage.stream("best", query)
        assert not stored_beside(stage, "best")
        stage.change("INSERT INTO orders SELECT id, id % 7, id FROM range(40)")
        stage.refresh("best")
        assert len(stored_beside(stage, "best")) == 1, "in the same commit as the rows that made them worth it"
        stage.change("DELETE FROM orders WHERE cust = 3", "INSERT INTO orders VALUES (1, 5, 500)")
        stage.refresh("best")
        stage.agrees("best", query)


def test_they_move_in_the_commit_that_moves_their_owner(shop: Stage) -> None:
    shop.stream("best", QUERIES["the first of an aggregate"], intermediates="always")
    shop.change("INSERT INTO orders VALUES (9, 2, 100)")
    before = shop.db.head()
    shop.refresh("best")
    assert shop.db.head() == before + 1


def test_one_that_did_not_move_spares_what_is_above_it(shop: Stage) -> None:
    shop.stream("regions", QUERIES["an aggregate under an outer join"], intermediates="always")
    shop.change("INSERT INTO orders VALUES (9, 1, 10)", "DELETE FROM orders WHERE id = 1")
    done = shop.refresh("regions")
    assert (done.rows_inserted, done.rows_deleted) == (0, 0)


def test_they_go_with_the_table_with_its_query_and_when_told_to(shop: Stage) -> None:
    shop.stream("best", QUERIES["the first of an aggregate"], intermediates="always")
    first = stored_beside(shop, "best")
    shop.db.alter_stream_table(
        "best", query="SELECT cust, count(*) AS total FROM orders GROUP BY cust ORDER BY 2, 1 LIMIT 1"
    )
    second = stored_beside(shop, "best")
    assert len(second) == 1 and second != first
    shop.db.alter_stream_table("best", intermediates="never")
    assert not stored_beside(shop, "best")
    shop.db.alter_stream_table("best", intermediates="always")
    assert stored_beside(shop, "best") == second
    shop.db.drop_stream_table("best")
    assert not stored_beside(shop, "best")


def test_a_full_refresh_computes_them_anew(shop: Stage) -> None:
    shop.stream("best", QUERIES["the first of an aggregate"], intermediates="always")
    shop.change("UPDATE orders SET amount = 99 WHERE id = 3")
    assert shop.db.refresh_stream_table("best", full=True).action == "FULL"
    shop.change("DELETE FROM orders WHERE cust = 2")
    shop.refresh("best")
    shop.agrees("best", QUERIES["the first of an aggregate"])


def test_rows_that_only_come_still_replace_those_of_an_intermediate(shop: Stage) -> None:
    fewest = """
        SELECT n, count(*) AS customers FROM (
            SELECT cust, min(m) AS n FROM (
                SELECT cust, amount, count(*) AS m FROM orders GROUP BY cust, amount) GROUP BY cust) GROUP BY n"""
    shop.stream("fewest", fewest, intermediates="always", append_only=True)
    shop.change("INSERT INTO orders SELECT id + 10, cust, amount FROM orders")
    shop.refresh("fewest")
    shop.agrees("fewest", fewest)


def test_explain_shows_them(shop: Stage) -> None:
    shop.stream("best", QUERIES["the first of an aggregate"], intermediates="always")
    lines = [line for line in shop.db.explain_st("best") if line.section == "intermediate"]
    assert [(line.item, line.detail.split(":")[0]) for line in lines] == [("Aggregate of orders", "stored")]
    shop.db.alter_stream_table("best", intermediates="never")
    lines = [line for line in shop.db.explain_st("best") if line.section == "intermediate"]
    assert [line.detail.split(":")[0] for line in lines] == ["not stored"]


def stored_beside(stage: Stage, name: str) -> list[str]:
    """The tables that Trickle keeps for a stream table beside its rows."""
    found = stage.db.sql(f"SHOW TABLES IN {STORED_SCHEMA}").collect()
    return sorted(row.name for row in found if row.name.startswith(f"__trickle_{name}_"))

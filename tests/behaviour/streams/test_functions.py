"""User-defined functions: declared, followed, noticed when they change."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC

import pandas as pd
import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.errors import (
    AlreadyExists,
    CycleDetected,
    DependentsExist,
    NotFound,
    NotIncremental,
    QueryError,
)
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

NET = "CREATE FUNCTION net(amount INT, rate DOUBLE) RETURNS DOUBLE RETURN amount * (1 - rate)"


def shout(word: str | None) -> str | None:
    return None if word is None else word.upper() + "!"


def middle(values: pd.Series) -> float:
    return float(values.median())


@pytest.fixture
def sessions(lake: LakeSite, quick: SparkSession) -> Iterator[Stage]:
    """The same lake in a session that knows nothing of the first one's functions."""
    with lake.connect(quick.newSession()) as session:
        yield Stage(session)


def told(stage: Stage, name: str, query: str, rows: str = "(9, 2, 7), (1, 1, 10)") -> None:
    """The stream table follows inserts, updates and deletes, differentially and exactly."""
    stage.stream(name, query)
    stage.agrees(name, query)
    for change in (f"INSERT INTO orders VALUES {rows}", "UPDATE orders SET amount = 6, cust = 1 WHERE id = 3"):
        stage.change(change)
        stage.refresh(name)
        stage.agrees(name, query)
    stage.change("DELETE FROM orders WHERE id = 1")
    stage.refresh(name)
    stage.agrees(name, query)


def test_a_sql_function_is_followed(shop: Stage) -> None:
    shop.db.sql(NET)
    shop.db.sql("CREATE FUNCTION cheap(x DOUBLE) RETURNS BOOLEAN RETURN net(CAST(x AS INT), 0.5) < 8")
    told(shop, "nets", "SELECT cust, sum(net(amount, 0.1)) AS n FROM orders WHERE NOT cheap(id) GROUP BY cust")


def test_a_python_function_is_followed_and_other_sessions_have_it(shop: Stage, sessions: Stage) -> None:
    shop.db.create_function("shout", shout, "STRING")
    query = (
        "SELECT shout(c.region) AS place, count(*) AS n, sum(o.amount) AS total "
        "FROM orders o JOIN customers c ON o.cust = c.id GROUP BY shout(c.region)"
    )
    told(shop, "loud", query)
    shop.change("UPDATE customers SET region = 'east' WHERE id = 2", "INSERT INTO orders VALUES (5, 2, 1)")
    sessions.refresh("loud")
    sessions.agrees("loud", query)
    assert sessions.db.sql("SELECT Shout('a'), shout('b') AS b").toArrow().to_pylist() == [
        {"shout('a')": "A!", "b": "B!"}
    ]


def test_a_python_aggregate_is_followed_beside_others(shop: Stage) -> None:
    shop.db.create_function("middle", middle, "DOUBLE", aggregate=True)
    query = (
        "SELECT cust, middle(amount) AS m, count(*) AS n, middle(id) FILTER (WHERE amount > 5) AS f "
        "FROM orders GROUP BY cust"
    )
    told(shop, "middles", query)
    everything = "SELECT middle(amount) AS m, sum(amount) AS total FROM orders"
    shop.stream("whole", everything)
    shop.change("DELETE FROM orders")
    assert shop.refreshed("whole") == [(None, None)]


def test_functions_are_seen_by_every_statement(shop: Stage) -> None:
    shop.db.sql(NET)
    shop.db.create_function("shout", shout, "STRING")
    shop.db.create_function("middle", middle, "DOUBLE", aggregate=True)
    shop.change(
        "UPDATE customers SET region = shout(region) WHERE net(id, 0) > 1",
        "CREATE VIEW loud AS SELECT id, shout(region) AS region FROM customers",
        "DELETE FROM orders WHERE net(amount, 0.5) = 5",
    )
    assert shop.rows("loud") == [(1, "NORTH!"), (2, "SOUTH!!")]
    found = shop.db.sql("SELECT id, middle(amount) OVER (PARTITION BY cust) AS m FROM orders").toArrow().to_pylist()
    assert sorted(found, key=str) == [{"id": 2, "m": 20.0}, {"id": 3, "m": 5.0}, {"id": 3, "m": 5.0}]
    assert shop.db.sql("SELECT net(4, 0.5)").columns == ["net(4, 0.5)"]


def test_a_function_that_is_not_deterministic_is_refused_or_full(shop: Stage) -> None:
    shop.db.create_function("odds", random.random, "DOUBLE", deterministic=False)
    shop.db.sql("CREATE FUNCTION chance(x INT) RETURNS DOUBLE RETURN x * odds()")
    assert [f.deterministic for f in shop.db.functions()] == [False, False]
    for mode in ("DIFFERENTIAL", "IMMEDIATE"):
        with pytest.raises(NotIncremental) as refused:
            shop.db.create_stream_table("lucky", "SELECT chance(id) AS c FROM orders", refresh_mode=mode)
        assert "chance() is declared not deterministic" in refused.value.detail
    shop.db.create_stream_table("lucky", "SELECT id, chance(id) >= 0 AS c FROM orders")
    shop.change("INSERT INTO orders VALUES (7, 1, 1)")
    result = shop.db.refresh_stream_table("lucky")
    assert (result.action, result.reason) == ("FULL", "not_incremental:chance()")
    assert (7, True) in shop.rows("lucky")


@pytest.mark.parametrize("mode", ["DIFFERENTIAL", "IMMEDIATE"])
def test_a_changed_body_starts_the_stream_table_anew(shop: Stage, mode: str) -> None:
    shop.db.sql(NET)
    shop.db.sql("CREATE FUNCTION half(x INT) RETURNS DOUBLE RETURN net(x, 0.5)")
    shop.stream("halves", "SELECT id, half(amount) AS h FROM orders", refresh_mode=mode)
    shop.db.sql(NET.replace("CREATE", "CREATE OR REPLACE"))
    assert shop.db.refresh_stream_table("halves").action == "NO_DATA"
    shop.db.sql(NET.replace("CREATE", "CREATE OR REPLACE").replace("1 - rate", "2 - rate"))
    assert {e.item for e in shop.db.explain_st("halves") if e.section == "function"} == {"half", "net"}
    assert shop.db.explain_refresh_mode("halves")[0].next_reason == "function_changed"
    result = shop.db.refresh_stream_table("halves")
    assert (result.action, result.reason) == ("REINITIALIZE", "function_changed")
    shop.agrees("halves", "SELECT id, half(amount) AS h FROM orders")
    assert shop.db.refresh_stream_table("halves").action == "NO_DATA"
    shop.change("INSERT INTO orders VALUES (8, 1, 2)")
    shop.db.refresh_stream_table("halves")
    assert (8, 3.0) in shop.rows("halves")


def test_another_python_body_or_type_is_noticed(shop: Stage) -> None:
    shop.db.create_function("mark", lambda x: x + 1, "INT")
    shop.stream("marks", "SELECT id, mark(amount) AS m FROM orders")
    shop.db.create_function("mark", lambda x: x + 1, "INT", replace=True)
    assert shop.db.refresh_stream_table("marks").action == "NO_DATA"
    shop.db.create_function("mark", lambda x: f"<{x}>", "STRING", replace=True)
    assert shop.db.refresh_stream_table("marks").reason == "function_changed"
    assert (1, "<10>") in shop.rows("marks")
    assert [(f.version, f.used_by, f.created_at.tzinfo) for f in shop.db.functions()] == [(2, ("marks",), UTC)]


def test_a_function_in_use_is_not_dropped_nor_made_unsteady(shop: Stage) -> None:
    shop.db.sql(NET)
    shop.db.sql("CREATE FUNCTION half(x INT) RETURNS DOUBLE RETURN net(x, 0.5)")
    shop.stream("halves", "SELECT half(amount) AS h FROM orders")
    with pytest.raises(DependentsExist) as refused:
        shop.db.drop_function("net")
    assert refused.value.detail == "stream table halves, function half."
    with pytest.raises(DependentsExist, match="would no longer be deterministic"):
        shop.db.sql("CREATE OR REPLACE FUNCTION half(x INT) RETURNS DOUBLE RETURN net(x, rand())")
    shop.db.drop_stream_table("halves")
    shop.db.sql("DROP FUNCTION half")
    shop.db.sql("DROP FUNCTION net")
    shop.db.sql("DROP FUNCTION IF EXISTS net")
    with pytest.raises(NotFound, match="there are: none yet"):
        shop.db.drop_function("net")


def test_what_cannot_be_a_function_is_refused(shop: Stage) -> None:
    db = shop.db
    db.sql(NET)
    with pytest.raises(AlreadyExists, match='function "net" exists already'):
        db.sql(NET)
    assert db.sql(NET.replace("FUNCTION", "FUNCTION IF NOT EXISTS")).version == 1
    with pytest.raises(AlreadyExists, match="function of SQL itself"):
        db.create_function("Upper", shout, "STRING")
    with pytest.raises(QueryError, match="is not a function name"):
        db.create_function("a b", shout, "STRING")
    with pytest.raises(CycleDetected, match="calls itself"):
        db.sql("CREATE OR REPLACE FUNCTION net(x INT) RETURNS DOUBLE RETURN net(x, 1)")
    with pytest.raises(QueryError, match='function "sum_of"'):
        db.sql("CREATE FUNCTION sum_of(x INT) RETURNS INT RETURN x + array(1)")
    with pytest.raises(QueryError, match="is not deterministic"):
        db.sql("CREATE FUNCTION luck() RETURNS DOUBLE DETERMINISTIC RETURN rand()")
    with pytest.raises(QueryError, match="cannot be stored"):
        db.create_function("bad", lambda: db.version(), "STRING")
    with pytest.raises(QueryError, match="cannot run inside a transaction"), db.transaction():
        db.drop_function("net")


def test_a_function_of_the_spark_session_alone_is_not_taken_for_deterministic(shop: Stage) -> None:
    shop.db.spark.udf.register("plus_one", lambda x: x + 1, "int")
    query = "SELECT cust, plus_one(max(amount)) AS m FROM orders GROUP BY cust"
    with pytest.raises(NotIncremental) as refused:
        shop.stream("ones", query)
    assert "plus_one() cannot be maintained incrementally" in refused.value.detail
    assert 'create_function("plus_one"' in refused.value.hint
    shop.db.create_stream_table("ones", query)
    shop.change("INSERT INTO orders VALUES (7, 1, 99)")
    assert shop.db.refresh_stream_table("ones").reason == "not_incremental:plus_one()"
    assert (1, 100) in shop.rows("ones")
    with pytest.raises(QueryError, match="no_such"):
        shop.db.create_stream_table("nothing", "SELECT no_such(id) AS x FROM orders")


def test_an_immediate_stream_table_calls_functions(shop: Stage) -> None:
    shop.db.create_function("shout", shout, "STRING")
    shop.stream("loud", "SELECT id, shout(region) AS r FROM customers", refresh_mode="IMMEDIATE")
    shop.change("INSERT INTO customers VALUES (3, 'west')")
    assert (3, "WEST!") in shop.rows("loud")


def test_functions_are_a_relation(shop: Stage) -> None:
    shop.db.sql(NET)
    found = shop.db.sql("SELECT name, kind, parameters, returns, body FROM trickle.functions").toArrow().to_pylist()
    assert found == [
        {
            "name": "net",
            "kind": "SQL",
            "parameters": ["amount INT", "rate DOUBLE"],
            "returns": "DOUBLE",
            "body": "amount * (1 - rate)",
        }
    ]


def test_a_changed_function_stops_a_refresh_that_is_under_way(shop: Stage, sessions: Stage) -> None:
    shop.db.sql(NET)
    shop.stream("nets", "SELECT id, net(amount, 0) AS n FROM orders")
    shop.change("INSERT INTO orders VALUES (7, 1, 1)")
    before = shop.db._streams.refresher.find("main", "nets")
    sessions.db.sql(NET.replace("CREATE", "CREATE OR REPLACE").replace("1 - rate", "2 - rate"))
    result = shop.db._streams.refresher.refresh(before)
    assert (result.action, result.reason) == ("REINITIALIZE", "function_changed")
    assert (7, 2.0) in shop.rows("nets")


def test_a_session_without_functions_is_told_what_is_missing(shop: Stage) -> None:
    assert trickle.Session.functions(shop.db) == []
    with pytest.raises(QueryError, match="net"):
        shop.db.sql("SELECT net(1, 2)")

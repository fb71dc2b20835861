"""What a refresh costs: nothing when nothing changed, little when little did. To be run alone, with `-n 0`."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.actions import watched

pytestmark = [pytest.mark.spark, pytest.mark.timeout(3600)]

ROWS = 1_000_000
CHANGED = 100
MOST_ACTIONS = 2
SHARE = 0.2
ROUNDS = 5
JOIN_AGGREGATE = """SELECT c.region, count(*) AS n, sum(o.amount) AS amount, max(o.amount) AS top
                    FROM orders o JOIN customers c ON o.cust = c.id GROUP BY c.region"""


@pytest.fixture
def db(lake_sqlite: LakeSite, spark: SparkSession) -> Iterator[trickle.Session]:
    with lake_sqlite.connect(spark) as session:
        yield session


def test_a_refresh_without_a_change_runs_no_job_and_takes_milliseconds(
    db: trickle.Session, spark: SparkSession, record_property: Callable[[str, object], None]
) -> None:
    db.script("CREATE TABLE t (k INT, x INT); INSERT INTO t VALUES (1, 1), (2, 2); CREATE TABLE other (a INT)")
    db.create_stream_table("sums", "SELECT k, sum(x) AS x FROM t GROUP BY k")
    db.create_stream_table("above", "SELECT max(x) AS x FROM sums")
    took = []
    for _ in range(21):
        with watched(spark) as work:
            result, milliseconds = timed(lambda: db.refresh_stream_table("sums"))
        assert (result.action, work.jobs, work.actions) == ("NO_DATA", [], 0)
        took.append(milliseconds)
    record_property("milliseconds", round(statistics.median(took), 1))
    assert statistics.median(took) < 10
    db.append("other", [{"a": 1}])
    with watched(spark) as work:
        assert {r.action for r in db.refresh_all()} == {"NO_DATA"}
    assert (work.jobs, work.actions) == ([], 0)


def test_a_hundred_changed_rows_of_a_million_cost_two_actions_and_a_fifth_of_a_full_refresh(
    db: trickle.Session, spark: SparkSession, record_property: Callable[[str, object], None]
) -> None:
    db.sql(
        f"""CREATE TABLE orders AS
            SELECT id, CAST(id * 7919 % {ROWS} AS INT) AS cust, id % 1000 AS amount FROM range({ROWS})"""
    )
    db.sql(f"CREATE TABLE customers AS SELECT CAST(id AS INT) AS id, CAST(id % 50 AS INT) AS region FROM range({ROWS})")
    db.create_stream_table("sums", JOIN_AGGREGATE, refresh_mode="DIFFERENTIAL")
    db.create_stream_table("anew", JOIN_AGGREGATE, refresh_mode="FULL")
    small, full, actions = [], [], []
    for number in range(ROUNDS + 1):
        change(db, number)
        with watched(spark) as work:
            result, milliseconds = timed(lambda: db.refresh_stream_table("sums"))
        assert result.action == "DIFFERENTIAL"
        small.append(milliseconds)
        actions.append(work.actions)
        result, milliseconds = timed(lambda: db.refresh_stream_table("anew"))
        assert (result.action, result.reason) == ("FULL", "refresh_mode")
        full.append(milliseconds)
    ratio = statistics.median(small[1:]) / statistics.median(full[1:])  # the first of each compiles
    for name, value in (
        ("small", statistics.median(small[1:])),
        ("full", statistics.median(full[1:])),
        ("ratio", ratio),
    ):
        record_property(name, round(value, 3))
    assert rows(db, "sums") == rows(db, "anew")
    assert max(actions) <= MOST_ACTIONS, actions
    assert ratio <= SHARE, (small, full)


def change(db: trickle.Session, number: int) -> None:
    """A hundred orders: 40 come, 30 go, 30 are altered (which counts as one gone and one come)."""
    first = 1000 * (number + 1)
    with db.transaction():
        db.append("orders", [{"id": ROWS + first + n, "cust": first + n, "amount": n} for n in range(40)])
        db.sql(f"DELETE FROM orders WHERE id BETWEEN {first} AND {first + 29}")
        db.sql(f"UPDATE orders SET amount = amount + 1 WHERE id BETWEEN {first + 500} AND {first + 529}")


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    return work(), (time.perf_counter() - started) * 1000


def rows(db: trickle.Session, name: str) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, db.table(name).collect()))

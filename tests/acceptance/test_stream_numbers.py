"""Numbers at the edges of their types, and rows that tie: after each refresh Spark's own answer is the judge."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

SUMS = "SELECT k, sum(i) AS i, sum(b) AS b, min(b) AS m FROM t GROUP BY k"
WIDE = ("DECIMAL(38, 18)", "DECIMAL(28, 10)", "DECIMAL(24, 6)", "DECIMAL(18, 4)", "DECIMAL(12, 2)")
MEANS = f"SELECT k, {', '.join(f'avg(d{n}) AS d{n}' for n in range(len(WIDE)))} FROM t GROUP BY k HAVING avg(d4) <> 2"
TIES = """SELECT k, id, row_number() OVER w AS n, lag(id) OVER w AS before, ntile(2) OVER w AS half,
    first_value(id) OVER w AS f, rank() OVER (PARTITION BY k ORDER BY x) AS r,
    sum(x) OVER (PARTITION BY k ORDER BY x{0} ROWS 2 PRECEDING) AS s
    FROM t WINDOW w AS (PARTITION BY k ORDER BY x{0})"""
CALLS = """SELECT k, listagg(s) WITHIN GROUP (ORDER BY s) AS l, percentile(x, 0.5, x) AS p, max(struct(*)) AS latest,
    max_by(id, id, 2) AS two, sum(hash(*)) AS h, sum(log10(x)) AS g FROM t GROUP BY k"""


@pytest.fixture
def stage(lake_sqlite: LakeSite, quick: SparkSession) -> Iterator[Stage]:
    with lake_sqlite.connect(quick) as db:
        yield Stage(db)


def follow(stage: Stage, query: str, *changes: str, judge: str = "") -> None:
    """Each change is followed differentially, to Spark's own answer."""
    stage.stream("kept", query)
    for change in changes:
        stage.change(change)
        stage.refresh("kept")
        stage.agrees("kept", judge or query)


def test_the_least_number_of_a_type_can_go(stage: Stage) -> None:
    least = "INSERT INTO t VALUES (1, -2147483648, -9223372036854775808)"
    stage.change("CREATE TABLE t (k INT, i INT, b BIGINT)", least, "INSERT INTO t VALUES (1, 5, 7), (2, 1, 1)")
    follow(stage, SUMS, "DELETE FROM t WHERE i < 0", least, "UPDATE t SET b = b + 1 WHERE b < 0")


def test_averages_of_wide_decimals_are_rounded_as_sparks_are(stage: Stage) -> None:
    columns = ", ".join(f"d{n} {type}" for n, type in enumerate(WIDE))
    stage.change(f"CREATE TABLE t (k INT, {columns})", "INSERT INTO t VALUES (1, 1, 1, 1, 1, 1), (2, 2, 2, 2, 2, 2)")
    follow(
        stage,
        MEANS,
        "INSERT INTO t VALUES (1, 1, 1, 1, 1, 1), (1, 0, 0, 0, 0, 0), (2, -1, -1, -1, -1, -1)",
        "INSERT INTO t VALUES (2, -1, -1, -1, -1, -1), (1, 5, 5, 5, 5, 5), (1, 3, 3, 3, 3, 3), (1, 9, 9, 9, 9, 9)",
        "DELETE FROM t WHERE d0 = 9",
    )


def test_ties_of_a_window_are_settled_by_what_is_read(stage: Stage) -> None:
    stage.change("CREATE TABLE t (k INT, id INT, x INT, unread INT)")
    stage.change("INSERT INTO t SELECT id % 2, id, id % 3, -id FROM range(40)")
    follow(
        stage,
        TIES.format(""),
        "INSERT INTO t VALUES (0, 90, 1, 0), (1, 50, 0, 0)",
        "DELETE FROM t WHERE id IN (4, 9, 21)",
        "UPDATE t SET x = 1 WHERE id < 12",
        judge=TIES.format(", id"),
    )


def test_calls_are_followed_as_they_were_written(stage: Stage) -> None:
    stage.change(
        "CREATE TABLE t (k INT, id INT, x INT, s STRING, unread DOUBLE)",
        "INSERT INTO t VALUES (1, 1, 1000, 'a', 1.5), (1, 2, 3, 'b', NULL), (2, 3, 7, 'c', 0.5)",
    )
    follow(stage, CALLS, "INSERT INTO t VALUES (1, 4, 10, 'd', 2.5)", "DELETE FROM t WHERE id = 1")

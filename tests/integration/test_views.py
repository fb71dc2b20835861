"""Names for DataFrames, given by few calls: what SQL reads is what Spark's own way would let it read."""

from __future__ import annotations

from pyspark.sql import SparkSession

from trickle import views


def test_the_next_frame_of_a_name_is_what_sql_reads(quick: SparkSession) -> None:
    for start in (0, 5, 9):
        views.show(quick.range(start, start + 3), "__shown")
        assert [row.id for row in quick.sql("SELECT id FROM __shown ORDER BY id").collect()] == [
            *range(start, start + 3)
        ]


def test_other_columns_of_a_name_are_other_columns(quick: SparkSession) -> None:
    for text in ("1 AS a", "'x' AS a", "1 AS b, NULL AS c", "CAST(1.5 AS DECIMAL(4, 2)) AS a", "1 AS A", "1 AS a"):
        frame = quick.sql(f"SELECT {text}")
        views.show(frame, "__shown")
        assert quick.table("__shown").schema == frame.schema
        assert quick.sql("SELECT * FROM __shown").collect() == frame.collect()


def test_a_frame_joins_itself_under_its_name(quick: SparkSession) -> None:
    for most in (3, 4):
        views.show(quick.range(most).selectExpr("id", "id % 2 AS kind"), "__shown")
        pairs = quick.sql("SELECT a.id, b.id FROM __shown a JOIN __shown b ON b.id = a.id + 1").collect()
        assert len(pairs) == most - 1


def test_a_plan_made_before_reads_what_it_read_then(quick: SparkSession) -> None:
    views.show(quick.range(3), "__shown")
    before = quick.sql("SELECT count(*) AS n FROM __shown")
    views.show(quick.range(8), "__shown")
    assert before.first()[0] == 3
    assert quick.sql("SELECT count(*) FROM __shown").first()[0] == 8


def test_what_is_hidden_is_gone_and_may_come_again(quick: SparkSession) -> None:
    views.show(quick.range(3), "__shown")
    views.hide(quick, "__shown")
    assert not quick.catalog.tableExists("__shown")
    views.hide(quick, "__shown")
    views.show(quick.range(4), "__shown")
    assert quick.sql("SELECT count(*) FROM __shown").first()[0] == 4

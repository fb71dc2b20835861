"""Spark's floor on this machine: what a refresh cannot be faster than."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession

import trickle

from ...bench.measure import Contest, Timing, hold
from ..arena import Arena

ROUNDS, WARMUPS = 15, 5


def aggregate_floor(spark: SparkSession) -> Timing:
    """100 rows, aggregated over a shuffle."""
    return hold(Contest("", 0, lambda: _aggregate(spark), rounds=ROUNDS, warmups=WARMUPS)).ours


def _aggregate(spark: SparkSession) -> object:
    return spark.sql("SELECT id % 10 AS k, count(*) AS n, sum(id) AS s FROM range(0, 100, 1, 2) GROUP BY 1").toArrow()


def contests(arena: Arena) -> Iterator[Contest]:
    """The steps that refreshes are made of; the targets are what they took on the machine of the design."""
    spark, db = arena.spark, arena.db
    rows = pa.table({"id": pa.array(range(100), pa.int64()), "v": pa.array([n / 4 for n in range(100)])})
    tiny = arena.plain("tiny")
    spark.createDataFrame(rows).coalesce(1).write.parquet(tiny)
    schema = spark.read.parquet(tiny).schema
    db.sql("CREATE TABLE floor (id BIGINT, v DOUBLE)")
    steps = {
        "empty query": (18, lambda: spark.sql("SELECT 1").toArrow()),
        "100 rows in and out": (19, lambda: spark.createDataFrame(rows).toArrow()),
        "tiny Parquet file": (34, lambda: spark.read.schema(schema).parquet(tiny).toArrow()),
        "aggregate of 100 rows": (50, lambda: _aggregate(spark)),
        "small file by Spark": (85, lambda: spark.createDataFrame(rows).write.mode("overwrite").parquet(tiny + "-w")),
        "append of 100 rows": (31, lambda: db.append("floor", rows)),
    }
    for name, (target, way) in steps.items():
        yield Contest(name, target, way, rounds=ROUNDS, warmups=WARMUPS)
    db.sql("CREATE TABLE still (id BIGINT)")
    db.create_stream_table("idle", "SELECT count(*) AS n FROM still", refresh_mode="DIFFERENTIAL")

    def concern_others() -> None:
        """A commit lies before each refresh: the catalog has to be looked at."""
        db.append("floor", rows)

    yield Contest("refresh without a change", 5, lambda: _idle(db), None, ROUNDS, WARMUPS, concern_others)


def _idle(db: trickle.Session) -> None:
    done = db.refresh_stream_table("idle")
    assert done.action == "NO_DATA", done

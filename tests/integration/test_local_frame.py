"""Rows that the driver hands to Spark: the same frame as Spark's own way makes of them, with fewer calls."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from trickle.handing import FEW_ROWS, local_frame, queried, taken

NOON = datetime(2026, 3, 29, 12, 30, 15, 123456)
ROWS = pa.table(
    {
        "flag": pa.array([True, None]),
        "tiny": pa.array([-128, None], pa.int8()),
        "big": pa.array([2**63 - 1, None], pa.int64()),
        "real": pa.array([float("nan"), None], pa.float64()),
        "price": pa.array([Decimal("12.30"), None], pa.decimal128(15, 2)),
        "text": pa.array(["ä'`\0", None], pa.string()),
        "long_text": pa.array(["x", None], pa.large_string()),
        "bytes": pa.array([b"\x00\xff", None], pa.binary()),
        "day": pa.array([date(1, 1, 1), None]),
        "at": pa.array([NOON.replace(tzinfo=UTC), None], pa.timestamp("us", "Europe/Berlin")),
    }
)
NAIVE = pa.table({"at": pa.array([NOON, None], pa.timestamp("us"))})
NESTED = pa.table({"many": pa.array([[NOON], None], pa.list_(pa.timestamp("us")))})


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    return spark.newSession()


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
@pytest.mark.parametrize("rows", [ROWS, ROWS.slice(0, 0), NAIVE, NESTED], ids=["plain", "none", "naive", "nested"])
def test_the_frame_is_the_one_that_spark_makes(session: SparkSession, rows: pa.Table, zone: str) -> None:
    session.conf.set("spark.sql.session.timeZone", zone)
    ours, theirs = local_frame(session, rows), session.createDataFrame(rows)
    assert ours.schema == theirs.schema == ours.select("*").schema
    assert repr(ours.toArrow().to_pylist()) == repr(theirs.toArrow().to_pylist()), "a NaN is not equal to itself"


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
@pytest.mark.parametrize("rows", [ROWS, ROWS.slice(0, 0), NAIVE, NESTED], ids=["plain", "none", "naive", "nested"])
def test_what_is_taken_back_is_what_spark_gives(session: SparkSession, rows: pa.Table, zone: str) -> None:
    session.conf.set("spark.sql.session.timeZone", zone)
    session.createDataFrame(rows).createOrReplaceTempView("given")
    ours, theirs = (taken(frame("SELECT * FROM given")) for frame in (partial(queried, session), session.sql))
    told = session.sql("SELECT * FROM given").toArrow()
    assert ours.schema == theirs.schema == told.schema
    assert repr(ours.to_pylist()) == repr(told.to_pylist())


def test_many_rows_are_handed_over_as_they_are_and_the_setting_for_that_is_as_it_was(session: SparkSession) -> None:
    setting = "spark.sql.execution.arrow.localRelationThreshold"
    before = session.conf.get(setting)
    rows = pa.table({"n": range(FEW_ROWS + 1), "t": [str(n % 7) for n in range(FEW_ROWS + 1)]})
    found = local_frame(session, rows)
    assert session.conf.get(setting) == before
    assert found.where("n % 2 = 0").groupBy("t").count().selectExpr("sum(count)").collect()[0][0] == FEW_ROWS // 2 + 1
    assert taken(found).sort_by("n").equals(rows)


def test_a_schema_says_how_spark_sees_the_rows(session: SparkSession) -> None:
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    wanted = StructType([StructField("at", TimestampNTZType())])
    assert local_frame(session, NAIVE, wanted).collect()[0].at == NOON
    instants = StructType([StructField("at", TimestampType())])
    assert local_frame(session, NAIVE, instants).schema == instants
    wider = StructType([StructField("n", LongType(), False), StructField("t", StringType())])
    found = local_frame(session, pa.table({"n": pa.array([1], pa.int32()), "t": ["x"]}), wider)
    assert found.schema == wider
    assert found.collect()[0] == (1, "x")


def test_more_rows_than_one_batch_and_pieces_of_which_some_are_empty(session: SparkSession) -> None:
    piece = pa.table({"n": pa.array(range(25_000), pa.int32())})
    found = local_frame(session, pa.concat_tables([piece, piece.slice(0, 0), piece]))
    assert found.schema == StructType([StructField("n", IntegerType())])
    assert found.selectExpr("count(*)", "sum(n)").collect()[0] == (50_000, 2 * sum(range(25_000)))


def test_a_session_that_wants_large_texts_gets_them(session: SparkSession) -> None:
    session.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
    assert local_frame(session, ROWS.select(["text", "bytes"])).collect()[0].text == "ä'`\0"

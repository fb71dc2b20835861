"""What the lake says of types, footers and literals holds for Spark's own reader, writer and comparisons."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from trickle.lake.footer import read_footer
from trickle.lake.model import Bound, Column
from trickle.lake.prune import keeps
from trickle.lake.text import render
from trickle.lake.types import from_spark, parse_ddl, struct_type, to_arrow, widens

pytestmark = pytest.mark.spark

SAMPLES: dict[str, Any] = {
    "int8": -1,
    "int16": -2,
    "int32": -3,
    "int64": -4,
    "uint8": 255,
    "uint16": 65535,
    "uint32": 2**32 - 1,
    "float32": 1.5,
    "decimal(10,2)": Decimal("-1.50"),
    "decimal(20,0)": Decimal("123"),
    "date": date(1969, 12, 31),
    "timestamp_ms": datetime(2020, 1, 1, 1, 2, 3, 500000),
    "boolean": True,
}
WIDER = [
    *SAMPLES,
    "float64",
    "timestamp",
    "decimal(12,2)",
    "decimal(12,4)",
    "decimal(10,0)",
    "decimal(22,2)",
    "decimal(38,0)",
]


def read(spark: SparkSession, column: Column, path: Path) -> Any:
    options = {"spark.sql.parquet.fieldId.read.enabled": "true"}
    before = {name: spark.conf.get(name) for name in options}
    for name, value in options.items():
        spark.conf.set(name, value)
    try:
        return spark.read.schema(struct_type([column])).parquet(str(path)).toArrow().column(0)[0].as_py()
    finally:
        for name, old in before.items():
            spark.conf.set(name, old)


@pytest.mark.parametrize("old", SAMPLES)
def test_spark_reads_old_files_as_every_type_they_may_widen_to(spark: SparkSession, tmp_path: Path, old: str) -> None:
    held = Column(7, "was", old)
    path = tmp_path / "f.parquet"
    pq.write_table(pa.Table.from_pylist([{"was": SAMPLES[old]}], schema=to_arrow([held])), path)
    wider = [type for type in WIDER if widens(held, Column(7, "now", type))]
    assert old in wider
    for type in wider:
        found = read(spark, Column(7, "now", type), path)
        expected = SAMPLES[old]
        midnight = (
            datetime(expected.year, expected.month, expected.day) if type == "timestamp" and old == "date" else None
        )
        assert found == (midnight or expected), type


NESTED = """SELECT * FROM VALUES
  (true, 1Y, 4L, float('nan'), double('nan'), 1.50BD, cast(1 AS decimal(30,5)), '', X'AA00', date'2020-01-01',
   timestamp'2020-01-01 01:02:03.1', timestamp_ntz'2020-01-01 01:02:03.1', array(1, null, 3),
   named_struct('a', 1, 'b', cast(null AS string)), map('x', named_struct('q', array(double(1), double('nan'))))),
  (false, -1Y, -4L, float('1.5'), double('-0.0'), -1.50BD, cast(-1 AS decimal(30,5)), repeat('é', 6000),
   cast(repeat('y', 6000) AS binary), date'1969-12-31', timestamp'1969-12-31 23:59:59.999999',
   timestamp_ntz'1969-12-31 23:59:59.999999', null, null, null),
  (null, null, null, null, null, null, null, null, null, null, null, null, array(),
   named_struct('a', cast(null AS int), 'b', 'z'), map())
  AS t(bo, i1, i8, f, d, dc, dcb, v, b, da, tz, ts, l, s, m)"""


def test_a_file_of_spark_has_the_statistics_of_its_rows(spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    frame = spark.sql(NESTED).coalesce(1)
    frame.write.parquet(str(tmp_path / "out"))
    (path,) = (tmp_path / "out").glob("*.parquet")
    ids = count(1)
    columns = [from_spark(f.name, f.dataType, ids) for f in frame.schema.fields]
    found = read_footer(str(path), columns)
    names = {leaf.id: f"{column.name}.{leaf.name}" for column in columns for leaf in column.walk()}
    facts = {names[s.column_id]: (s.value_count, s.null_count, s.min, s.max, s.contains_nan) for s in found.stats}
    assert facts["bo.bo"] == (2, 1, "0", "1", None)
    assert facts["i1.i1"] == (2, 1, "-1", "1", None)
    assert facts["i8.i8"] == (2, 1, "-4", "4", None)
    assert facts["f.f"] == (2, 1, "1.5", "1.5", True)
    assert facts["d.d"] == (2, 1, "0.0", "0.0", True)
    assert facts["dc.dc"] == (2, 1, "-1.50", "1.50", None)
    assert facts["dcb.dcb"] == (2, 1, "-1.00000", "1.00000", None)
    assert facts["v.v"][:3] == (2, 1, "")
    assert "é" * 6000 < str(facts["v.v"][3]) < "é" * 127 + "ê" + "a"
    assert facts["b.b"][2] == "79" * 256
    assert facts["da.da"] == (2, 1, "1969-12-31", "2020-01-01", None)
    assert facts["tz.tz"] == (2, 1, "1969-12-31 23:59:59.999999+00", "2020-01-01 01:02:03.1+00", None)
    assert facts["ts.ts"] == (2, 1, "1969-12-31 23:59:59.999999", "2020-01-01 01:02:03.1", None)
    assert facts["l.element"] == (2, 3, "1", "3", None)
    assert facts["s.a"] == (1, 2, "1", "1", None)
    assert facts["s.b"] == (1, 2, "z", "z", None)
    assert facts["m.key"] == (1, 2, "x", "x", None)
    assert facts["m.element"] == (2, 2, "1.0", "1.0", True)


COMPARED: list[tuple[str, list[str], list[tuple[str, object]]]] = [
    (
        "bigint",
        ["1", "5", "9007199254740992", "9007199254740993"],
        [("5", 5), ("5.5", Decimal("5.5")), ("9007199254740992D", 9007199254740992.0), ("double('nan')", float("nan"))],
    ),
    (
        "float",
        ["'0.1'", "'16777216'", "'nan'", "'-inf'", "'0'"],
        [("0.1", Decimal("0.1")), ("16777217", 16777217), ("0.1D", 0.1), ("float('nan')", float("nan")), ("0", 0)],
    ),
    (
        "double",
        ["'0.1'", "'9007199254740992'", "'nan'", "'-0.0'"],
        [("0.1", Decimal("0.1")), ("9007199254740993L", 9007199254740993), ("0", 0), ("double('inf')", float("inf"))],
    ),
    (
        "decimal(20,10)",
        ["'0.1'", "'1.5'", "'-2'"],
        [("0.1D", 0.1), ("1.5", Decimal("1.5")), ("-2", -2), ("float('0.1')", 0.10000000149011612)],
    ),
    ("string", ["'a'", "'B'", "'é'", "'😀'", "''"], [("'a'", "a"), ("'é'", "é"), ("''", "")]),
    (
        "date",
        ["'1969-12-31'", "'2020-01-01'"],
        [
            ("date'2020-01-01'", date(2020, 1, 1)),
            ("'2020-01-01'", "2020-01-01"),
            ("timestamp_ntz'2020-01-01 00:00:00'", datetime(2020, 1, 1)),
            ("timestamp'2020-01-01 00:00:00'", datetime(2020, 1, 1, tzinfo=UTC)),
        ],
    ),
    (
        "timestamp",
        ["'2020-01-01 00:00:00'", "'2020-01-01 01:02:03.5'"],
        [
            ("timestamp'2020-01-01 01:02:03.5'", datetime(2020, 1, 1, 1, 2, 3, 500000, tzinfo=UTC)),
            ("timestamp_ntz'2020-01-01 01:02:03.5'", datetime(2020, 1, 1, 1, 2, 3, 500000)),
            ("date'2020-01-01'", date(2020, 1, 1)),
            ("'2020-01-01'", "2020-01-01"),
        ],
    ),
    (
        "timestamp_ntz",
        ["'2020-01-01 00:00:00'", "'2020-01-01 01:02:03.5'"],
        [
            ("timestamp_ntz'2020-01-01 01:02:03.5'", datetime(2020, 1, 1, 1, 2, 3, 500000)),
            ("timestamp'2020-01-01 01:02:03.5'", datetime(2020, 1, 1, 1, 2, 3, 500000, tzinfo=UTC)),
            ("date'2020-01-01'", date(2020, 1, 1)),
            ("'2020-01-01'", "2020-01-01"),
        ],
    ),
]


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("type, values, literals", COMPARED, ids=[c[0] for c in COMPARED])
def test_rows_that_spark_finds_are_in_files_that_are_kept(
    spark: SparkSession, type: str, values: list[str], literals: list[tuple[str, object]], ansi: str
) -> None:
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    column = from_spark("c", parse_ddl(type), count(1))
    listed = ", ".join(f"(CAST({value} AS {type}))" for value in values)
    tests = ", ".join(f"c >= {text}, c <= {text}, c = {text}" for text, _ in literals)
    result = spark.sql(f"SELECT c, {tests} FROM VALUES {listed} AS t(c)").toArrow()
    spark.conf.set("spark.sql.ansi.enabled", "true")
    met = 0
    for row in zip(*(column.to_pylist() for column in result.columns), strict=True):
        value, answers = row[0], row[1:]
        nan = value != value
        text = None if nan else render(value, column)
        for number, (_, literal) in enumerate(literals):
            bounds = (Bound("c", low=literal), Bound("c", high=literal), Bound("c", values=(literal,)))
            for bound, answer in zip(bounds, answers[3 * number : 3 * number + 3], strict=True):
                met += bool(answer)
                assert not answer or keeps(bound, column, text, text, 0, 1, nan), (value, bound)
    assert met > len(literals)

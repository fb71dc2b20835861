"""The column types that Spark, Parquet and DuckLake share, with the corners of their values."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pyarrow as pa

from trickle.testing.kinds import ArrayOf, Kind, MapOf, Scalar, StructOf


def _moments(zone: timezone | None) -> tuple[datetime, ...]:
    texts = (
        "0001-01-01 00:00:00",
        "1582-10-10 12:00:00.5",
        "1969-12-31 23:59:59.999999",
        "1970-01-01 00:00:00",
        "2024-03-31 01:30:00",
        "9999-12-31 23:59:59.999999",
    )
    return tuple(datetime.fromisoformat(text).replace(tzinfo=zone) for text in texts)


def _hours(zone: timezone | None) -> tuple[datetime, ...]:
    start = datetime(2024, 2, 28, 12, 30, 15, 123456, tzinfo=zone)
    return tuple(start + timedelta(hours=7 * i) for i in range(6))


def _integer(spark: str, duckdb: str, bits: int) -> Scalar:
    arrow = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[bits]
    top = 2 ** (bits - 1)
    return Scalar(spark, duckdb, arrow, (-top, -1, 0, top - 1), tuple(range(6)))


def _decimal(precision: int, scale: int) -> Scalar:
    name = f"DECIMAL({precision}, {scale})"
    top, bottom, *small = (
        Decimal(f"{digits}E-{scale}") for digits in (10**precision - 1, 1 - 10**precision, 0, 1, 5, 10, 125, -1)
    )
    return Scalar(name, name, pa.decimal128(precision, scale), (top, bottom, small[1], small[-1]), tuple(small))


BOOLEAN = Scalar("BOOLEAN", "BOOLEAN", pa.bool_(), (True, False), (True, False))
TINYINT = _integer("TINYINT", "TINYINT", 8)
SMALLINT = _integer("SMALLINT", "SMALLINT", 16)
INT = _integer("INT", "INTEGER", 32)
BIGINT = _integer("BIGINT", "BIGINT", 64)
FLOAT = Scalar(
    "FLOAT",
    "FLOAT",
    pa.float32(),
    (float("nan"), float("inf"), float("-inf"), -0.0, 3.4028234663852886e38, 1.401298464324817e-45),
    (0.0, 0.5, 1.5, -2.25),
)
DOUBLE = Scalar(
    "DOUBLE",
    "DOUBLE",
    pa.float64(),
    (float("nan"), float("inf"), float("-inf"), -0.0, 1.7976931348623157e308, 5e-324),
    (0.0, 0.1, 0.2, 0.30000000000000004, -1e-7),
)
DATE = Scalar(
    "DATE",
    "DATE",
    pa.date32(),
    (date(1, 1, 1), date(1582, 10, 10), date(1969, 12, 31), date(9999, 12, 31)),
    tuple(date(2024, 2, 27) + timedelta(days=i) for i in range(5)),
)
TIMESTAMP = Scalar(
    "TIMESTAMP",
    "TIMESTAMP WITH TIME ZONE",
    pa.timestamp("us", "UTC"),
    _moments(UTC),
    _hours(UTC),
)
TIMESTAMP_NTZ = Scalar("TIMESTAMP_NTZ", "TIMESTAMP", pa.timestamp("us"), _moments(None), _hours(None))
BINARY = Scalar("BINARY", "BLOB", pa.binary(), (b"", b"\x00", b"\xff\xfe", b"'\\x41"), (b"a", b"ab", b"\xe2\x82"))
STRING = Scalar(
    "STRING",
    "VARCHAR",
    pa.string(),
    ("", "it's", 'say "hi"', "back\\slash", "a\nb\tc", "ß→𝄞😀", "%_", "NULL", "nan", "x" * 300, "[1, 'a']"),
    ("a", "b", "abc", "Zürich", "null"),
)
DECIMALS = (_decimal(9, 2), _decimal(18, 0), _decimal(38, 10))

SCALARS: tuple[Kind, ...] = (
    BOOLEAN,
    TINYINT,
    SMALLINT,
    INT,
    BIGINT,
    FLOAT,
    DOUBLE,
    *DECIMALS,
    DATE,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    BINARY,
    STRING,
)
NESTED: tuple[Kind, ...] = (
    ArrayOf(INT),
    ArrayOf(STRING),
    MapOf(STRING, INT),
    StructOf((("x", INT), ("y", STRING))),
    ArrayOf(StructOf((("d", DATE), ("n", DECIMALS[0])))),
    MapOf(INT, ArrayOf(DOUBLE)),
    StructOf((("t", TIMESTAMP), ("m", MapOf(STRING, BOOLEAN)), ("b", BINARY))),
)
PLAIN = Scalar("STRING", "VARCHAR", pa.string(), ("ß→𝄞😀", "%_", "a b"), ("a", "b", "abc", "Zürich"))
NESTED_INLINABLE: tuple[Kind, ...] = (
    ArrayOf(INT),
    ArrayOf(PLAIN),
    MapOf(PLAIN, INT),
    StructOf((("x", INT), ("y", PLAIN))),
)
"""What DuckDB 1.5.5 reads back as it inlined it: inside others, strings lose quotes and backslashes, and
times are stored as the text of a CAST expression."""
ALL_KINDS = SCALARS + NESTED
INLINABLE = SCALARS + NESTED_INLINABLE
WITH_DEFAULT = tuple(kind for kind in SCALARS if kind is not BINARY)

WIDER: dict[Kind, tuple[Kind, ...]] = {
    TINYINT: (SMALLINT, INT, BIGINT),
    SMALLINT: (INT, BIGINT),
    INT: (BIGINT,),
    FLOAT: (DOUBLE,),
}

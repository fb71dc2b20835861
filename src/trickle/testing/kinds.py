"""The column types that Spark, Parquet and DuckLake share: random values, and their literals in both dialects."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

NULL_SHARE = 0.15


class Kind:
    """A type. `value` draws a non-NULL Python value; `spark` and `duckdb` name the type."""

    spark: str
    duckdb: str
    arrow: pa.DataType

    def value(self, rng: Random) -> Any:
        raise NotImplementedError

    def spark_literal(self, value: Any) -> str:
        """A literal of exactly this type in Spark SQL."""
        return f"CAST({self.spark_text(value) if value is not None else 'NULL'} AS {self.spark})"

    def duckdb_literal(self, value: Any) -> str:
        """A literal of exactly this type in DuckDB's SQL."""
        return f"CAST({self.duckdb_text(value) if value is not None else 'NULL'} AS {self.duckdb})"

    def spark_text(self, value: Any) -> str:
        raise NotImplementedError

    def duckdb_text(self, value: Any) -> str:
        raise NotImplementedError

    def maybe(self, rng: Random) -> Any:
        """A value, or NULL now and then."""
        return None if rng.random() < NULL_SHARE else self.value(rng)


@dataclass(frozen=True)
class Scalar(Kind):
    """A type whose values are drawn from a list of corners half of the time, else from a small domain."""

    spark: str
    duckdb: str
    arrow: pa.DataType
    corners: tuple[Any, ...]
    common: tuple[Any, ...]

    def value(self, rng: Random) -> Any:
        return rng.choice(self.corners if rng.random() < 0.5 else self.common)

    def spark_text(self, value: Any) -> str:
        return _spark_scalar(value)

    def duckdb_text(self, value: Any) -> str:
        return _duckdb_scalar(value)


@dataclass(frozen=True)
class ArrayOf(Kind):
    element: Kind

    def __post_init__(self) -> None:
        object.__setattr__(self, "spark", f"ARRAY<{self.element.spark}>")
        object.__setattr__(self, "duckdb", f"{self.element.duckdb}[]")
        object.__setattr__(self, "arrow", pa.list_(self.element.arrow))

    def value(self, rng: Random) -> Any:
        return [self.element.maybe(rng) for _ in range(rng.randrange(4))]

    def spark_text(self, value: Any) -> str:
        return f"array({', '.join(self.element.spark_literal(v) for v in value)})"

    def duckdb_text(self, value: Any) -> str:
        return f"[{', '.join(self.element.duckdb_literal(v) for v in value)}]"


@dataclass(frozen=True)
class MapOf(Kind):
    key: Kind
    item: Kind

    def __post_init__(self) -> None:
        object.__setattr__(self, "spark", f"MAP<{self.key.spark}, {self.item.spark}>")
        object.__setattr__(self, "duckdb", f"MAP({self.key.duckdb}, {self.item.duckdb})")
        object.__setattr__(self, "arrow", pa.map_(self.key.arrow, self.item.arrow))

    def value(self, rng: Random) -> Any:
        keys = dict.fromkeys(self.key.value(rng) for _ in range(rng.randrange(4)))
        return [(key, self.item.maybe(rng)) for key in keys]

    def spark_text(self, value: Any) -> str:
        pairs = (f"{self.key.spark_literal(k)}, {self.item.spark_literal(v)}" for k, v in value)
        return f"map({', '.join(pairs)})"

    def duckdb_text(self, value: Any) -> str:
        pairs = (f"{self.key.duckdb_literal(k)}: {self.item.duckdb_literal(v)}" for k, v in value)
        return f"MAP {{{', '.join(pairs)}}}"


@dataclass(frozen=True)
class StructOf(Kind):
    fields: tuple[tuple[str, Kind], ...]

    def __post_init__(self) -> None:
        spark = ", ".join(f"{name}: {kind.spark}" for name, kind in self.fields)
        duckdb = ", ".join(f"{name} {kind.duckdb}" for name, kind in self.fields)
        object.__setattr__(self, "spark", f"STRUCT<{spark}>")
        object.__setattr__(self, "duckdb", f"STRUCT({duckdb})")
        object.__setattr__(self, "arrow", pa.struct([(name, kind.arrow) for name, kind in self.fields]))

    def value(self, rng: Random) -> Any:
        return {name: kind.maybe(rng) for name, kind in self.fields}

    def spark_text(self, value: Any) -> str:
        parts = (f"'{name}', {kind.spark_literal(value[name])}" for name, kind in self.fields)
        return f"named_struct({', '.join(parts)})"

    def duckdb_text(self, value: Any) -> str:
        parts = (f"'{name}': {kind.duckdb_literal(value[name])}" for name, kind in self.fields)
        return f"{{{', '.join(parts)}}}"


def _spark_scalar(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, datetime):
        name = "TIMESTAMP" if value.tzinfo else "TIMESTAMP_NTZ"
        return f"{name} '{_moment(value)}'"
    return _plain_scalar(value)


def _duckdb_scalar(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"unhex('{value.hex()}')"
    if isinstance(value, datetime):
        name = "TIMESTAMPTZ" if value.tzinfo else "TIMESTAMP"
        return f"{name} '{_moment(value)}'"
    return _plain_scalar(value)


def _plain_scalar(value: Any) -> str:
    """What both dialects write alike; floats and decimals go through text, so that no digit is lost."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value) if value >= -(2**63) + 1 else f"'{value}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    return f"'{value:f}'" if isinstance(value, Decimal) else f"'{value}'"


def _moment(value: datetime) -> str:
    text = value.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")
    return f"{text}+00:00" if value.tzinfo else text


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
    _moments(timezone.utc),
    _hours(timezone.utc),
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
ALL_KINDS = SCALARS + NESTED

WIDER: dict[Kind, tuple[Kind, ...]] = {
    TINYINT: (SMALLINT, INT, BIGINT),
    SMALLINT: (INT, BIGINT),
    INT: (BIGINT,),
    FLOAT: (DOUBLE,),
}

"""Column types with random values and their literals in Spark's and in DuckDB's dialect."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
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
        """The value in Spark SQL, of a type that casts to this one."""
        raise NotImplementedError

    def duckdb_text(self, value: Any) -> str:
        """The value in DuckDB's SQL, of a type that casts to this one."""
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

    def duckdb_default(self, value: Any) -> str:
        """A bare literal: DuckDB adds columns only with those."""
        if isinstance(value, (bool, datetime)):
            return f"'{value if isinstance(value, bool) else _moment(value)}'"
        return _duckdb_scalar(value).removeprefix("DATE ")


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

"""Rows of any engine in one form: a multiset over plain hashable values, equal exactly when the tables are.

Floats count by value as SQL groups them (every NaN is one value, -0.0 is 0.0), timestamps as microseconds,
maps without order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa

EPOCH = datetime(1970, 1, 1)

Row = tuple[Hashable, ...]


@dataclass(frozen=True)
class Rows:
    """Named and typed columns, and how often each row occurs (in a change feed: its signed weight)."""

    columns: tuple[tuple[str, str], ...]
    counts: Counter[Row]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)

    def __sub__(self, other: Rows) -> Rows:
        """The change from `other` to this, under the columns of this."""
        counts = Counter(self.counts)
        counts.subtract(other.counts)
        return Rows(self.columns, consolidated(counts))


def consolidated(counts: Counter[Row]) -> Counter[Row]:
    """Rows whose weight is zero are no change."""
    return Counter({row: weight for row, weight in counts.items() if weight})


def rows_of(table: pa.Table) -> Rows:
    """A table as a multiset.

    >>> rows_of(pa.table({"a": [1, 1], "b": [0.0, -0.0]})).counts
    Counter({(1, '0.0'): 2})
    """
    return Rows(columns_of(table.schema), Counter(_tuples(table)))


def changes_of(table: pa.Table, weight: str = "__w") -> Rows:
    """A change feed as signed counts; a row that occurs twice adds up.

    >>> changes_of(pa.table({"a": [1, 1], "__w": [2, -2]})).counts
    Counter()
    """
    counts: Counter[Row] = Counter()
    content = table.drop_columns([weight])
    for row, signed in zip(_tuples(content), table.column(weight).to_pylist(), strict=True):
        counts[row] += signed
    return Rows(columns_of(content.schema), consolidated(counts))


def columns_of(schema: pa.Schema) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, type_name(field.type)) for field in schema)


def _tuples(table: pa.Table) -> Iterable[Row]:
    columns = [[plain(value, column.type) for value in column.to_pylist()] for column in table.columns]
    return zip(*columns, strict=True) if columns else [()] * table.num_rows


def plain(value: Any, kind: pa.DataType) -> Hashable:
    """One value in a form that compares and hashes the way SQL groups."""
    if value is None:
        return None
    if isinstance(value, float):
        return repr(value + 0.0) if not math.isnan(value) else "nan"
    if isinstance(value, datetime):
        return _micros(value)
    if isinstance(value, date):
        return value.isoformat()
    if pa.types.is_struct(kind):
        return tuple((field.name, plain(value[field.name], field.type)) for field in kind)
    if pa.types.is_map(kind):
        return _plain_map(value, kind)
    if isinstance(value, list):
        return tuple(plain(item, kind.value_type) for item in value)
    return value if isinstance(value, Hashable) else repr(value)


def _plain_map(value: Any, kind: pa.MapType) -> Hashable:
    entries = value.items() if isinstance(value, dict) else value
    return frozenset((plain(key, kind.key_type), plain(item, kind.item_type)) for key, item in entries)


def _micros(value: datetime) -> int:
    moment = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
    return (moment - EPOCH) // timedelta(microseconds=1)


def type_name(kind: pa.DataType) -> str:
    """A type's name without what Arrow producers are free to choose (large offsets, element names, the zone).

    >>> type_name(pa.list_(pa.field("element", pa.large_string())))
    'list<string>'
    """
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"list<{type_name(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"map<{type_name(kind.key_type)},{type_name(kind.item_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{','.join(f'{field.name}:{type_name(field.type)}' for field in kind)}>"
    if pa.types.is_timestamp(kind):
        return "timestamptz" if kind.tz else "timestamp"
    if pa.types.is_large_string(kind):
        return "string"
    if pa.types.is_large_binary(kind):
        return "binary"
    return str(kind)

"""States that a change looks up by key: of those, only what can hold the keys is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from ..lake.model import Bound, Column, Table
from ..lake.types import to_arrow
from ..plan import Version
from ..sql.bounds import bounds as bounds_of
from ..sql.names import quote_spark
from .spans import spans, spans_of

MOST_KEYS = 200_000
"""Keys that files are pruned by one by one; of more, the least and the greatest."""
MOST_LISTED = 500
"""Keys that Spark's reader is told; of more, where they lie."""
Read = tuple[str, Version]


@dataclass(frozen=True)
class Key:
    """A column that is one of the values in these columns of relations that the driver may hold."""

    column: str
    among: tuple[tuple[Read, str], ...]
    null_safe: bool = False
    """Whether a NULL there finds NULLs."""


@dataclass(frozen=True)
class Lookup:
    """A state read through a relation of its own: only rows with one of the keys count."""

    table: str
    version: Version
    keys: tuple[Key, ...]
    where: str = ""
    """What else is asked of the rows, by the table's columns."""

    @property
    def name(self) -> str:
        """What is looked up by what: the same each time."""
        by = (f"{k.column} {'<=>' if k.null_safe else '='} {_among(k)}" for k in self.keys)
        name = f"{self.table} {self.version.value} by {', '.join(by)}"
        return f"{name} where {self.where}" if self.where else name


def _among(key: Key) -> str:
    return "|".join(f"({read[0]} {read[1].value}).{column}" for read, column in key.among)


def bounds(lookup: Lookup, table: Table, held: Callable[[Read], pa.Table | None]) -> list[Bound]:
    """What the keys that the driver holds, and the condition, tell about the rows that are looked up."""
    found = list(_asked(lookup.where, tuple((c.name, c.type) for c in table.columns if not c.children)))
    for key in lookup.keys:
        column = table.column(key.column)
        values = _values(key, held)
        if column is None or column.children or values is None:
            continue
        bound = key_bound(column, values, key.null_safe)
        if bound is not None:
            found.append(bound)
    return found


@lru_cache(maxsize=1024)
def _asked(where: str, columns: tuple[tuple[str, str], ...]) -> tuple[Bound, ...]:
    """What the condition says of columns that Arrow and Spark compare alike: not of floats (NaN), not of instants."""
    types = {name: type for name, type in columns if type in ("varchar", "date") or type.startswith(("int", "decimal"))}
    found = bounds_of(where, types) if where else ()
    return tuple(b if b.values is None else replace(b, values=tuple(sorted(b.values))) for b in found)


def _values(key: Key, held: Callable[[Read], pa.Table | None]) -> pa.ChunkedArray | None:
    """All values of the key; None if one of its relations is not held."""
    parts = [rows.column(column) for read, column in key.among if (rows := held(read)) is not None]
    if len(parts) < len(key.among) or len({part.type for part in parts}) != 1:
        return None
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type)


def key_bound(column: Column, keys: pa.ChunkedArray, null_safe: bool) -> Bound | None:
    """The column is one of the keys; None where that says nothing about files, or Python has no such values."""
    type = to_arrow([column])[0].type
    if not _comparable(type, keys.type):
        return None
    try:
        return _bound(column, pc.unique(keys.drop_null()), null_safe and keys.null_count > 0)
    except (OverflowError, ValueError):
        return None  # a year that is not within 1 to 9999, a text that is not UTF-8


def _bound(column: Column, values: pa.Array, or_null: bool) -> Bound:
    if len(values) <= MOST_KEYS:
        return Bound(column.name, values=tuple(sorted(values.to_pylist())), or_null=or_null)
    ends = pc.min_max(values)
    return Bound(column.name, ends["min"].as_py(), ends["max"].as_py(), or_null=or_null, spans=spans(values))


def _comparable(state: pa.DataType, key: pa.DataType) -> bool:
    """Whether a key equals a stored value exactly if Python says so."""
    if pa.types.is_floating(state) or pa.types.is_binary(state) or pa.types.is_boolean(state):
        return False
    return bool(state == key or (pa.types.is_integer(state) and pa.types.is_integer(key)))


def condition(bounds: Sequence[Bound]) -> str | None:
    """The bounds as Spark SQL, for readers that skip pages and row groups; None where there is none to say.

    >>> condition([Bound("k", values=(1, 2), or_null=True)])
    '(`k` IN (1, 2) OR `k` IS NULL)'
    """
    texts = [text for bound in bounds if (text := _condition(bound)) is not None]
    return " AND ".join(texts) if texts else None


def _condition(bound: Bound) -> str | None:
    name = quote_spark(bound.column)
    if bound.values is None:
        asked = _in_spans(name, bound.spans or ((bound.low, bound.high),))
    elif len(bound.values) > MOST_LISTED:
        asked = _in_spans(name, spans_of(bound.values))
    else:
        values = [literal(v) for v in bound.values]
        if not values or None in values:
            return None
        asked = f"{name} IN ({', '.join(v for v in values if v is not None)})"
    if asked is None:
        return None
    return f"({asked} OR {name} IS NULL)" if bound.or_null else f"({asked})"


def _in_spans(name: str, found: Sequence[tuple[object, object]]) -> str | None:
    """
    >>> _in_spans("k", ((1, 3), (7, 9)))
    'k BETWEEN 1 AND 3 OR k BETWEEN 7 AND 9'
    """
    ends = [(literal(low), literal(high)) for low, high in found]
    if not ends or any(None in pair for pair in ends):
        return None
    return " OR ".join(f"{name} BETWEEN {low} AND {high}" for low, high in ends)


def literal(value: object) -> str | None:
    """The value as Spark SQL, None for those that are not worth it.

    >>> literal(7), literal("it's"), literal(1.5)
    ('7', "'it\\\\'s'", None)
    """
    match value:
        case bool():
            return None
        case int():
            return f"{value}L" if abs(value) >= 1 << 31 else str(value)
        case str():
            escaped = value.replace("\\", "\\\\").replace("'", "\\'")
            return f"'{escaped}'"
        case datetime():
            return None
        case date():
            return f"DATE'{value.isoformat()}'"
        case _:
            return None

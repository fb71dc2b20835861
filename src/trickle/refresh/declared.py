"""What declared keys tell about one refresh: by the catalog, and by changes that the driver holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from ..delta.declared import NOTHING, Declared, Reference, gone, updated
from ..lake.changes import consolidate
from ..lake.held import Held, Rows
from ..lake.lake import Lake
from ..lake.model import WEIGHT, Bound, ForeignKey, Table
from ..plan import Version
from ..sql.names import quote_spark
from .compile import Compiled
from .look import Look
from .lookups import Read
from .windows import Columns, Maker

FEW_CHANGES = 100_000
"""Changed rows up to which the driver tells apart what was updated and what is gone."""


def declared(lake: Lake, compiled: Compiled, look: Look) -> Declared:
    """The references that hold from frontier to target, and how their tables changed."""
    if not lake.settings["refresh.rely_on_keys"]:
        return NOTHING
    found = tuple(r for r, since in references(compiled.tables) if _held_before(r, since, look))
    parents = {r.parent for r in found}
    mixed = parents - look.unchanged - look.gained - look.lost
    split = frozenset(mixed) if look.changed_rows <= FEW_CHANGES else frozenset()
    known = Declared(found, look.unchanged, look.gained, look.lost, split)
    return known if known else NOTHING


def references(tables: Mapping[str, Table]) -> Iterator[tuple[Reference, int]]:
    """Foreign keys among the tables to primary keys, all to be relied upon; and the snapshots that declared them."""
    for child, table in tables.items():
        for key in table.foreign_keys:
            for parent, other in tables.items():
                if key.rely and other.uuid == key.table and _is_key(other, key):
                    assert other.key is not None
                    columns, there = _names(table, key.columns), _names(other, key.references)
                    yield Reference(key.name, child, columns, parent, there), max(key.since, other.key.since)


def _is_key(other: Table, key: ForeignKey) -> bool:
    return other.key is not None and other.key.rely and set(other.key.columns) == set(key.references)


def _names(table: Table, ids: tuple[int, ...]) -> tuple[str, ...]:
    names = {c.id: c.name for c in table.columns}
    return tuple(names[id] for id in ids)


def _held_before(reference: Reference, since: int, look: Look) -> bool:
    """A key counts from where it was declared on: of older states nothing was said."""
    starts = [window.start for name in (reference.child, reference.parent) if (window := look.windows.get(name))]
    return len(starts) == 2 and all(start is not None and start.id >= since for start in starts)


def part_makers(known: Declared, compiled: Compiled, makers: Mapping[Read, Maker]) -> dict[Read, Maker]:
    """How the parts of changes are read, each change once."""
    found: dict[Read, Maker] = {}
    for table in known.split:
        key = next(r.key for r in known.references if r.parent == table)
        parts = Parts(makers[table, Version.CHANGES], key, compiled.read_columns[table])
        for name, part in ((table, "net"), (updated(table), "updated"), (gone(table), "gone")):
            found[name, Version.CHANGES] = partial(_part, parts, part)
    return found


def _part(parts: Parts, name: str, columns: Columns, bounds: Sequence[Bound]) -> Rows:
    found: Rows = getattr(parts, name)
    return found


@dataclass(frozen=True)
class Parts:
    """The net change of a table by what became of its keys."""

    read: Maker
    key: tuple[str, ...]
    columns: frozenset[str]

    @cached_property
    def net(self) -> Rows:
        """One row a copy; rows that came and went again, as far as the query can tell, are left out."""
        found = self.read(self.columns | set(self.key), ())
        return Held(_net(found.rows), found.schema) if isinstance(found, Held) else found

    @cached_property
    def updated(self) -> Rows:
        """Rows whose key both came and went."""
        if isinstance(self.net, Held):
            return self._where(self._came & self._went)
        return self._by_spark((F.col("__low") < 0) & (F.col("__high") > 0))

    @cached_property
    def gone(self) -> Rows:
        """Rows whose key only went."""
        if isinstance(self.net, Held):
            return self._where(self._went & ~self._came)
        return self._by_spark(F.col("__high") < 0)

    def _where(self, chosen: np.ndarray) -> Held:
        assert isinstance(self.net, Held)
        return Held(self.net.rows.filter(pa.array(chosen)), self.net.schema)

    @cached_property
    def _came(self) -> np.ndarray:
        return self._has_sign(1)

    @cached_property
    def _went(self) -> np.ndarray:
        return self._has_sign(-1)

    @cached_property
    def _numbers(self) -> np.ndarray:
        assert isinstance(self.net, Held)
        return numbered([self.net.rows.column(n) for n in self.key])

    def _has_sign(self, sign: int) -> np.ndarray:
        """Row by row: does its key have a row of this sign?"""
        assert isinstance(self.net, Held)
        weights = self.net.rows.column(WEIGHT).to_numpy()
        return np.isin(self._numbers, self._numbers[np.sign(weights) == sign])

    def _by_spark(self, condition: Column) -> DataFrame:
        assert not isinstance(self.net, Held)
        rows = consolidate(self.net)
        partition = Window.partitionBy(*(F.col(quote_spark(n)) for n in self.key))
        ends = {"__low": F.min(WEIGHT).over(partition), "__high": F.max(WEIGHT).over(partition)}
        return rows.withColumns(ends).where(condition).select(*map(quote_spark, self.net.columns))


def numbered(columns: Sequence[pa.ChunkedArray]) -> np.ndarray:
    """A number for each row: the same for rows that Spark takes for the same key.

    >>> numbered([pa.chunked_array([[1.0, float("nan"), 1.0, float("nan")]])]).tolist()
    [0, 1, 0, 1]
    """
    found = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        found = np.unique(np.stack([found, _codes(column)], axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    return found


def _codes(column: pa.ChunkedArray) -> np.ndarray:
    """Equal values as equal numbers; to Spark −0.0 is 0.0, and a NaN is like any other."""
    if pa.types.is_floating(column.type):
        nan = pa.scalar(float("nan"), column.type)
        column = pc.if_else(pc.is_nan(column), nan, pc.add(column, pa.scalar(0.0, column.type)))
    encoded = column.combine_chunks().dictionary_encode("encode")
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), np.int64)


def _net(rows: pa.Table) -> pa.Table:
    """Equal rows summed up, then one row a copy again."""
    names = [n for n in rows.column_names if n != WEIGHT]
    totals = rows.group_by(names, use_threads=False).aggregate([(WEIGHT, "sum")])
    copies = totals.column(f"{WEIGHT}_sum").to_numpy()
    places = np.repeat(np.arange(len(copies)), np.abs(copies))
    signs = pa.array(np.sign(copies)[places], rows.schema.field(WEIGHT).type)
    return totals.select(names).take(places).append_column(WEIGHT, signs).select(rows.column_names).cast(rows.schema)

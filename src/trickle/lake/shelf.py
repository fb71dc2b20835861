"""What the driver read last of data files: footers, and columns of row groups under a budget.

Files never change, so what stands here stays true; stream tables that follow the same sources read the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .favourites import Favourites
from .kept import Kept
from .model import Bound, DataFile
from .orders import Orders, is_whole, keys_of
from .picked import picked_values
from .storage import Storage
from .types import ARROW_FIELD_ID
from .within import within

LEAST_FOOTERS = 16 << 20
"""Bytes of footers that are kept whatever the budget."""
MOST_FOUND = 8 << 20
"""Bytes of row numbers that are kept whatever the budget."""
WHOLE = 32
"""The part of the budget that small files as tables may take; their columns are mostly those that are kept anyway."""
WHOLE_BYTES = 1_024
"""About what a table takes beside its columns."""
COLUMN_BYTES = 1_024
"""About what a column of a row group takes beside its values."""
FEW_ROWS = 4_096
"""Rows that are gone through again sooner than remembered."""
SEARCH = 4
"""A key is sought in an order in the time in which so many values are gone through."""
FOOTER_GROWTH = 8
"""How many times as large a footer is in memory, with what was made of it."""


@dataclass(frozen=True)
class GroupStats:
    """What a footer says about one column of one row group."""

    bytes: int
    min: Any
    max: Any
    has_range: bool
    nulls: int | None


@dataclass(frozen=True)
class Footer:
    """What a file says about itself."""

    key: Hashable
    system: pa.fs.FileSystem
    path: str
    metadata: pq.FileMetaData
    _stats: dict[str, list[GroupStats]] = field(default_factory=dict, compare=False)

    @cached_property
    def schema(self) -> pa.Schema:
        return self.metadata.schema.to_arrow_schema()

    @cached_property
    def held(self) -> dict[int, str]:
        """Field id → name in the file."""
        return {int((f.metadata or {}).get(ARROW_FIELD_ID, b"-1")): f.name for f in self.schema}

    @cached_property
    def ends(self) -> np.ndarray:
        """The position behind the last row of each row group."""
        groups = range(self.metadata.num_row_groups)
        return np.cumsum([self.metadata.row_group(g).num_rows for g in groups], dtype=np.int64)

    def stats(self, name: str) -> list[GroupStats]:
        """Of each row group; a column of several leaves has their size and no range."""
        if name not in self._stats:
            leaves = [n for n, path in enumerate(self._paths) if path.split(".", 1)[0] == name]
            groups = [self.metadata.row_group(g) for g in range(self.metadata.num_row_groups)]
            self._stats[name] = [_stats([group.column(n) for n in leaves]) for group in groups]
        return self._stats[name]

    @cached_property
    def _paths(self) -> list[str]:
        schema = self.metadata.schema
        return [schema.column(n).path for n in range(len(schema))]


def _stats(leaves: Sequence[pq.ColumnChunkMetaData]) -> GroupStats:
    size = sum(leaf.total_compressed_size for leaf in leaves)
    known = leaves[0].statistics if len(leaves) == 1 else None
    if known is None or not known.has_min_max:
        return GroupStats(size, None, None, False, None)
    try:
        return GroupStats(size, known.min, known.max, True, known.null_count)
    except (OverflowError, ValueError):
        return GroupStats(size, None, None, False, None)  # Python has no far years, no text that is not UTF-8


class Shelf:
    """Footers and columns, those that are wanted least leaving first."""

    def __init__(self, most_bytes: int, footer_bytes: int = LEAST_FOOTERS, order_bytes: int = 0) -> None:
        self._columns: Favourites[pa.ChunkedArray] = Favourites(most_bytes - most_bytes // WHOLE)
        self._wholes: Kept[pa.Table] = Kept(most_bytes // WHOLE)
        self._orders = Orders(order_bytes)
        self._footers: Kept[Footer] = Kept(footer_bytes)
        self._found: Kept[np.ndarray] = Kept(MOST_FOUND)
        self.rows_read = self.bytes_read = 0
        """Of files, since it was made; compressed."""

    @property
    def bytes(self) -> int:
        """Of columns."""
        return self._columns.bytes

    def forget(self, paths: Set[str]) -> None:
        """What is known of files that were removed."""
        kept: tuple[Kept[Any] | Favourites[Any], ...] = (self._columns, self._wholes, self._found, *self._orders.kept)
        for some in kept:
            some.forget(lambda key: key[0][0] in paths)
        self._footers.forget(lambda key: key[0] in paths)

    def footer(self, storage: Storage, file: DataFile) -> Footer:
        key = (file.path, file.bytes)
        found = self._footers.get(key)
        if found is None:
            system, path = storage.filesystem(file.path)
            found = Footer(key, system, path, pq.read_metadata(path, filesystem=system))
            self._footers.put(key, found, FOOTER_GROWTH * found.metadata.serialized_size)
        return found

    def cost(self, footer: Footer, groups: Sequence[int], names: Sequence[str]) -> int:
        """Bytes that would have to be read."""
        return sum(
            footer.stats(name)[g].bytes for name in names for g in groups if (footer.key, name, g) not in self._columns
        )

    def read(self, footer: Footer, groups: Sequence[int], names: Sequence[str]) -> pa.Table:
        """Columns of row groups, one row group behind the other."""
        parts = {(name, g): self._columns.get((footer.key, name, g)) for name in names for g in groups}
        lacking = [name for name in names if any(parts[name, g] is None for g in groups)]
        absent = [g for g in groups if any(parts[name, g] is None for name in lacking)]
        if lacking:
            parts |= self._fetch(footer, absent, lacking)
        types = {f.name: f.type for f in footer.schema}
        columns = [_joined([parts[name, g] for g in groups], types[name]) for name in names]
        return pa.table(columns, names=list(names))

    def whole(self, key: Hashable, made: Callable[[], pa.Table | None]) -> pa.Table | None:
        """A small file as a table; its columns are those that are kept, its names are made once."""
        known = self._wholes.get(key)
        found = made() if known is None else known
        if known is None and found is not None:
            self._wholes.put(key, found, WHOLE_BYTES + found.nbytes)
        return found

    def found(
        self, footer: Footer, groups: Sequence[int], data: pa.Table, asked: tuple[tuple[str, Bound], ...]
    ) -> np.ndarray:
        """The numbers of the rows, of those read of these row groups, whose columns lie within the bounds.

        A table is read before and after a change by the same keys, and most of its files stay as they are.
        """
        key = (footer.key, tuple(groups), asked)
        known = self._found.get(key) if data.num_rows > FEW_ROWS else None
        if known is None:
            known = self._sought(footer, groups, data, asked)
            if data.num_rows > FEW_ROWS:
                self._found.put(key, known, known.nbytes + sum(_held_by(bound) for _, bound in asked))
        return known

    def _sought(
        self, footer: Footer, groups: Sequence[int], data: pa.Table, asked: tuple[tuple[str, Bound], ...]
    ) -> np.ndarray:
        """By whole numbers first, which are found soonest, and the fewest; what those leave over is asked the rest."""
        (name, bound), *others = sorted(asked, key=lambda part: _toil(part[1], data.column(part[0])))
        found = self._by_order(footer, groups, data, name, bound)
        if found is None:
            found = np.flatnonzero(within(data.column(name), bound))
        for name, bound in others:
            found = found[within(picked_values(data.column(name), found), bound)]
        return found

    def _by_order(
        self, footer: Footer, groups: Sequence[int], data: pa.Table, name: str, bound: Bound
    ) -> np.ndarray | None:
        """The rows within the bound, where all the row groups have their values in order, and keys are few; or None."""
        column = data.column(name)
        keys = keys_of(bound, column.type)
        if keys is None or data.num_rows <= FEW_ROWS:
            return None
        sizes = np.diff(footer.ends, prepend=0)[list(groups)].tolist()
        starts = np.r_[0, np.cumsum(sizes)[:-1]].tolist()
        parts = zip(groups, starts, sizes, strict=True)
        orders = [self._orders.of((footer.key, name, g), column.slice(start, size)) for g, start, size in parts]
        found = [(order, start) for order, start in zip(orders, starts, strict=True) if order is not None]
        if len(found) < len(orders) or SEARCH * sum(len(order.near(keys)) for order, _ in found) > data.num_rows:
            return None
        return np.concatenate([start + order.among(keys, bound.or_null) for order, start in found])

    def _fetch(
        self, footer: Footer, groups: Sequence[int], names: Sequence[str]
    ) -> dict[tuple[str, int], pa.ChunkedArray]:
        """One row group after the other: slices of one read would live as long as any of them."""
        found = {}
        with pq.ParquetFile(footer.path, filesystem=footer.system, metadata=footer.metadata) as file:
            for g in groups:
                data = file.read_row_group(g, columns=list(names))
                self.rows_read += data.num_rows
                self.bytes_read += sum(footer.stats(name)[g].bytes for name in names)
                for name in names:
                    found[name, g] = column = data.column(name)
                    self._columns.put((footer.key, name, g), column, COLUMN_BYTES + column.nbytes)
        return found


def _held_by(bound: Bound) -> int:
    """About the bytes that a bound takes."""
    return 1_024 + 64 * len(bound.values or ())


def fewest_first(bounds: Sequence[Bound]) -> list[Bound]:
    """Those that leave few rows over before those that leave many."""
    return sorted(bounds, key=_many)


def _toil(bound: Bound, column: pa.ChunkedArray) -> tuple[bool, int]:
    """How long it takes to find the rows within a bound, in comparison."""
    return not (is_whole(column.type) and bound.values is not None), _many(bound)


def _many(bound: Bound) -> int:
    """About how many rows it leaves over, in comparison."""
    return 1 << 62 if bound.values is None else len(bound.values)


def _joined(parts: Sequence[pa.ChunkedArray | None], type: pa.DataType) -> pa.ChunkedArray:
    return pa.chunked_array([chunk for part in parts if part is not None for chunk in part.chunks], type)

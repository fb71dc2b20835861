"""Parquet footers → statistics as DuckDB keeps them: one row per leaf column, min and max always known.

DuckDB takes a missing min or max for "all values are NULL" when it merges statistics, so a file whose footer
does not say (NaN, long strings, foreign writers) is read in that one column.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs
import pyarrow.parquet as pq

from ..errors import LakeError
from .bounds import at_least, at_most
from .foreign import translated
from .model import Column, ColumnStats
from .storage import Storage
from .text import FLOATS, STRINGS, key_text, sortable

_READERS = 8
_BATCH = 65_536
_FIELD_ID = b"PARQUET:field_id"
_LEAVE_OUT_LONG = ("parquet-mr", "parquet-cpp-arrow")
"""Writers that leave out the statistics of long strings; others may cut them."""
_MICROS = {"s": 1_000_000, "ms": 1000, "us": 1}


@dataclass(frozen=True)
class Footer:
    records: int
    bytes: int
    footer_bytes: int
    stats: tuple[ColumnStats, ...]


@dataclass(frozen=True)
class _Range:
    """The values of a leaf: how many are not NULL, whether one is NaN, the extremes of the rest."""

    count: int = 0
    nan: bool = False
    low: Any = None
    high: Any = None

    def __add__(self, other: _Range) -> _Range:
        lows = [key for key in (self.low, other.low) if key is not None]
        highs = [key for key in (self.high, other.high) if key is not None]
        count, nan = self.count + other.count, self.nan or other.nan
        return _Range(count, nan, min(lows, default=None), max(highs, default=None))


def read_footer(path: str, columns: Sequence[Column], filesystem: pa.fs.FileSystem | None = None) -> Footer:
    """Counts, sizes and statistics of one Parquet file, its leaves matched by field id, else by name."""
    with translated(f'data file "{path}"'):
        files, inner = (filesystem, path) if filesystem else Storage(path).filesystem(path)
        with files.open_input_file(inner) as handle:
            return _footer(path, handle, columns)


def read_footers(
    paths: Sequence[str], columns: Sequence[Column], filesystem: pa.fs.FileSystem | None = None
) -> list[Footer]:
    """The footers of several files, in order, read side by side."""
    read = partial(read_footer, columns=columns, filesystem=filesystem)
    if len(paths) < 2:
        return [read(path) for path in paths]
    with ThreadPoolExecutor(min(_READERS, len(paths))) as pool:
        return list(pool.map(read, paths))


def _footer(path: str, handle: pa.NativeFile, columns: Sequence[Column]) -> Footer:
    try:
        file = pq.ParquetFile(handle)
        leaves = _leaves(0, list(file.schema_arrow), columns, by_place=False)
        stats = tuple(_leaf_stats(file, leaf) for leaf in leaves)
    except pa.ArrowInvalid as error:
        raise LakeError(f'data file "{path}" is not a whole Parquet file', detail=str(error)) from error
    return Footer(file.metadata.num_rows, handle.size(), file.metadata.serialized_size, stats)


@dataclass(frozen=True)
class _Leaf:
    index: int
    """Among all leaves of the file."""
    stored: pa.DataType
    column: Column


def _leaves(index: int, fields: Sequence[pa.Field], columns: Sequence[Column], by_place: bool) -> Iterator[_Leaf]:
    """The leaves of `columns` that the file holds; `fields` begin at leaf `index`."""
    pairs = zip(fields, columns, strict=True) if by_place else _matched(fields, columns)
    for field, column in pairs:
        inside = _fields_of(field.type)
        if column is not None and inside:
            # Spark writes no ids on list elements and map entries.
            yield from _leaves(index, inside, column.children, by_place=column.type != "struct")
        elif column is not None:
            yield _Leaf(index, field.type, column)
        index += _width(field.type)


def _matched(fields: Iterable[pa.Field], columns: Sequence[Column]) -> Iterator[tuple[pa.Field, Column | None]]:
    by_id = {str(c.id).encode(): c for c in columns}
    by_name = {c.name.casefold(): c for c in columns}
    for field in fields:
        id = (field.metadata or {}).get(_FIELD_ID)
        yield field, by_name.get(field.name.casefold()) if id is None else by_id.get(id)


def _fields_of(type: pa.DataType) -> list[pa.Field]:
    if pa.types.is_map(type):
        return [type.key_field, type.item_field]
    if pa.types.is_struct(type):
        return list(type)
    if pa.types.is_list(type) or pa.types.is_large_list(type) or pa.types.is_fixed_size_list(type):
        return [type.value_field]
    return []


def _width(type: pa.DataType) -> int:
    return sum(_width(f.type) for f in _fields_of(type)) or 1


def _leaf_stats(file: pq.ParquetFile, leaf: _Leaf) -> ColumnStats:
    type = leaf.column.type
    chunks = [file.metadata.row_group(group).column(leaf.index) for group in range(file.metadata.num_row_groups)]
    entries = sum(chunk.num_values for chunk in chunks)
    found = _told(file.metadata.created_by or "", chunks, leaf) or _read(file, leaf)
    return ColumnStats(
        column_id=leaf.column.id,
        size_bytes=sum(chunk.total_compressed_size for chunk in chunks),
        value_count=found.count,
        null_count=entries - found.count,
        min=None if found.low is None else key_text(at_most(found.low, type), type),
        max=None if found.high is None else key_text(at_least(found.high, type), type),
        contains_nan=found.nan if type in FLOATS else None,
    )


def _told(writer: str, chunks: Iterable[pq.ColumnChunkMetaData], leaf: _Leaf) -> _Range | None:
    """What the footer says of a leaf; None where it does not say all."""
    total = _Range()
    for chunk in chunks:
        told = chunk.statistics
        if told is None or not told.has_null_count:
            return None
        count = chunk.num_values - told.null_count
        if not count or not sortable(leaf.column.type):
            total += _Range(count)
            continue
        if not told.has_min_max or not _exact(told, leaf.column.type, writer):
            return None
        total += _Range(count, False, *_extremes(told, leaf))
    return total


def _exact(told: pq.Statistics, type: str, writer: str) -> bool:
    if type in FLOATS:
        # Only Spark's writer shows a NaN, as the maximum; pyarrow and DuckDB pass over it.
        return writer.startswith("parquet-mr") and not math.isnan(told.max_raw)
    return type not in (*STRINGS, "blob") or writer.startswith(_LEAVE_OUT_LONG)


def _extremes(told: pq.Statistics, leaf: _Leaf) -> tuple[Any, Any]:
    """The footer's min and max as keys, strings as bytes. Far years and bytes exist only raw."""
    if pa.types.is_timestamp(leaf.stored):
        micros = _MICROS[leaf.stored.unit]
        return told.min_raw * micros, told.max_raw * micros
    if leaf.column.type in (*STRINGS, "blob", "date"):
        return told.min_raw, told.max_raw
    return told.min, told.max


def _read(file: pq.ParquetFile, leaf: _Leaf) -> _Range:
    """The range of a leaf found by reading it, batch by batch."""
    groups = range(file.metadata.num_row_groups)
    batches = file.reader.iter_batches(_BATCH, row_groups=groups, column_indices=[leaf.index], use_threads=False)
    return sum((_range(_flat(batch.column(0)).drop_null(), leaf.column.type) for batch in batches), _Range())


def _flat(array: pa.Array) -> pa.Array:
    """The values of the only leaf of a nested array."""
    while pa.types.is_nested(array.type):
        flat = array.flatten()
        array = flat[0] if pa.types.is_struct(array.type) else flat
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def _range(values: pa.Array, type: str) -> _Range:
    if not sortable(type):
        return _Range(len(values))
    keys = _keys(values, type)
    nan = False
    if type in FLOATS:
        numbers = keys.filter(pc.invert(pc.is_nan(keys)))
        keys, nan = numbers, len(numbers) < len(keys)
    extremes = pc.min_max(keys)
    return _Range(len(values), nan, extremes["min"].as_py(), extremes["max"].as_py())


def _keys(values: pa.Array, type: str) -> pa.Array:
    if pa.types.is_timestamp(values.type):
        return values.cast(pa.timestamp("us", values.type.tz), safe=False).cast(pa.int64())
    if pa.types.is_date32(values.type):
        return values.cast(pa.int32())
    return values.cast(pa.large_binary()) if type in STRINGS else values

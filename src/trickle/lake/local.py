"""Pieces of files as an Arrow table, read by the driver: for changes so small that a Spark job would cost more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..plan.names import FILE, POSITION
from .bundle import Bundle
from .foreign import translated
from .inlined import InlinedRows
from .model import WEIGHT, Column
from .reading import Reading, with_columns
from .scan import STORED_ROW_ID, ScanRequest, added
from .shelf import Shelf
from .storage import Storage
from .text import word
from .types import to_arrow

MOST_ROWS = 2_000_000
"""Rows of a change, or of a state that was looked up, that the driver hands to Spark."""
SMALL_STATE = 20_000
"""Rows of a state that it hands to Spark as a whole."""
MOST_PIECES = 2_048
_PLAIN = frozenset({"boolean", "date", "decimal", "blob", "timestamp", "timestamptz", "varchar"}) | frozenset(
    {"float32", "float64", "int8", "int16", "int32", "int64"}
)


@dataclass(frozen=True)
class Limits:
    """Up to how much the driver reads, and how many rows it hands to Spark."""

    bytes: int
    rows: int


def read_small(storage: Storage, request: ScanRequest, limits: Limits, shelf: Shelf) -> pa.Table | None:
    """The rows of the request, with their weights or addresses if asked for; None where Spark should read them.

    Of rows outside the request's bounds some, or all, may be left out.
    """
    if len(request.pieces) > MOST_PIECES or not _is_plain(request.table.columns):
        return None
    if request.lacking or request.retyped or request.names:
        return None
    schema = arrow_schema(request)
    parts = [_inlined(request, n, rows) for n, rows in enumerate(request.inlined)]
    left, room = limits.bytes, limits.rows - sum(p.num_rows for p in parts)
    with translated(f'table "{request.table.label}"'):
        for reading in _readings(storage, request, shelf, schema):
            left -= reading.cost
            part = reading.rows() if left >= 0 else None
            if part is None or part.num_rows > room:
                return None
            room -= part.num_rows
            parts.append(part)
    return pa.concat_tables([p.cast(schema) for p in parts]) if parts else schema.empty_table()


def _readings(storage: Storage, request: ScanRequest, shelf: Shelf, schema: pa.Schema) -> Iterator[Reading | Bundle]:
    """Every piece for itself, but the small ones together."""
    found = (Reading.of(storage, request, n, piece, shelf, schema) for n, piece in enumerate(request.pieces))
    small: list[Reading] = []
    for reading in found:
        if reading.is_small:
            small.append(reading)
        elif reading.groups:
            yield reading
    if small:
        yield Bundle(request, shelf, tuple(small))


def arrow_schema(request: ScanRequest) -> pa.Schema:
    """The columns of the table and those that the request adds."""
    schema = to_arrow(request.table.columns, request.table.label)
    for name in added(request):
        schema = schema.append(pa.field(name, pa.int64()))
    return schema


def _inlined(request: ScanRequest, number: int, rows: InlinedRows) -> pa.Table:
    size, ids = len(rows.row_ids), np.array(rows.row_ids, np.int64)
    known = {
        FILE: np.full(size, -1 - number, np.int64),
        POSITION: ids,
        STORED_ROW_ID: ids,
        WEIGHT: np.full(size, rows.weight, np.int64),
    }
    return with_columns(rows.data, {n: known[n] for n in added(request)})


def _is_plain(columns: Sequence[Column]) -> bool:
    return all(word(c.type) in _PLAIN for c in columns)

"""Rows of a table by their numbers: chunk by chunk, as Arrow would copy whole columns into one piece first.

>>> picked(pa.table({"k": pa.chunked_array([[1, 2], [], [3, 4]])}), np.array([1, 2])).column("k").to_pylist()
[2, 3]
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def picked(rows: pa.Table, numbers: np.ndarray) -> pa.Table:
    """The rows of these numbers, which are in order."""
    columns = [picked_values(column, numbers) for column in rows.columns]
    return pa.Table.from_arrays(columns, schema=rows.schema) if columns else rows.take(pa.array(numbers))


def picked_values(column: pa.ChunkedArray, numbers: np.ndarray) -> pa.ChunkedArray:
    ends = np.cumsum([len(chunk) for chunk in column.chunks], dtype=np.int64)
    edges = np.asarray(np.searchsorted(numbers, np.r_[0, ends]))
    parts = zip(column.chunks, ends, edges[:-1], edges[1:], strict=True)
    found = [chunk.take(pa.array(numbers[a:b] - (end - len(chunk)))) for chunk, end, a, b in parts if b > a]
    return pa.chunked_array(found, column.type)

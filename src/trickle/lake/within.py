"""Which values of a column lie within a bound.

>>> within(pa.chunked_array([[3, None], [9, 4]]), Bound("k", values=(3, 4))).tolist()
[True, False, False, True]
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .model import Bound

MOST_MARKS = 1 << 22
"""How far apart the least and the greatest of whole numbers may lie for each between them to be marked."""


def within(column: pa.ChunkedArray, bound: Bound) -> np.ndarray:
    """Whether each value is; perhaps more of them, where that cannot be told."""
    try:
        found = _among(column, bound.values) if bound.values is not None else _between(column, bound.low, bound.high)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return np.full(len(column), True)
    return found | np.asarray(column.is_null()) if bound.or_null else found


def _among(column: pa.ChunkedArray, values: tuple[object, ...]) -> np.ndarray:
    """NULL is not."""
    sought = _sought(values, column.type)
    if pa.types.is_signed_integer(column.type) and column.null_count == 0 and len(column) and len(sought):
        keys = sought.to_numpy().astype(np.int64)
        if int(keys.max()) - int(keys.min()) < MOST_MARKS:
            return _marked(column, keys)
    return np.asarray(pc.fill_null(pc.is_in(column, value_set=sought), False))


@lru_cache(maxsize=32)
def _sought(values: tuple[object, ...], type: pa.DataType) -> pa.Array:
    """The same keys are sought in many files."""
    return pa.array(values, type)


def _marked(column: pa.ChunkedArray, keys: np.ndarray) -> np.ndarray:
    """A look at a mark for each value is four times as fast as hashing it."""
    low = keys.min()
    marks = np.zeros(keys.max() - low + 2, dtype=bool)  # the last is for all that lie beyond
    marks[keys - low] = True
    beyond = np.uint64(len(marks) - 1)
    parts = [chunk.to_numpy().astype(np.int64, copy=False) for chunk in column.chunks]
    # What is less than the least key is a huge number without a sign, unless it lies nearly 2**64 below it.
    places = [np.minimum((part - low).view(np.uint64), beyond).view(np.int64) for part in parts]
    return np.concatenate([marks[place] for place in places])


def _between(column: pa.ChunkedArray, low: object | None, high: object | None) -> np.ndarray:
    """NULL is not."""
    found = column.is_valid()
    if low is not None:
        found = pc.and_(found, pc.greater_equal(column, low))
    if high is not None:
        found = pc.and_(found, pc.less_equal(column, high))
    return np.asarray(pc.fill_null(found, False))

"""Rows that the driver holds, matched by what they say: equal as Spark's `<=>` has it, without a job of Spark.

>>> rows = pa.table({"k": ["a", None, "b"], "x": [0.0, 1.0, float("nan")]})
>>> wanted = pa.table({"k": ["b", None, "a", "a"], "x": [float("nan"), 1.0, -0.0, 2.0]})
>>> [side.tolist() for side in matches(rows, wanted, ["k", "x"])]
[[0, 1, 2], [2, 1, 0]]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def matches(rows: pa.Table, wanted: pa.Table, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray] | None:
    """Pairs of equal rows: places in `wanted`, in order, and in `rows`; None where only Spark can compare a column."""
    codes = _row_codes(rows, wanted, names)
    if codes is None:
        return None
    held, sought = codes
    order = np.argsort(held, kind="stable")
    first, last = (np.searchsorted(held[order], sought, side) for side in ("left", "right"))
    count = last - first
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(np.arange(len(sought)), count), order[np.repeat(first, count) + within]


def difference(rows: pa.Table, wanted: pa.Table, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray] | None:
    """Places of `rows` that are not wanted, and of `wanted` that are not there, each copy counted; None as above.

    >>> one, other = pa.table({"k": [1, 1, 2]}), pa.table({"k": [3, 1, 2, 2]})
    >>> [side.tolist() for side in difference(one, other, ["k"])]
    [[1], [0, 3]]
    """
    codes = _row_codes(rows, wanted, names)
    if codes is None:
        return None
    held, sought = codes
    size = 1 + max((int(side.max()) for side in codes if len(side)), default=0)
    gone = _copy(held) >= np.bincount(sought, minlength=size)[held]
    came = _copy(sought) >= np.bincount(held, minlength=size)[sought]
    return np.flatnonzero(gone), np.flatnonzero(came)


def _copy(codes: np.ndarray) -> np.ndarray:
    """Of each, how many of its kind stand before it."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    found = np.empty(len(codes), np.int64)
    found[order] = np.arange(len(codes)) - np.searchsorted(ordered, ordered, side="left")
    return found


def _row_codes(rows: pa.Table, wanted: pa.Table, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray] | None:
    """A number for each row of both, the same for equal ones."""
    codes = np.zeros(rows.num_rows + wanted.num_rows, np.int64)
    for name in names:
        column = _codes(rows.column(name), wanted.column(name))
        if column is None:
            return None
        codes = np.unique(codes * (len(codes) + 1) + column, return_inverse=True)[1]
    return codes[: rows.num_rows], codes[rows.num_rows :]


def _codes(held: pa.ChunkedArray, sought: pa.ChunkedArray) -> np.ndarray | None:
    """A number for each value, the same for equal ones: of what is held, then of what is sought."""
    type = held.type
    if not _is_plain(type) or not _is_alike(type, sought.type):
        return None
    both = pa.chunked_array([*held.chunks, *sought.cast(type).chunks], type=type).combine_chunks()
    if pa.types.is_floating(type):
        both = _bits(both)
    return np.asarray(both.dictionary_encode(null_encoding="encode").indices)


def _bits(floats: pa.Array) -> pa.Array:
    """Zeros are equal whatever their sign, and so is what is no number."""
    values = np.array(pc.fill_null(floats, 0)) + 0
    values[np.isnan(values)] = np.nan
    return pa.array(values.view(f"i{values.itemsize}"), mask=np.asarray(pc.is_null(floats)))


def _is_plain(type: pa.DataType) -> bool:
    """Whether equal values have equal bytes; floats are made so."""
    kinds = (
        pa.types.is_integer,
        pa.types.is_boolean,
        pa.types.is_date,
        pa.types.is_timestamp,
        pa.types.is_decimal,
        pa.types.is_float32,
        pa.types.is_float64,
        _is_text,
        _is_binary,
    )
    return any(is_such(type) for is_such in kinds)


def _is_alike(held: pa.DataType, sought: pa.DataType) -> bool:
    """Whether the one is the other, but for its width."""
    return held == sought or any(is_such(held) and is_such(sought) for is_such in (_is_text, _is_binary))


def _is_text(type: pa.DataType) -> bool:
    return bool(pa.types.is_string(type) or pa.types.is_large_string(type))


def _is_binary(type: pa.DataType) -> bool:
    return bool(pa.types.is_binary(type) or pa.types.is_large_binary(type))

"""Columns of row groups in order, for those that keys are sought in again and again: a search instead of a walk."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from .kept import Kept
from .model import Bound

WALKS = 4
"""How often a column is gone through before it is put in order: that costs about as much."""
_COUNT_BYTES = 200


@dataclass(frozen=True)
class Order:
    """A column of whole numbers or days, in order.

    >>> Order.of(pa.chunked_array([[7, None], [3, 7]])).among(np.array([5, 7]), or_null=True).tolist()
    [0, 1, 3]
    """

    values: np.ndarray
    rows: np.ndarray
    """Of each value, the number of its row."""
    nulls: np.ndarray
    """The numbers of rows that have none."""

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Order:
        is_null = np.asarray(column.is_null())
        held = np.flatnonzero(~is_null).astype(np.int32)
        values = whole_numbers(column.drop_null())
        assert values is not None
        order = np.argsort(values, kind="stable")
        return cls(values[order], held[order], np.flatnonzero(is_null).astype(np.int32))

    @property
    def bytes(self) -> int:
        return int(self.values.nbytes + self.rows.nbytes + self.nulls.nbytes)

    def near(self, keys: np.ndarray) -> np.ndarray:
        """Of keys in order, those between the least and the greatest value."""
        if not len(self.values):
            return keys[:0]
        return keys[np.searchsorted(keys, self.values[0]) : np.searchsorted(keys, self.values[-1], "right")]

    def among(self, keys: np.ndarray, or_null: bool) -> np.ndarray:
        """The numbers, in order, of the rows that have one of the keys; each key is there once, in order."""
        keys = self.near(keys)
        first, last = (np.searchsorted(self.values, keys, side) for side in ("left", "right"))
        count = last - first
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        found = self.rows[np.repeat(first, count) + within]
        return np.sort(np.r_[found, self.nulls] if or_null else found)


class Orders:
    """The orders in use, under a budget; a column gets one when it was gone through a few times."""

    def __init__(self, most_bytes: int) -> None:
        self._orders: Kept[Order] = Kept(most_bytes)
        self._walks: Kept[int] = Kept(min(most_bytes, 2 << 20))
        self.kept: tuple[Kept[Order], Kept[int]] = self._orders, self._walks

    def of(self, key: Hashable, column: pa.ChunkedArray) -> Order | None:
        """The order of a column that somebody looks keys up in; None where to go through it is as good."""
        found = self._orders.get(key)
        if found is not None:
            return found
        walks = (self._walks.get(key) or 0) + 1
        if walks <= WALKS or not is_whole(column.type):
            self._walks.put(key, walks, _COUNT_BYTES)
            return None
        found = Order.of(column)
        self._orders.put(key, found, found.bytes)
        self._walks.put(key, 0, _COUNT_BYTES)  # if it has to leave, it is not made again at once
        return found


@lru_cache(maxsize=32)
def keys_of(bound: Bound, type: pa.DataType) -> np.ndarray | None:
    """The values of a bound as they stand in an order of the type; None where they are others."""
    if bound.values is None or not is_whole(type):
        return None
    try:
        values = pa.array(bound.values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return None
    if not len(values):
        return np.empty(0, np.int64)
    is_alike = pa.types.is_date32(values.type) == pa.types.is_date32(type)
    return np.unique(numbers) if is_alike and (numbers := whole_numbers(values)) is not None else None


def whole_numbers(values: pa.Array | pa.ChunkedArray) -> np.ndarray | None:
    """Whole numbers, or days as such; None of any other type. Without NULLs."""
    if not is_whole(values.type):
        return None
    days = pa.types.is_date32(values.type)
    return np.asarray((values.cast(pa.int32()) if days else values).to_numpy()).astype(np.int64, copy=False)


def is_whole(type: pa.DataType) -> bool:
    """Whole numbers, or days."""
    return bool(pa.types.is_signed_integer(type) or pa.types.is_date32(type))

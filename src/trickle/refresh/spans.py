"""Many keys as a few spans: what a reader of files may be told of them, so that it skips what lies between."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa

from ..lake.orders import whole_numbers

MOST_SPANS = 16
Spans = tuple[tuple[Any, Any], ...]
"""The first and the last of each."""


def spans(values: pa.Array, most: int = MOST_SPANS) -> Spans:
    """Where whole numbers or days lie, apart where the gaps are widest; nothing of other values.

    >>> spans(pa.array([91, 1, 3, 200, 2, 90]), most=2), spans(pa.array([5])), spans(pa.array(["a"]))
    (((1, 91), (200, 200)), ((5, 5),), ())
    """
    numbers = whole_numbers(values)
    if numbers is None or not len(numbers):
        return ()
    ordered = np.sort(numbers)
    gaps = np.diff(ordered)
    widest = np.argsort(gaps)[max(len(gaps) - most + 1, 0) :]
    after = np.sort(widest[gaps[widest] > 1]) + 1
    first, last = (ordered[edges] for edges in (np.r_[0, after], np.r_[after - 1, len(ordered) - 1]))
    return tuple(zip(_told(first, values.type), _told(last, values.type), strict=True))


def spans_of(values: Sequence[object]) -> Spans:
    """The same of Python's values, of which Arrow may not have all.

    >>> spans_of((1, 2, 9)), spans_of((1, 2**70)), spans_of((1, 2.5)), spans_of(("a", "b"))
    (((1, 2), (9, 9)), (), (), ())
    """
    if not all(type(value) is int for value in values) and not all(type(value) is date for value in values):
        return ()
    try:
        return spans(pa.array(values))
    except OverflowError:
        return ()


def _told(numbers: np.ndarray, type: pa.DataType) -> list[Any]:
    days = pa.types.is_date32(type)
    return list(pa.array(numbers.astype(np.int32) if days else numbers).cast(type).to_pylist())

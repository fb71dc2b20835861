"""Table-wide column statistics: the union of what its files hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from .model import Column, ColumnStats
from .text import key, sortable


@dataclass(frozen=True)
class TableColumnStats:
    """Statistics of one leaf column over all files; min and max bound every value that is not NaN."""

    column_id: int
    contains_null: bool | None
    contains_nan: bool | None
    min: str | None
    max: str | None


def merge_stats(
    current: Mapping[int, TableColumnStats],
    files: Iterable[ColumnStats],
    columns: Sequence[Column],
    committed: Callable[[int], Iterable[ColumnStats]],
) -> dict[int, TableColumnStats]:
    """current ∪ files per leaf of `columns`: the rows the catalog shall hold.

    A column without a row in a table that has others was added later and stays without one, as in DuckDB:
    nobody counted the rows before. `committed(column_id)`, the statistics of the files committed before, is
    asked only where a row knows no min: it may stand for NULLs alone, or for values nobody looked at.
    """
    types = {leaf.id: leaf.type for column in columns for leaf in column.walk() if not leaf.children}
    merged = dict(current)
    for stats in files:
        type = types.get(stats.column_id)
        if type is None or (current and stats.column_id not in current):
            continue
        before = merged.get(stats.column_id)
        earlier = committed(stats.column_id) if before and before.min is None and stats.min is not None else ()
        merged[stats.column_id] = _union(before, stats, type, earlier)
    return merged


def _union(
    before: TableColumnStats | None, file: ColumnStats, type: str, earlier: Iterable[ColumnStats]
) -> TableColumnStats:
    nulls, nan = file.null_count > 0, file.contains_nan
    if before is None:
        return TableColumnStats(file.column_id, nulls, nan, file.min, file.max)
    low, high = _union_range(before, [file, *earlier], type)
    return TableColumnStats(
        column_id=file.column_id,
        contains_null=nulls or before.contains_null,
        contains_nan=nan or before.contains_nan if nan is not None else None,
        min=low,
        max=high,
    )


def _union_range(before: TableColumnStats, files: Sequence[ColumnStats], type: str) -> tuple[str | None, str | None]:
    if any(_unknown(file) for file in files):
        return None, None
    if (before.min is None) != (before.max is None):
        return None, None  # DuckDB drops the side that PostgreSQL cannot hold
    lows = [text for text in (before.min, *(file.min for file in files)) if text is not None]
    highs = [text for text in (before.max, *(file.max for file in files)) if text is not None]
    return min(lows, default=None, key=_order(type)), max(highs, default=None, key=_order(type))


def _unknown(file: ColumnStats) -> bool:
    """Whether the file holds values whose range nobody wrote down; NaN has none."""
    return file.value_count > 0 and file.min is None and not file.contains_nan


def _order(type: str) -> Callable[[str], Any]:
    # DuckDB writes blobs as hexadecimal from files and as they are from inlined rows: only the texts compare.
    return partial(key, type=type) if sortable(type) and type != "blob" else str

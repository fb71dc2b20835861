"""Which data files can hold a row that a bound asks for. Doubt keeps the file.

By a file's statistics (`keeps`; for many files a `Pruner`), by its partition values (`keeps_partition`; for many a
`PartitionPruner`), and, more coarsely, inside the catalog database (`sql_condition`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import instants
from .model import Bound, Column, PartitionKey, Table
from .prune_sql import sql_condition as sql_condition
from .pruner import Pruner as Pruner
from .text import key, sortable


def keeps(
    bound: Bound,
    column: Column,
    min: str | None,
    max: str | None,
    null_count: int | None,
    value_count: int | None,
    contains_nan: bool | None = None,
) -> bool:
    """Whether a file can hold a row the bound asks for; for many files prepare a `Pruner`.

    >>> amount = Column(1, "amount", "int32")
    >>> [keeps(Bound("amount", low=low), amount, "1", "9", 0, 5) for low in (9, 10)]
    [True, False]
    """
    return Pruner.of(bound, column).keeps(min, max, null_count, value_count, contains_nan)


@dataclass(frozen=True)
class PartitionPruner:
    """Bounds made ready to be held against the partition values of many files of a table.

    The values must be of the table's present partitioning: compare `partition_id` first.
    """

    keys: tuple[PartitionKey, ...]
    pruners: tuple[tuple[int, Pruner], ...]
    """Column id and bound of the partition columns."""

    @classmethod
    def of(cls, bounds: Sequence[Bound], table: Table) -> PartitionPruner:
        columns = [(bound, table.column(bound.column)) for bound in bounds]
        usable = {key.column_id for key in table.partitioned_by}
        pruners = tuple((c.id, Pruner.of(b, c)) for b, c in columns if c and c.id in usable and _has_periods(c))
        return cls(table.partitioned_by, pruners)

    def keeps(self, values: Sequence[str | None]) -> bool:
        """Whether a file with these values can hold a row all bounds ask for."""
        return all(self._keeps(id, pruner, values) for id, pruner in self.pruners)

    def _keeps(self, column_id: int, pruner: Pruner, values: Sequence[str | None]) -> bool:
        parts = {k.transform: v for k, v in zip(self.keys, values, strict=False) if k.column_id == column_id}
        if "identity" in parts and parts["identity"] is None:
            return pruner.or_null
        try:
            period = _period(parts, pruner.type)
        except (ValueError, ArithmeticError):
            return True
        return period is None or pruner.meets(*period)


def keeps_partition(bounds: Sequence[Bound], table: Table, values: Sequence[str | None]) -> bool:
    """Whether a file with these partition values can hold a row all bounds ask for; see `PartitionPruner`."""
    return PartitionPruner.of(bounds, table).keeps(values)


def _has_periods(column: Column) -> bool:
    return sortable(column.type) and column.type != "blob"


def _period(parts: dict[str, str | None], type: str) -> tuple[Any, Any] | None:
    """The keys a partition spans; None where its values do not say."""
    if (identity := parts.get("identity")) is not None:
        value = key(identity, type)
        return value, value
    if (year := parts.get("year")) is None:
        return None
    first, last = _calendar_period(int(year), *(parts.get(part) for part in ("month", "day", "hour")))
    if type == "date":
        return first // instants.DAY, last // instants.DAY
    # DuckDB takes the parts of an instant in the time zone of its session.
    slack = instants.DAY if type == "timestamptz" else 0
    return first - slack, last + slack


def _calendar_period(year: int, month: str | None, day: str | None, hour: str | None) -> tuple[int, int]:
    """The first and last microsecond of a year, of its month, of that month's day, of that day's hour."""
    if month is None:
        return _midnight(year, 1), _midnight(year + 1, 1) - 1
    number = int(month)
    first, last = _midnight(year, number), _midnight(year + number // 12, number % 12 + 1) - 1
    if day is None:
        return first, last
    first += (int(day) - 1) * instants.DAY
    if hour is None:
        return first, first + instants.DAY - 1
    first += int(hour) * instants.HOUR
    return first, first + instants.HOUR - 1


def _midnight(year: int, month: int) -> int:
    return instants.day_number(year, month, 1) * instants.DAY

"""Which data files can hold a row that a bound asks for. Doubt keeps the file.

`Pruner` decides on one file's statistics; `sql_condition` says the same, more coarsely, inside the catalog
database; `keeps_partition` decides on a file's partition values.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import instants
from .literals import span
from .model import Bound, Column, Table
from .text import FLOATS, key, sortable


@dataclass(frozen=True)
class Pruner:
    """A bound in the keys of its column: from low to high (None: open) and, if given, in one of the spans."""

    type: str
    low: Any
    high: Any
    starts: tuple[Any, ...] | None
    """Where the spans of the bound's values begin, sorted; None where any value will do."""
    ends: tuple[Any, ...] | None
    or_null: bool

    @classmethod
    def of(cls, bound: Bound, column: Column) -> Pruner:
        low, high = span(bound.low, column.type), span(bound.high, column.type)
        spans = None
        if bound.values is not None:
            found = [span(value, column.type) for value in bound.values if value is not None]
            spans = None if None in found else [s for s in found if s]
        return cls(
            type=column.type,
            low=None if low is None else low[0],
            high=None if high is None else high[1],
            starts=None if spans is None else tuple(sorted(s[0] for s in spans)),
            ends=None if spans is None else tuple(sorted(s[1] for s in spans)),
            or_null=bound.or_null,
        )

    def keeps(
        self,
        min: str | None,
        max: str | None,
        null_count: int | None,
        value_count: int | None,
        contains_nan: bool | None = None,
    ) -> bool:
        """Whether a file with these statistics can hold a row the bound asks for."""
        if self.or_null and null_count != 0:
            return True
        if value_count == 0 and null_count:
            return False
        if min is None or max is None or not sortable(self.type):
            return True
        try:
            low, high = key(min, self.type), key(max, self.type)
        except (ValueError, ArithmeticError):
            return True
        if self.type in FLOATS and contains_nan is not False:
            high = math.inf  # NaN is above all numbers, and no part of min and max
        return self.meets(low, high)

    def meets(self, low: Any, high: Any) -> bool:
        """Whether [low, high] and what is asked for have a key in common."""
        if self.low is not None and high < self.low:
            return False
        if self.high is not None and low > self.high:
            return False
        if self.starts is None or self.ends is None:
            return True
        # the spans that begin in time, less those that end too early
        return bisect_right(self.starts, high) > bisect_left(self.ends, low)

    @property
    def reach(self) -> tuple[Any, Any]:
        """The least and the greatest key asked for, None where open."""
        low = self.starts[0] if self.low is None and self.starts else self.low
        return low, self.ends[-1] if self.high is None and self.ends else self.high


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


def keeps_partition(bounds: Sequence[Bound], table: Table, values: Sequence[str | None]) -> bool:
    """Whether a file with these values of the table's partition keys can hold a row all bounds ask for.

    The values must be of the table's present partitioning: compare `partition_id` first.
    """
    return all(_keeps_partition(bound, table, values) for bound in bounds)


def _keeps_partition(bound: Bound, table: Table, values: Sequence[str | None]) -> bool:
    column = table.column(bound.column)
    if column is None or not sortable(column.type) or column.type == "blob":
        return True
    parts = {
        k.transform: v for k, v in zip(table.partitioned_by, values, strict=False) if k.column_id == column.id
    }
    if "identity" in parts and parts["identity"] is None:
        return bound.or_null
    try:
        period = _period(parts, column.type)
    except (ValueError, ArithmeticError):
        return True
    return period is None or Pruner.of(bound, column).meets(*period)


def _period(parts: dict[str, str | None], type: str) -> tuple[Any, Any] | None:
    """The keys a partition spans; None where its values do not say."""
    if identity := parts.get("identity"):
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

"""A bound made ready to be held against many files' statistics. Doubt keeps the file."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Any

from .literals import span
from .model import Bound, Column
from .text import FLOATS, INTEGERS, key, sortable


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
        starts, ends = _spans(bound.values, column.type)
        return cls(
            type=column.type,
            low=None if low is None else low[0],
            high=None if high is None else high[1],
            starts=starts,
            ends=ends,
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
        if self.starts == () or (value_count == 0 and null_count):
            return False
        if min is None or max is None or not sortable(self.type):
            return True
        try:
            low, high = key(min, self.type), key(max, self.type)
        except (ValueError, ArithmeticError):
            return True
        if self.type in FLOATS and (contains_nan is None or contains_nan):
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


def _spans(values: tuple[Any, ...] | None, column: str) -> tuple[tuple[Any, ...] | None, tuple[Any, ...] | None]:
    """Where the spans of values begin and end, both sorted; None for both where any value will do."""
    if values is None:
        return None, None
    if column in INTEGERS and set(map(type, values)) <= {int}:  # each is its own span
        numbers = tuple(sorted(values))
        return numbers, numbers
    found = [span(value, column) for value in values if value is not None]
    if None in found:
        return None, None
    spans = [s for s in found if s]
    return tuple(sorted(s[0] for s in spans)), tuple(sorted(s[1] for s in spans))

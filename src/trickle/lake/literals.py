"""Literals against columns of another type: the keys a literal can equal once Spark has cast both sides.

span(v) = (low, high) holds every key of the column that Spark's comparison may take for equal to v. A file
whose keys all lie below `low` holds none ≥ v, one whose keys all lie above `high` none ≤ v.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeAlias

import numpy

from . import instants
from .text import FLOATS, INTEGERS, STRINGS, TIMESTAMPS, value_key, word

Span: TypeAlias = tuple[Any, Any]

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?")
_ANY_ZONE = instants.DAY
"""Farther than two time zones lie apart, in microseconds."""


def span(value: object, type: str) -> Span | None:
    """The keys the literal may equal, or None where the comparison is not one of this column's kind.

    >>> span(5, "int32"), span("2020-01-01", "date"), span(Decimal("1.5"), "int64"), span("5", "int32")
    ((5, 5), (18262, 18262), (1, 2), None)
    """
    reader = _READERS.get(word(type))
    return None if value is None or reader is None else reader(value, type)


def _number(value: object) -> int | float | Decimal | None:
    if isinstance(value, bool):
        return None
    return value if isinstance(value, int | float | Decimal) else None


def _whole(value: object, type: str) -> Span | None:
    number = _number(value)
    if number is None or isinstance(number, int):
        return None if number is None else (number, number)
    if not math.isfinite(number):
        return _endless(number)
    low, high = _neighbours(number) if isinstance(number, float) else (number, number)
    return math.floor(low), math.ceil(high)


def _decimal(value: object, type: str) -> Span | None:
    number = _number(value)
    if number is None or not isinstance(number, float):
        return None if number is None else (Decimal(number), Decimal(number))
    if not math.isfinite(number):
        return _endless(number)
    low, high = _neighbours(number)  # Spark compares a decimal with a double as doubles
    return Decimal(low), Decimal(high)


def _float(value: object, type: str) -> Span | None:
    number = _number(value)
    if number is None:
        return None
    rounded = _as_float(number)
    if not math.isfinite(rounded):
        return _endless(rounded)
    low, high = (rounded, rounded) if isinstance(number, float) else _neighbours(rounded)
    if type == "float32":  # an integer may be compared as a float of 24 bits
        short = float(numpy.float32(rounded)) if abs(rounded) < 3e38 else rounded
        return min(low, short), max(high, short)
    return low, high


def _as_float(number: int | float | Decimal) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number)


def _neighbours(number: float) -> tuple[float, float]:
    return math.nextafter(number, -math.inf), math.nextafter(number, math.inf)


def _endless(number: float | Decimal) -> Span:
    """NaN sorts with infinity."""
    edge = -math.inf if number == -math.inf else math.inf
    return edge, edge


def _date(value: object, type: str) -> Span | None:
    if isinstance(value, datetime):
        return _micros_to_days(_moment(value, aware=value.tzinfo is not None))
    if isinstance(value, date) or (isinstance(value, str) and _DATE.fullmatch(value)):
        days = instants.text_days(value) if isinstance(value, str) else value_key(value, "date")
        return days, days
    return None


def _micros_to_days(span: Span) -> Span:
    return span[0] // instants.DAY, -(-span[1] // instants.DAY)


def _timestamp(value: object, type: str) -> Span | None:
    return _moment_of(value, zoned=False)


def _zoned(value: object, type: str) -> Span | None:
    return _moment_of(value, zoned=True)


def _moment_of(value: object, zoned: bool) -> Span | None:
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        return _around(instants.text_micros(value), exact=not zoned)
    if isinstance(value, datetime):
        return _moment(value, aware=(value.tzinfo is not None) != zoned)
    if isinstance(value, date):
        return _around(value_key(value, "timestamp"), exact=not zoned)
    return None


def _moment(value: datetime, aware: bool) -> Span:
    return _around(value_key(value, "timestamp"), exact=not aware)


def _around(micros: Any, exact: bool) -> Span:
    """Where a session's time zone decides, a day to each side."""
    return (micros, micros) if exact else (micros - _ANY_ZONE, micros + _ANY_ZONE)


def _same(kind: type) -> Callable[[object, str], Span | None]:
    return lambda value, type: (value, value) if isinstance(value, kind) else None


_READERS: dict[str, Callable[[object, str], Span | None]] = {
    "boolean": lambda value, type: (int(value), int(value)) if isinstance(value, bool) else None,
    **dict.fromkeys(INTEGERS, _whole),
    **dict.fromkeys(FLOATS, _float),
    "decimal": _decimal,
    **dict.fromkeys(STRINGS, _same(str)),
    "blob": _same(bytes),
    "date": _date,
    **dict.fromkeys(TIMESTAMPS, _timestamp),
    "timestamptz": _zoned,
}

"""Literals as the values a column of a given type is compared with, by Spark's rules of comparison."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal

from sqlglot import exp

Interval = tuple[object, object]
"""From where to where a column's value may lie when it compares as equal to the literal."""

_INTEGERS = {exp.DType.TINYINT: 8, exp.DType.SMALLINT: 16, exp.DType.INT: 32, exp.DType.BIGINT: 64}
_TIMESTAMPS = (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ, exp.DType.TIMESTAMPLTZ, exp.DType.TIMESTAMPTZ)
_INTEGER = re.compile(r"[+-]?\d{1,18}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:\d{2})?)?")
_EXACT_AS_DOUBLE = 2**53


def is_null(node: exp.Expr) -> bool:
    return isinstance(node.unnest(), exp.Null)


def literal_value(node: exp.Expr) -> object | None:
    """The Python value of a literal, signed, bracketed or cast as it may be; None for NULL and all else."""
    node = node.unnest()
    if isinstance(node, exp.Literal):
        return str(node.this) if node.is_string else _number(str(node.this))
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.HexString):
        return bytes.fromhex(str(node.this)) if len(str(node.this)) % 2 == 0 else None
    if isinstance(node, exp.Neg):
        value = literal_value(node.this)
        return -value if isinstance(value, int | float | Decimal) and not isinstance(value, bool) else None
    if isinstance(node, exp.Cast):
        return _cast(literal_value(node.this), node.to)
    return None


def _number(text: str) -> int | float | Decimal:
    if "e" in text.lower():
        return float(text)
    return int(text) if text.isdecimal() else Decimal(text)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _cast(value: object | None, to: exp.DataType) -> object | None:
    """Only casts that change the type and not the value."""
    if to.this in _INTEGERS:
        number = int(value) if isinstance(value, str) and _INTEGER.fullmatch(value) else value
        fits = (
            isinstance(number, int) and not isinstance(number, bool) and -1 <= number >> (_INTEGERS[to.this] - 1) <= 0
        )
        return number if fits else None
    if to.this == exp.DType.DECIMAL:
        return _cast_decimal(value, [int(str(p.this.this)) for p in to.expressions])
    if to.this == exp.DType.DOUBLE and _is_number(value):
        return _float(value)
    if to.this == exp.DType.DATE:
        return _date(value)
    if to.this in _TIMESTAMPS:
        return _datetime(value)
    return value if to.this == exp.DType.TEXT and isinstance(value, str) else None


def _cast_decimal(value: object | None, params: list[int]) -> Decimal | None:
    precision, scale = (*params, *(10, 0)[len(params) :])[:2]
    if isinstance(value, str) and re.fullmatch(r"-?\d+(?:\.\d+)?", value):
        value = Decimal(value)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    digits, fraction = _digits(Decimal(value))
    return Decimal(value) if fraction <= scale and digits <= precision - scale else None


def _digits(value: Decimal) -> tuple[int, int]:
    """How many digits stand before and after the point."""
    _, digits, exponent = value.as_tuple()
    fraction = max(0, -int(exponent))
    return max(1, len(digits) + int(exponent)), fraction


def fit(value: object, type: str) -> Interval | None:
    """Where values of a column of this type (DuckLake's word, "" for unknown) lie that equal the literal.

    None says that nothing is known: Spark would cast the column, or round, or fail. The interval is never too
    narrow; it is wider than one value where the types compare with loss.

    >>> fit(5, "int32"), fit("5", "varchar"), fit(5, "varchar")
    ((5, 5), ('5', '5'), None)
    """
    rule = _RULES.get(type.split("(")[0].strip().lower())
    if type == "":
        return value, value
    return rule(value, type) if rule is not None else None


def _exactly(value: object | None) -> Interval | None:
    return None if value is None else (value, value)


def _fit_integer(value: object, type: str) -> Interval | None:
    if isinstance(value, str):
        return _exactly(int(value)) if _INTEGER.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if isinstance(value, float) and not abs(value) < _EXACT_AS_DOUBLE:
        return None
    if isinstance(value, Decimal) and _digits(value)[1] > 15:
        return None
    return math.floor(value), math.ceil(value)


def _fit_decimal(value: object, type: str) -> Interval | None:
    """Spark compares decimals at a common type of at most 38 digits; beyond that it rounds."""
    match = re.fullmatch(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)", type.strip().lower())
    if match is None or isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    precision, scale = int(match[1]), int(match[2])
    digits, fraction = _digits(Decimal(value))
    return _exactly(Decimal(value)) if max(precision - scale, digits) + max(scale, fraction) <= 38 else None


def _float(value: object) -> float | None:
    try:
        number = float(value) if isinstance(value, int | float | Decimal) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _fit_double(value: object, type: str) -> Interval | None:
    return _exactly(_float(value)) if _is_number(value) else None


def _fit_float(value: object, type: str) -> Interval | None:
    """A 32-bit value and its shortest text differ by up to 2⁻²⁴ of it."""
    number = _float(value) if _is_number(value) else None
    if number is None:
        return None
    slack = abs(number) * 2.0**-22 + 2.0**-140
    return number - slack, number + slack


def _date(value: object) -> date | None:
    if isinstance(value, datetime):
        return value.astimezone(UTC).date() if value.tzinfo else value.date()
    if isinstance(value, date):
        return value
    if not (isinstance(value, str) and _DATE.fullmatch(value)):
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None


def _datetime(value: object) -> datetime | None:
    """A point in time without zone, in UTC: the session's time zone is UTC."""
    if isinstance(value, str) and _TIMESTAMP.fullmatch(value):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    return datetime.combine(value, time()) if isinstance(value, date) else None


def _fit_date(value: object, type: str) -> Interval | None:
    return _exactly(_date(value))


def _fit_timestamp(value: object, type: str) -> Interval | None:
    return _exactly(_datetime(value))


def _fit_instant(value: object, type: str) -> Interval | None:
    moment = _datetime(value)
    return _exactly(moment.replace(tzinfo=UTC) if moment else None)


def _only(kind: type) -> Callable[[object, str], Interval | None]:
    def rule(value: object, type: str) -> Interval | None:
        return _exactly(value) if isinstance(value, kind) else None

    return rule


_RULES: dict[str, Callable[[object, str], Interval | None]] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"), _fit_integer),
    **dict.fromkeys(("timestamp", "timestamp_s", "timestamp_ms", "timestamp_us"), _fit_timestamp),
    "blob": _only(bytes),
    "boolean": _only(bool),
    "date": _fit_date,
    "decimal": _fit_decimal,
    "float32": _fit_float,
    "float64": _fit_double,
    "timestamptz": _fit_instant,
    "varchar": _only(str),
}

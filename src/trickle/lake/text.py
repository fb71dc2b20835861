"""Values in DuckLake's text form: statistics, defaults, partition values, inlined rows.

Three faces of one value: its *text*; its *key*, a number, string or bytes that sorts as the column does (days
for dates, microseconds for timestamps; any year, infinity included); and the plain Python *value*.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, TypeAlias, cast
from uuid import UUID

import numpy

from ..errors import LakeError
from . import instants
from .model import Column
from .nested import NESTED, parse_nested

Key: TypeAlias = int | float | Decimal | str | bytes

INTEGERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
FLOATS = frozenset({"float32", "float64"})
TIMESTAMPS = frozenset({"timestamp", "timestamp_us", "timestamp_ms", "timestamp_s"})
STRINGS = frozenset({"varchar", "json"})

_EPOCH = datetime(1970, 1, 1)
_EPOCH_DAY = _EPOCH.toordinal()
_MICROSECOND = timedelta(microseconds=1)
_TRUE = frozenset({"1", "true", "t"})
_FALSE = frozenset({"0", "false", "f"})


def word(type: str) -> str:
    """The type without its arguments: `decimal(10,2)` → `decimal`."""
    return type.partition("(")[0]


def key(text: str, type: str) -> Key:
    """The text of a statistic as a value that sorts as the column does; NaN sorts with infinity.

    >>> key("2", "int32") < key("10", "int32"), key("1970-01-02", "date"), key("nan", "float64")
    (True, 1, inf)
    """
    return _KEYS[word(type)](text)


def sortable(type: str) -> bool:
    """Whether texts of this type have keys."""
    return word(type) in _KEYS


def key_text(key: Key, type: str) -> str:
    """A key in DuckLake's text, as DuckDB writes statistics; of a float the fewest digits, where DuckDB may write more.

    >>> key_text(1e16, "float64"), key_text(Decimal("1.5"), "decimal(10,2)"), key_text(b"\\xaa", "blob")
    ('1e+16', '1.50', 'AA')
    """
    return _TEXTS.get(word(type), _plain_text)(key, type)


def value_key(value: object, type: str) -> Key:
    """A Python value as a key of a column of that type."""
    if isinstance(value, datetime):
        micros = (value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value) - _EPOCH
        return micros // _MICROSECOND if word(type) != "date" else micros // timedelta(days=1)
    if isinstance(value, date):
        days = value.toordinal() - _EPOCH_DAY
        return days if word(type) == "date" else days * instants.DAY
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, UUID):
        return str(value)
    return cast(Key, value)


def render(value: object, column: Column) -> str | None:
    """A scalar Python value in DuckLake's text form, None for NULL.

    >>> render(datetime(2020, 1, 1, 1, 2, 3, 500000), Column(1, "t", "timestamp"))
    '2020-01-01 01:02:03.5'
    """
    if value is None:
        return None
    if column.type in NESTED:
        raise LakeError(f'a value of nested column "{column.name}" has no scalar text')
    return key_text(value_key(value, column.type), column.type)


def parse(text: object, column: Column) -> Any:
    """The Python value of a catalog text; values a catalog database already typed pass through.

    >>> parse("2020-01-01 02:00:00+02", Column(1, "t", "timestamptz"))
    datetime.datetime(2020, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)
    >>> parse("[1, NULL]", Column(1, "l", "list", children=(Column(2, "element", "int32"),)))
    [1, None]
    """
    if text is None:
        return None
    try:
        if column.type in NESTED:
            return parse_nested(_string(text), column, _scalar)
        return _scalar(text, column)
    except (ValueError, ArithmeticError, KeyError) as error:
        raise LakeError(
            f'value of column "{column.name}" cannot be read as {column.type}',
            detail=f"{text!r:.200}: {error}",
            hint="Python holds the years 1 to 9999 and no infinite dates; correct the row with DuckDB.",
        ) from error


def _scalar(text: object, column: Column) -> Any:
    return _VALUES.get(word(column.type), _string)(text)


def _string(text: object) -> str:
    """PostgreSQL catalogs hold strings as bytes, for the sake of NUL."""
    return text if isinstance(text, str) else str(bytes(cast(bytes, text)), "utf-8")


def _flag(text: object) -> bool:
    lowered = str(text).lower()
    if lowered not in _TRUE | _FALSE:
        raise ValueError(f"not a boolean: {text!r}")
    return lowered in _TRUE


def _float_key(text: str) -> float:
    number = float(text)
    return math.inf if math.isnan(number) else number


def _float32_key(text: str) -> float:
    """`0.1` stands for the float of 24 bits that is nearest to it."""
    return _float_key(str(float(numpy.float32(text))))


def _date(text: object) -> date:
    if isinstance(text, date):
        return text
    return date.fromordinal(instants.text_days(str(text)) + _EPOCH_DAY)


def _timestamp(text: object) -> datetime:
    if isinstance(text, datetime):
        return text
    return _EPOCH + instants.text_micros(str(text)) * _MICROSECOND


def _zoned(text: object) -> datetime:
    moment = _timestamp(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _bytes(text: object) -> bytes:
    """Bytes as they are, or DuckDB's text of a blob: ASCII with `\\xAA` for the rest."""
    if not isinstance(text, str):
        return bytes(cast(bytes, text))
    head, *escaped = text.split("\\x")
    return head.encode("ascii") + b"".join(bytes.fromhex(e[:2]) + e[2:].encode("ascii") for e in escaped)


def _float_text(key: Key, type: str) -> str:
    number = float(str(numpy.float32(key))) if type == "float32" else float(key)
    return repr(number + 0.0)  # -0.0 is written 0.0


def _decimal_text(key: Key, type: str) -> str:
    _, scale = decimal_arguments(type)
    return f"{Decimal(key):.{scale}f}"  # type: ignore[arg-type]


def decimal_arguments(type: str) -> tuple[int, int]:
    """
    >>> decimal_arguments("decimal(10,2)")
    (10, 2)
    """
    precision, scale = type.removeprefix("decimal(").removesuffix(")").split(",")
    return int(precision), int(scale)


def _plain_text(key: Key, type: str) -> str:
    return str(key)


_KEYS: dict[str, Callable[[str], Key]] = {
    "boolean": lambda text: int(_flag(text)),
    **dict.fromkeys(INTEGERS, int),
    "float32": _float32_key,
    "float64": _float_key,
    "decimal": Decimal,
    **dict.fromkeys(STRINGS, str),
    "blob": bytes.fromhex,
    "date": instants.text_days,
    **dict.fromkeys(TIMESTAMPS, instants.text_micros),
    "timestamptz": instants.text_micros,
}
_TEXTS: dict[str, Callable[[Any, str], str]] = {
    "boolean": lambda key, type: str(int(key)),
    **dict.fromkeys(FLOATS, _float_text),
    "decimal": _decimal_text,
    "blob": lambda key, type: key.hex().upper(),
    "date": lambda key, type: instants.days_text(key),
    **dict.fromkeys(TIMESTAMPS, lambda key, type: instants.micros_text(key)),
    "timestamptz": lambda key, type: instants.micros_text(key, "+00"),
}
_VALUES: dict[str, Callable[[Any], object]] = {
    "boolean": _flag,
    **dict.fromkeys([*INTEGERS, "int128", "uint128"], int),
    "float32": lambda text: float(numpy.float32(text)),
    "float64": float,
    "decimal": lambda text: Decimal(str(text)),
    "blob": _bytes,
    "date": _date,
    **dict.fromkeys(TIMESTAMPS, _timestamp),
    "timestamptz": _zoned,
    "uuid": lambda text: UUID(str(text)),
    "time": lambda text: text if isinstance(text, time) else time.fromisoformat(text),
}

"""A table as of a snapshot: VERSION AS OF n, TIMESTAMP AS OF expression."""

from __future__ import annotations

from dataclasses import dataclass

from trickle.sql.grammar.cursor import Cursor

_TYPED = ("TIMESTAMP", "DATE", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ")
_OPERATORS = ("+", "-", "*", "/", "||")


@dataclass(frozen=True)
class Version:
    snapshot: int


@dataclass(frozen=True)
class Timestamp:
    expression: str
    """A Spark expression without columns."""


AsOf = Version | Timestamp


def as_of(cursor: Cursor) -> AsOf | None:
    """[FOR] {VERSION | SYSTEM_VERSION | TIMESTAMP | SYSTEM_TIME} AS OF value, or nothing."""
    skip = 1 if cursor.sees("FOR") else 0
    if not (cursor.peek(skip + 1).reads("AS") and cursor.peek(skip + 2).reads("OF")):
        return None
    kind = cursor.peek(skip).key
    if kind not in ("VERSION", "SYSTEM_VERSION", "TIMESTAMP", "SYSTEM_TIME"):
        return None
    cursor.index += skip + 3
    if kind in ("VERSION", "SYSTEM_VERSION"):
        return Version(_snapshot(cursor))
    first = cursor.index
    _value(cursor)
    return Timestamp(cursor.slice(first, cursor.index))


def _snapshot(cursor: Cursor) -> int:
    start = cursor.peek()
    text = cursor.string() if start.kind == "string" else cursor.take().text
    if not text.isdecimal():
        raise cursor.error(f'"{text}" is not a snapshot', "VERSION AS OF takes a whole number", start)
    return int(text)


def _value(cursor: Cursor) -> None:
    """Moves over a value expression: it ends where an alias or a clause begins."""
    _operand(cursor)
    while cursor.accept_any(*_OPERATORS):
        _operand(cursor)


def _operand(cursor: Cursor) -> None:
    cursor.accept_any("-", "+")
    if cursor.sees("INTERVAL") and cursor.peek(1).kind in ("string", "number", "symbol"):
        _interval(cursor)
    elif cursor.sees_any(*_TYPED) and cursor.peek(1).kind == "string":
        cursor.index += 2
    elif cursor.sees("("):
        cursor.index = cursor.closing() + 1
    elif cursor.peek().kind in ("string", "number"):
        cursor.take()
    else:
        cursor.names_along_dots("a point in time")
        if cursor.sees("("):
            cursor.index = cursor.closing() + 1
    while cursor.accept("::"):
        cursor.name("a type")


def _interval(cursor: Cursor) -> None:
    """INTERVAL 1 DAY, INTERVAL '1 2' DAY TO HOUR, INTERVAL '3 days'."""
    cursor.take()
    cursor.accept("-")
    cursor.index = cursor.closing() + 1 if cursor.sees("(") else cursor.index + 1
    units = ("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
    plural = tuple(f"{unit}S" for unit in units)
    if cursor.accept_any(*units, *plural) and cursor.accept("TO"):
        cursor.accept_any(*units, *plural)


def relation(cursor: Cursor) -> None:
    """Moves over a table name with its AS OF clause, or a call of a table function."""
    cursor.names_along_dots("a table name")
    if cursor.sees("("):
        cursor.index = cursor.closing() + 1
    else:
        as_of(cursor)

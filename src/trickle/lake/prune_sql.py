"""Pruning inside the catalog database: a condition on rows of `ducklake_file_column_stats`, true in doubt.

Statistics are stored as text: numbers are cast, strings compare byte by byte, dates and timestamps compare as
text where their year has four digits. Join the statistics LEFT: a file without a row must stay.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from sqlalchemy import BigInteger, Double, FromClause, Numeric, and_, cast, collate, false, func, or_, true
from sqlalchemy.sql import ColumnElement

from . import instants
from .bounds import at_least, at_most
from .model import Bound, Column
from .pruner import Pruner
from .text import FLOATS, INTEGERS, STRINGS, TIMESTAMPS, word

_SECONDS = 19
"""Characters of a timestamp down to the second."""
_SLACK = {"float32": 1e-6, "float64": 1e-12, "decimal": 1e-12}
"""How far, in relation, a database's reading of a number may lie from ours."""


def sql_condition(bound: Bound, column: Column, stats: FromClause, dialect: str) -> ColumnElement[bool]:
    """Rows of `stats` whose file may hold what the bound asks for; `dialect` is `sqlite` or `postgresql`."""
    pruner = Pruner.of(bound, column)
    c = stats.c
    low, high = pruner.reach
    met: ColumnElement[bool] = and_(
        or_(c.value_count.is_(None), c.value_count != 0, c.null_count.is_(None), c.null_count == 0),
        or_(
            c.contains_nan.is_not(False) if column.type in FLOATS else false(),
            _at_least(c, low, column, dialect),
        ),
        _at_most(c, high, column, dialect),
    )
    if pruner.starts == ():
        met = false()
    return or_(met, c.null_count.is_(None), c.null_count > 0) if bound.or_null else met


def _at_least(c: Any, low: Any, column: Column, dialect: str) -> ColumnElement[bool]:
    """max_value ≥ low, or not to be said."""
    if not _sayable(low, column.type, dialect):
        return true()
    value, doubt = _value(c.max_value, column.type, dialect)
    return or_(c.max_value.is_(None), doubt, value >= _literal(low, column.type, dialect, upper=False))


def _at_most(c: Any, high: Any, column: Column, dialect: str) -> ColumnElement[bool]:
    """min_value ≤ high, or not to be said."""
    if not _sayable(high, column.type, dialect):
        return true()
    value, doubt = _value(c.min_value, column.type, dialect)
    return or_(c.min_value.is_(None), doubt, value <= _literal(high, column.type, dialect, upper=True))


def _sayable(key: Any, type: str, dialect: str) -> bool:
    """Whether the database can compare texts of this type with that key."""
    if key is None:
        return False
    if type in INTEGERS:
        return math.isfinite(key) and (dialect != "sqlite" or abs(key) < 2**63)
    if type in FLOATS or word(type) == "decimal":
        return math.isfinite(key)
    if _is_temporal(type):
        days = key if type == "date" else key // instants.DAY
        return abs(days) < instants.INFINITE_DAYS and 1 <= instants.civil(days)[0] <= 9999
    return type in STRINGS


def _is_temporal(type: str) -> bool:
    return type in TIMESTAMPS or type in ("date", "timestamptz")


def _value(text: ColumnElement[Any], type: str, dialect: str) -> tuple[ColumnElement[Any], ColumnElement[bool]]:
    """A stored text as something that compares, and when it does not."""
    if _is_temporal(type):
        far = or_(func.substr(text, 5, 1) != "-", text.like("%(BC)%"))
        return _bytewise(func.substr(text, 1, _SECONDS), dialect), or_(far, *_other_zone(text, type))
    if type in STRINGS:
        return _bytewise(text, dialect), false()
    if type in INTEGERS:
        return cast(text, BigInteger if dialect == "sqlite" else Numeric), false()
    if word(type) == "decimal":
        return cast(text, Double if dialect == "sqlite" else Numeric), false()
    return cast(text, Double), text.in_(("inf", "-inf", "nan"))


def _bytewise(text: ColumnElement[Any], dialect: str) -> ColumnElement[Any]:
    return collate(text, "C") if dialect == "postgresql" else text


def _other_zone(text: ColumnElement[Any], type: str) -> list[ColumnElement[bool]]:
    return [text.not_like("%+00")] if type == "timestamptz" else []


def _literal(key: Any, type: str, dialect: str, upper: bool) -> Any:
    """The key as the database compares it, rounded outwards."""
    if type in STRINGS:
        return (at_least if upper else at_most)(key.encode("utf-8", "surrogatepass"), type)
    if type == "date":
        return instants.days_text(key)
    if _is_temporal(type):
        return _moment(key, upper)
    if type in INTEGERS and dialect == "sqlite":
        return key
    if (type in INTEGERS or word(type) == "decimal") and dialect == "postgresql":
        return Decimal(key)
    slack = abs(float(key)) * _SLACK[word(type)]
    return float(key) + slack if upper else float(key) - slack


def _moment(micros: int, upper: bool) -> str:
    """A file older than the column's change from date to timestamp says `2020-01-01` for its midnight."""
    text = instants.micros_text(micros)[:_SECONDS]
    return text if upper or micros % instants.DAY else text[:10]

"""Pruning inside the catalog database: a condition on rows of `ducklake_file_column_stats`, true in doubt.

Statistics are stored as text: numbers are cast, strings compare byte by byte, dates and timestamps compare as
text where their year has four digits. Join the statistics LEFT: a file without a row must stay.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    Double,
    FromClause,
    Numeric,
    and_,
    case,
    cast,
    collate,
    false,
    func,
    literal,
    or_,
    true,
)
from sqlalchemy.sql import ColumnElement

from . import instants
from .bounds import at_least, at_most
from .model import Bound, Column
from .pruner import Pruner
from .text import FLOATS, INTEGERS, STRINGS, TIMESTAMPS, word

_SECONDS = 19
"""Characters of a timestamp down to the second."""
_MOST_SPANS = 128
"""Spans that are searched for inside the database."""
_SLACK = {"float32": 1e-6, "float64": 1e-12, "decimal": 1e-12}
"""How far, in relation, a database's reading of a number may lie from ours."""
_LEAST = {"float32": 1.5e-45, "float64": 5e-324, "decimal": 0.0}
"""How far it may lie at least: the smallest numbers have few digits."""


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
        _meets(c, pruner, column, dialect),
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


def _meets(c: Any, pruner: Pruner, column: Column, dialect: str) -> ColumnElement[bool]:
    """max_value ≥ start of the first span that ends at min_value or later, or not to be said."""
    spans = _few_spans(pruner)
    if len(spans) < 2 or not all(_sayable(key, column.type, dialect) for span in spans for key in span):
        return true()
    if column.type in FLOATS:
        return true()  # a NaN lies beyond max_value
    low, low_doubt = _value(c.min_value, column.type, dialect)
    high, high_doubt = _value(c.max_value, column.type, dialect)
    starts = [_literal(start, column.type, dialect, upper=False) for start, _ in spans]
    ends = [_literal(end, column.type, dialect, upper=True) for _, end in spans]
    unsaid = or_(c.min_value.is_(None), c.max_value.is_(None), low_doubt, high_doubt)
    return or_(unsaid, high >= _first_start(low, starts, ends))


def _few_spans(pruner: Pruner) -> list[tuple[Any, Any]]:
    """What the bound asks for as sorted spans, neighbours taken together where they are many."""
    starts, ends = pruner.starts or (), pruner.ends or ()
    step = -(-len(starts) // _MOST_SPANS) or 1
    return [(starts[n], ends[min(n + step, len(ends)) - 1]) for n in range(0, len(starts), step)]


def _first_start(low: ColumnElement[Any], starts: list[Any], ends: list[Any]) -> ColumnElement[Any]:
    """A binary search: log₂ n comparisons for a row, where a list of conditions would make n."""
    if len(starts) == 1:
        return literal(starts[0], low.type)
    half = len(starts) // 2
    return case(
        (low <= ends[half - 1], _first_start(low, starts[:half], ends[:half])),
        else_=_first_start(low, starts[half:], ends[half:]),
    )


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
    slack = abs(float(key)) * _SLACK[word(type)] + _LEAST[word(type)]
    return float(key) + slack if upper else float(key) - slack


def _moment(micros: int, upper: bool) -> str:
    """A file older than the column's change from date to timestamp says `2020-01-01` for its midnight."""
    text = instants.micros_text(micros)[:_SECONDS]
    return text if upper or micros % instants.DAY else text[:10]

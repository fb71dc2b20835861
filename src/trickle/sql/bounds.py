"""What a predicate says about single columns: every row that satisfies it satisfies the bounds, too."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from trickle.lake.model import Bound
from trickle.sql.bound_values import Interval, fit, is_null, literal_value
from trickle.sql.dialects import SparkSql
from trickle.sql.names import Name

Found = dict[str, Bound]
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
}
_EQUAL = (exp.EQ, exp.NullSafeEQ)


def bounds(where: str, columns: Mapping[str, str] | Iterable[str], qualifiers: Iterable[str] = ()) -> tuple[Bound, ...]:
    """One bound per column that the predicate limits; what it says otherwise is left out, never guessed.

    `columns` are the table's, with their DuckLake types; without types values come as written, and whoever
    prunes compares only like with like. `qualifiers` are the names the table goes by: its alias, else
    `orders` and `main.orders`. A floating-point range without `high` includes NaN, which Spark sorts last.

    >>> for bound in bounds("id IN (1, 2) AND 5 > price AND f(id) = 3", {"id": "int64", "price": "int32"}):
    ...     print(bound.column, bound.low, bound.high, bound.values)
    id None None (1, 2)
    price None 5 None
    """
    if "\\" in where:  # sqlglot and Spark disagree on some escapes
        return ()
    try:
        tree = sqlglot.parse_one(where, read=SparkSql)
    except (SqlglotError, RecursionError):
        return ()
    types = columns if isinstance(columns, Mapping) else dict.fromkeys(columns, "")
    target = _Target(
        {name.casefold(): (name, type) for name, type in types.items()},
        frozenset(map(str.casefold, qualifiers)),
    )
    return tuple(target.found(tree).values())


def query_bounds(query: str, columns: Mapping[str, str], table: Name) -> tuple[Bound, ...]:
    """The bounds that a query on this one table sets by its WHERE; none where it is anything more than that.

    >>> [b.values for b in query_bounds("SELECT * FROM t WHERE id = 7", {"id": "int64"}, Name(None, "t"))]
    [(7,)]
    """
    try:
        tree = sqlglot.parse_one(query, read=SparkSql)
    except (SqlglotError, RecursionError):
        return ()
    if not isinstance(tree, exp.Select) or tree.args.get("joins") or tree.args.get("with_"):
        return ()
    source, where = tree.args.get("from_"), tree.args.get("where")
    if where is None or source is None or not isinstance(source.this, exp.Table) or source.this.args.get("joins"):
        return ()
    names = [source.this.alias] if source.this.alias else [table.name, f"main.{table.name}", table.label]
    return bounds(where.this.sql(dialect=SparkSql), columns, names)


@dataclass(frozen=True)
class _Target:
    """The table whose columns are meant."""

    columns: Mapping[str, tuple[str, str]]
    qualifiers: frozenset[str]

    def found(self, node: exp.Expr) -> Found:
        node = node.unnest()
        if isinstance(node, exp.And):
            return reduce(_both, map(self.found, node.flatten()))
        if isinstance(node, exp.Or):
            return reduce(_either, map(self.found, node.flatten()))
        bound = self._bound(node)
        return {bound.column: bound} if bound is not None else {}

    def _bound(self, node: exp.Expr) -> Bound | None:
        if isinstance(node, exp.Between):
            return self._between(node)
        if isinstance(node, exp.In):
            return self._in(node)
        if isinstance(node, exp.Like):
            return self._like(node)
        if isinstance(node, exp.Is):
            return self._equal(node.this, exp.Null()) if is_null(node.expression) else None
        if isinstance(node, exp.NullSafeEQ) and is_null(node.expression):
            return self._equal(node.this, exp.Null())
        if isinstance(node, exp.Binary) and isinstance(node, (*_EQUAL, *_MIRRORED)):
            return self._compared(type(node), node.left, node.right) or self._compared(
                _MIRRORED.get(type(node), type(node)), node.right, node.left
            )
        return None

    def _compared(self, operator: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> Bound | None:
        if operator in _EQUAL:
            return None if is_null(right) else self._equal(left, right)
        column, interval = self._fitted(left, right)
        if column is None or interval is None:
            return None
        return Bound(column, low=interval[0]) if operator in (exp.GT, exp.GTE) else Bound(column, high=interval[1])

    def _equal(self, left: exp.Expr, right: exp.Expr) -> Bound | None:
        column, interval = self._fitted(left, right)
        if column is None:
            return None
        if is_null(right):
            return Bound(column, values=(), or_null=True)
        return _among(column, [interval])

    def _between(self, node: exp.Between) -> Bound | None:
        if node.args.get("symmetric"):
            return None
        column, low = self._fitted(node.this, node.args["low"])
        _, high = self._fitted(node.this, node.args["high"])
        if column is None or (low is None and high is None):
            return None
        return Bound(column, low=low[0] if low else None, high=high[1] if high else None)

    def _in(self, node: exp.In) -> Bound | None:
        """NULL in the list matches nothing; a double in it turns every comparison into one of doubles."""
        items = [item for item in node.expressions if not is_null(item)]
        column, type = self._column(node.this)
        if column is None or not items:
            return None
        values = [literal_value(item) for item in items]
        if any(isinstance(value, float) for value in values) and not type.startswith("float"):
            return None
        return _among(column, [fit(value, type) if value is not None else None for value in values])

    def _like(self, node: exp.Like) -> Bound | None:
        """Texts that begin as the pattern does."""
        column, type = self._column(node.this)
        pattern = literal_value(node.expression)
        more = node.args.keys() - {"this", "expression"}
        if column is None or type != "varchar" or not isinstance(pattern, str) or any(map(node.args.get, more)):
            return None
        start = re.split("[%_]", pattern, maxsplit=1)[0]
        return Bound(column, low=start, high=_behind(start)) if start else None

    def _fitted(self, left: exp.Expr, right: exp.Expr) -> tuple[str | None, Interval | None]:
        column, type = self._column(left)
        value = literal_value(right)
        return column, fit(value, type) if column is not None and value is not None else None

    def _column(self, node: exp.Expr) -> tuple[str | None, str]:
        """The column a node names; a qualifier that could as well be a struct column is not trusted."""
        node = node.unnest()
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            return None, ""
        *qualifier, name = (part.name.casefold() for part in node.parts)
        if qualifier and (".".join(qualifier) not in self.qualifiers or qualifier[0] in self.columns):
            return None, ""
        return self.columns.get(name, (None, ""))


def _behind(start: str) -> str | None:
    """A text behind all that begin so; texts are compared by code points.

    >>> _behind("forest"), _behind(chr(0xD7FF)) == chr(0xE000), _behind(chr(0x10FFFF))
    ('foresu', True, None)
    """
    last = ord(start[-1]) + 1
    if last > sys.maxunicode:
        return None
    return start[:-1] + chr(0xE000 if 0xD800 <= last < 0xE000 else last)


def _among(column: str, intervals: list[Interval | None]) -> Bound | None:
    """One of the values, or between the least and the greatest where one is a range."""
    known = [interval for interval in intervals if interval is not None]
    if not known or len(known) < len(intervals):
        return None
    if all(low == high for low, high in known):
        return Bound(column, values=tuple(dict.fromkeys(low for low, _ in known)))
    ends: list[Any] = [end for interval in known for end in interval]
    return Bound(column, low=min(ends), high=max(ends))


def _both(left: Found, right: Found) -> Found:
    """p AND q: what either says."""
    shared = {name: _narrower(left[name], right[name]) for name in left.keys() & right.keys()}
    return {**left, **right, **shared}


def _narrower(left: Bound, right: Bound) -> Bound:
    if left.values is not None or right.values is not None:
        return min((left, right), key=lambda b: (b.values is None, len(b.values or ())))
    try:
        return replace(left, low=_last(left.low, right.low), high=_first(left.high, right.high))
    except TypeError:
        return left


def _last(*lows: Any) -> object | None:
    return max((low for low in lows if low is not None), default=None)


def _first(*highs: Any) -> object | None:
    return min((high for high in highs if high is not None), default=None)


def _either(left: Found, right: Found) -> Found:
    """p OR q: what both say, each at its widest."""
    merged = {name: _wider(bound, right[name]) for name, bound in left.items() if name in right}
    return {name: bound for name, bound in merged.items() if bound is not None}


def _wider(left: Bound, right: Bound) -> Bound | None:
    or_null = left.or_null or right.or_null
    if left.values is not None and right.values is not None:
        return replace(left, values=tuple(dict.fromkeys(left.values + right.values)), or_null=or_null)
    if left.values == () or right.values == ():
        return replace(right if left.values == () else left, or_null=or_null)
    hull = _hull(left, right)
    return replace(hull, or_null=or_null) if hull is not None else None


def _hull(left: Bound, right: Bound) -> Bound | None:
    """The smallest range around both; none when it is the whole line."""
    try:
        lows, highs = zip(_ends(left), _ends(right), strict=True)
        low = None if None in lows else min(lows)
        high = None if None in highs else max(highs)
    except TypeError:
        return None
    return Bound(left.column, low, high) if (low, high) != (None, None) else None


def _ends(bound: Bound) -> tuple[Any, Any]:
    values: tuple[Any, ...] = bound.values or ()
    return (min(values), max(values)) if values else (bound.low, bound.high)

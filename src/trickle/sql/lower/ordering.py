"""LIMIT and OFFSET, and orders without ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from trickle.plan import Column, col
from trickle.sql.lower.context import Context
from trickle.sql.lower.refuse import unsupported, wrong


@dataclass(frozen=True)
class Limit:
    count: int
    offset: int = 0


ALL = 2**31 - 1
"""The count of an OFFSET without LIMIT."""


def limit_of(query: exp.Query, context: Context) -> Limit | None:
    """The query's LIMIT, OFFSET or FETCH FIRST; None without (then an order means nothing to a table)."""
    limit, offset = query.args.get("limit"), query.args.get("offset")
    order = query.args.get("order")
    if limit is None and offset is None:
        if order is not None:
            _note(context, "ORDER BY without LIMIT has no meaning for a stored table and is ignored")
        return None
    if order is None:
        raise unsupported("LIMIT without ORDER BY", query, context.text, "Which rows it keeps is undefined.")
    return Limit(_count(limit, context), _number(offset.expression, context) if offset else 0)


def total_order(ordered: Sequence[exp.Ordered], columns: Sequence[Column]) -> tuple[exp.Ordered, ...]:
    """The order, ties broken by every other column: rows that still tie are equal."""
    used = {o.this.name for o in ordered if isinstance(o.this, exp.Column)}
    rest = (exp.Ordered(this=col(c.name), desc=False, nulls_first=True) for c in columns if c.name not in used)
    return (*ordered, *rest)


def _count(limit: exp.Expr | None, context: Context) -> int:
    if limit is None:
        return ALL
    if isinstance(limit, exp.Fetch):
        if limit.args.get("limit_options"):
            raise unsupported("FETCH … WITH TIES or PERCENT", limit, context.text)
        return _number(limit.args.get("count") or exp.Literal.number(1), context)
    return _number(limit.expression, context)


def _number(value: exp.Expr, context: Context) -> int:
    if isinstance(value, exp.Literal) and value.is_int:
        return int(value.this)
    raise wrong("LIMIT and OFFSET must be whole numbers", value, context.text)


def _note(context: Context, note: str) -> None:
    if note not in context.memory.notes:
        context.memory.notes.append(note)

"""LIMIT and OFFSET, and orders without ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.simplify import simplify

from trickle.plan import Column, Filter, Item, Node, Project, TopK, Window, all_of, both, col, keep, number
from trickle.sql.lower.context import Context
from trickle.sql.lower.refuse import unsupported, wrong


@dataclass(frozen=True)
class Limit:
    count: int
    offset: int = 0
    ties: bool = False
    """Rows that the order does not tell from the last one stay too."""


ALL = 2**31 - 1
"""The count of an OFFSET without LIMIT."""


def limit_of(query: exp.Query | exp.Values, context: Context) -> Limit | None:
    """The query's LIMIT, OFFSET or FETCH FIRST; None without (then an order means nothing to a table)."""
    limit, offset = query.args.get("limit"), query.args.get("offset")
    if isinstance(limit, exp.Limit) and limit.expression.name.upper() == "ALL":
        limit = None
    order = query.args.get("order")
    if limit is None and offset is None:
        distinct = query.args.get("distinct")
        if order is not None and not (distinct is not None and distinct.args.get("on")):
            context.note("ORDER BY without LIMIT has no meaning for a stored table and is ignored")
        return None
    if order is None:
        raise unsupported("LIMIT without ORDER BY", query, context.text, "Which rows it keeps is undefined.")
    skipped = _number(offset.expression, context) if offset else 0
    ties = _option(limit, "with_ties")
    if ties and skipped:
        raise unsupported("WITH TIES behind OFFSET", query, context.text)
    return Limit(min(_count(limit, context), ALL - skipped), skipped, ties)


def written_order(query: exp.Query | exp.Values, columns: int) -> list[exp.Ordered]:
    """ORDER BY as it is written; ALL stands for every column, from the left."""
    order = query.args.get("order")
    items: list[exp.Ordered] = list(order.expressions) if order is not None else []
    if len(items) != 1 or not isinstance(items[0].this, exp.Var) or items[0].this.name.upper() != "ALL":
        return items
    options = {k: v for k, v in items[0].args.items() if k != "this"}
    return [exp.Ordered(this=exp.Literal.number(n), **options) for n in range(1, columns + 1)]


def reordered(ordered: exp.Expr, by: exp.Expr) -> exp.Ordered:
    """The same direction, and NULLs at the same end, by another value."""
    copy = ordered.copy()
    copy.set("this", by.copy())
    assert isinstance(copy, exp.Ordered)
    return copy


def total_order(ordered: Sequence[exp.Ordered], columns: Sequence[Column]) -> tuple[exp.Ordered, ...]:
    """The order, ties broken by every other column: rows that still tie are equal."""
    used = {o.this.name for o in ordered if isinstance(o.this, exp.Column)}
    rest = (exp.Ordered(this=_sortable(c), desc=False, nulls_first=True) for c in columns if c.name not in used)
    return (*ordered, *rest)


def _sortable(column: Column) -> exp.Expr:
    """The column; of a map, which has no order, its entries, which have."""
    if not (column.type or "").casefold().startswith("map"):
        return col(column.name)
    return exp.Anonymous(
        this="sort_array", expressions=[exp.Anonymous(this="map_entries", expressions=[col(column.name)])]
    )


def first_rows(
    rows: Node, partition: Sequence[Column], order: Sequence[exp.Ordered], limit: Limit, context: Context
) -> Node:
    """τ; of each partition on its own, where there is one."""
    within = [col(c.name) for c in partition]
    if limit.ties:
        return ranked_rows(rows, within, order, limit, context)
    ranked = total_order(order, rows.columns)
    if partition:
        return ranked_rows(rows, within, ranked, limit, context)
    return TopK(rows, ranked, limit.count, limit.offset)


def ranked_rows(
    rows: Node, partition: Sequence[exp.Expr], order: Sequence[exp.Ordered], limit: Limit, context: Context
) -> Node:
    """The rows whose place in their partition lies within the limit."""
    rank = context.fresh("rank", "INT")
    keys = [key.copy() for key in partition]
    by = exp.Order(expressions=[o.copy() for o in order])
    function = exp.Rank() if limit.ties else exp.RowNumber()
    call = exp.Window(this=function, partition_by=keys, order=by, over="OVER")
    placed = Window(rows, tuple(keys), (Item(rank, call),))
    last = both(col(rank.name), number(min(limit.offset + limit.count, ALL)), exp.LTE)
    first = both(col(rank.name), number(limit.offset), exp.GT)
    within = Filter(placed, all_of([last, first] if limit.offset else [last]))
    return Project(within, keep(rows.columns))


def _count(limit: exp.Expr | None, context: Context) -> int:
    if limit is None:
        return ALL
    if isinstance(limit, exp.Fetch):
        if _option(limit, "percent"):
            raise unsupported("FETCH … PERCENT", limit, context.text)
        return _number(limit.args.get("count") or exp.Literal.number(1), context)
    return _number(limit.expression, context)


def _option(limit: exp.Expr | None, name: str) -> bool:
    options = limit.args.get("limit_options") if isinstance(limit, exp.Fetch) else None
    return options is not None and bool(options.args.get(name))


def _number(value: exp.Expr, context: Context) -> int:
    known = simplify(value.copy())
    if isinstance(known, exp.Literal) and known.is_int:
        return int(known.this)
    raise wrong("LIMIT and OFFSET must be whole numbers", value, context.text)

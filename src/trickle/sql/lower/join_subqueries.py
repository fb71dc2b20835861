"""Subqueries in ON of inner joins: asked of the rows joined so far.

WHERE asks as well, and only once for all. But rows that a later RIGHT or FULL JOIN pads have not been asked.
"""

from __future__ import annotations

from sqlglot import exp

from trickle.plan import all_of, conjuncts
from trickle.sql.lower.bind import is_subquery


def with_conditions_in_where(select: exp.Select) -> exp.Select:
    """Conditions with subqueries moved from ON to WHERE, if no later join reshapes what it stands in."""
    joins = select.args.get("joins") or []
    last = max((n for n, join in enumerate(joins) if reshapes_left(join)), default=-1)
    late = [n for n, join in enumerate(joins) if n > last and _asks(join)]
    if not late:
        return select
    select = select.copy()
    for n in late:
        condition = select.args["joins"][n].args.pop("on")
        select.where(condition, copy=False)
    return select


def parted(join: exp.Join) -> tuple[exp.Join, exp.Expr | None]:
    """The join and, apart from it, the part of its condition that asks subqueries."""
    if not _asks(join):
        return join, None
    parts = conjuncts(join.args["on"])
    asking = [part for part in parts if _has_subquery(part)]
    bare = join.copy()
    bare.set("on", all_of(part for part in parts if part not in asking))
    return bare, all_of(asking)


def reshapes_left(join: exp.Join) -> bool:
    """Does it pad rows on its left, or leave none as it was?"""
    pivots = join.args.get("pivots") or join.this.args.get("pivots")
    return join.side.upper() in ("RIGHT", "FULL") or bool(pivots)


def _asks(join: exp.Join) -> bool:
    on = join.args.get("on")
    if on is None or join.side or join.kind.upper() in ("SEMI", "ANTI"):
        return False
    return _has_subquery(on)


def _has_subquery(condition: exp.Expr) -> bool:
    return any(is_subquery(node) for node in condition.walk())

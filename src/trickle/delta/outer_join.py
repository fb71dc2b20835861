"""Left and full joins."""

from __future__ import annotations

from sqlglot import exp

from trickle.delta import semi_join
from trickle.delta.affected import narrowed
from trickle.delta.weights import PASSED_WEIGHT
from trickle.plan import (
    Item,
    Join,
    Node,
    OuterJoin,
    Project,
    SemiJoin,
    UnionAll,
    after,
    before,
    cast,
    keep,
    null,
)


def delta(join: OuterJoin, left: Node, right: Node) -> Node:
    """Δ(L ⟕ R) = ΔL ⟕ R• + L° ⋈ ΔR + padding of L° rows that found or lost their match;  ⟗: + Δ(R ▷ L) padded"""
    lonely = SemiJoin(join.left, join.right, join.on, anti=True)
    parts = [
        OuterJoin(left, narrowed(after(join.right), join.on, by=left), join.on),
        Join((right, before(join.left)), join.on),
        _padded(join, semi_join.turned(lonely, right)),
    ]
    if join.full:
        other = SemiJoin(join.right, join.left, join.on, anti=True)
        parts.append(_padded(join, semi_join.delta(other, right, left)))
    return UnionAll(tuple(parts))


def _padded(join: OuterJoin, rows: Node) -> Node:
    """The rows, the partner's columns filled with NULL."""
    own = set(rows.names)
    items = (i if i.name in own else Item(i.column, _absent(i.column.type)) for i in keep(join.columns))
    return Project(rows, (*items, PASSED_WEIGHT))


def _absent(type: str | None) -> exp.Expr:
    return cast(null(), type) if type else null()

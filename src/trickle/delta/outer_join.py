"""Left and full joins."""

from __future__ import annotations

from sqlglot import exp

from trickle.delta import join as inner
from trickle.delta import semi_join
from trickle.delta.weights import PASSED_WEIGHT
from trickle.plan import Item, Join, Node, OuterJoin, Project, SemiJoin, UnionAll, cast, keep, null


def delta(join: OuterJoin, left: Node, right: Node) -> Node:
    """Δ(L ⟕ R) = Δ(L ⋈ R) + Δ(L ▷ R)×NULLs;  for ⟗ also + Δ(R ▷ L)×NULLs"""
    parts = [
        inner.delta(Join((join.left, join.right), join.on), left, right),
        _padding(join, SemiJoin(join.left, join.right, join.on, anti=True), left, right),
    ]
    if join.full:
        parts.append(_padding(join, SemiJoin(join.right, join.left, join.on, anti=True), right, left))
    return UnionAll(tuple(parts))


def _padding(join: OuterJoin, lonely: SemiJoin, kept: Node, other: Node) -> Node:
    """Δ of the rows without a partner, the partner's columns filled with NULL."""
    own = set(lonely.names)
    padded = tuple(
        item if item.name in own else Item(item.column, _typed_null(item.column.type)) for item in keep(join.columns)
    )
    return Project(semi_join.delta(lonely, kept, other), (*padded, PASSED_WEIGHT))


def _typed_null(type: str | None) -> exp.Expr:
    return cast(null(), type) if type else null()

"""∅ spreads: R ⋈ ∅ = ∅, R ⊎ ∅ = R, R ▷ ∅ = R."""

from __future__ import annotations

from trickle.plan import (
    Aggregate,
    Node,
    OuterJoin,
    Project,
    SemiJoin,
    SetOp,
    SetOpKind,
    UnionAll,
    cast,
    empty,
    is_empty,
    keep,
    null,
    rebuild,
)
from trickle.plan.nodes import Item


def drop_empty(plan: Node) -> Node:
    """The plan without the parts that cannot yield a row."""
    return rebuild(plan, _drop)


def _drop(node: Node) -> Node:
    if not any(is_empty(child) for child in node.inputs):
        return node
    if isinstance(node, UnionAll):
        return _union(node)
    if isinstance(node, SemiJoin) and node.anti and not is_empty(node.left):
        return node.left
    if isinstance(node, OuterJoin):
        return _outer(node)
    if isinstance(node, SetOp) and node.kind is SetOpKind.EXCEPT and not is_empty(node.left):
        return node
    if isinstance(node, Aggregate) and not node.keys:
        return node  # the global aggregate has one row even of nothing
    return empty(node.columns)


def _union(node: UnionAll) -> Node:
    alive = tuple(part for part in node.parts if not is_empty(part))
    if not alive:
        return empty(node.columns)
    return alive[0] if len(alive) == 1 else UnionAll(alive)


def _outer(node: OuterJoin) -> Node:
    if is_empty(node.left) and is_empty(node.right):
        return empty(node.columns)
    if is_empty(node.right):
        return _padded(node, node.left)
    return _padded(node, node.right) if node.full else empty(node.columns)


def _padded(node: OuterJoin, side: Node) -> Node:
    own = set(side.names)
    items = keep(node.columns)
    return Project(side, tuple(item if item.name in own else _absent(item) for item in items))


def _absent(item: Item) -> Item:
    return Item(item.column, cast(null(), item.column.type) if item.column.type else null())

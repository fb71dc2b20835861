"""Nested unions and joins become one: (R ⊎ S) ⊎ T = ⊎(R, S, T), (R ⋈ S) ⋈ T = ⋈(R, S, T)."""

from __future__ import annotations

from trickle.plan import Join, Node, UnionAll, all_of, rebuild


def flatten(plan: Node) -> Node:
    """The plan with unions of unions and joins of joins written flat."""
    return rebuild(plan, _flatten)


def _flatten(node: Node) -> Node:
    if isinstance(node, UnionAll) and any(isinstance(p, UnionAll) for p in node.parts):
        return UnionAll(tuple(q for p in node.parts for q in (p.parts if isinstance(p, UnionAll) else (p,))))
    if isinstance(node, Join) and any(isinstance(p, Join) for p in node.parts):
        conditions = [p.on for p in node.parts if isinstance(p, Join)]
        parts = tuple(q for p in node.parts for q in (p.parts if isinstance(p, Join) else (p,)))
        return Join(parts, all_of([*conditions, node.on]))
    return node

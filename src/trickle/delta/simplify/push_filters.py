"""σ travels down to where its columns come from."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from trickle.plan import (
    Aggregate,
    Filter,
    Join,
    Node,
    OuterJoin,
    Project,
    SemiJoin,
    UnionAll,
    all_of,
    conjuncts,
    rebuild,
    references,
    substitute,
)


def push_filters(plan: Node) -> Node:
    """The plan with every conjunct of a filter as near to its scans as it may go."""
    return rebuild(plan, _push)


def _push(node: Node) -> Node:
    if isinstance(node, Filter):
        return _place(conjuncts(node.condition), node.input)
    if isinstance(node, Join):
        return _into_join(node, ())
    return node


def _place(conditions: tuple[exp.Expr, ...], node: Node) -> Node:
    """σ_conditions(node)"""
    if not conditions:
        return node
    match node:
        case Filter():
            return _place((*conjuncts(node.condition), *conditions), node.input)
        case Project():
            inner = {item.name: item.expression for item in node.items}
            return replace(node, input=_place(tuple(substitute(c, inner) for c in conditions), node.input))
        case Join():
            return _into_join(node, conditions)
        case UnionAll():
            return replace(node, parts=tuple(_place(conditions, part) for part in node.parts))
        case SemiJoin():
            return replace(node, left=_place(conditions, node.left))
        case OuterJoin() if not node.full:
            below, above = _split(conditions, node.left)
            return _filter(replace(node, left=_place(below, node.left)), above)
        case Aggregate() if node.keys:
            keys = {item.name: item.expression for item in node.keys}
            below = tuple(c for c in conditions if references(c) and references(c) <= keys.keys())
            above = tuple(c for c in conditions if c not in below)
            lowered = tuple(substitute(c, keys) for c in below)
            return _filter(replace(node, input=_place(lowered, node.input)), above)
        case _:
            return _filter(node, conditions)


def _into_join(node: Join, conditions: tuple[exp.Expr, ...]) -> Node:
    """Conjuncts of one input go to that input, the others become the join's condition."""
    remaining = (*conjuncts(node.on), *conditions)
    parts = []
    for part in node.parts:
        own, remaining = _split(remaining, part)
        parts.append(_place(own, part))
    return Join(tuple(parts), all_of(remaining))


def _split(conditions: tuple[exp.Expr, ...], node: Node) -> tuple[tuple[exp.Expr, ...], tuple[exp.Expr, ...]]:
    """The conditions this node can answer alone, and the rest."""
    known = frozenset(node.names)
    own = tuple(c for c in conditions if references(c) and references(c) <= known)
    return own, tuple(c for c in conditions if c not in own)


def _filter(node: Node, conditions: tuple[exp.Expr, ...]) -> Node:
    return Filter(node, all_of(conditions)) if conditions else node

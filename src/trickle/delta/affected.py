"""Which groups, partitions or rows a change can touch, and the input restricted to them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from trickle.plan import (
    Column,
    Distinct,
    Item,
    Node,
    Project,
    SemiJoin,
    all_of,
    col,
    conjuncts,
    references,
    same,
    type_of,
)


def affected(change: Node, keys: Sequence[exp.Expr]) -> Node:
    """G = δ(π_keys(ΔR))"""
    return Distinct(Project(change, _key_items(change, keys)))


def restrict(node: Node, keys: Sequence[exp.Expr], touched: Node) -> Node:
    """R ⋉ G, null-safe: a NULL key is a key like any other."""
    pairs = zip(keys, touched.names, strict=True)
    return SemiJoin(node, touched, all_of(same(key, col(name)) for key, name in pairs))


def narrowed(node: Node, on: exp.Expr, by: Node) -> Node:
    """R ⋉ keys(by), over the equalities of the condition: the rows that rows of `by`, or their matches, can match.

    `by` is a change of either side. Without equalities every row may match.
    """
    keys = [_oriented(c, frozenset(node.names)) for c in conjuncts(on)]
    pairs = [pair for pair in keys if pair is not None]
    mine = [a for a, _ in pairs]
    theirs = [next((e for e in pair if references(e) <= set(by.names)), None) for pair in pairs]
    if not pairs or any(e is None for e in theirs):
        return node
    return restrict(node, mine, affected(by, [e for e in theirs if e is not None]))


def _oriented(condition: exp.Expr, names: frozenset[str]) -> tuple[exp.Expr, exp.Expr] | None:
    """`(mine, theirs)` of an equality between an expression over these names and one over others."""
    if not isinstance(condition, exp.EQ | exp.NullSafeEQ):
        return None
    for mine, theirs in ((condition.left, condition.right), (condition.right, condition.left)):
        if references(mine) and references(mine) <= names and references(theirs) and not references(theirs) & names:
            return mine.unnest(), theirs.unnest()
    return None


def _key_items(change: Node, keys: Sequence[exp.Expr]) -> tuple[Item, ...]:
    return tuple(
        Item(Column(f"__k{n}", type_of(key, change.columns)), key.copy()) for n, key in enumerate(keys, start=1)
    )

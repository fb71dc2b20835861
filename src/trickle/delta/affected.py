"""Which groups, partitions or rows a change can touch, and the input restricted to them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from trickle.plan import Column, Distinct, Item, Node, Project, SemiJoin, all_of, col, same, type_of


def affected(change: Node, keys: Sequence[exp.Expr]) -> Node:
    """G = δ(π_keys(ΔR))"""
    return Distinct(Project(change, _key_items(change, keys)))


def restrict(node: Node, keys: Sequence[exp.Expr], touched: Node) -> Node:
    """R ⋉ G, null-safe: a NULL key is a key like any other."""
    pairs = zip(keys, touched.names, strict=True)
    return SemiJoin(node, touched, all_of(same(key, col(name)) for key, name in pairs))


def _key_items(change: Node, keys: Sequence[exp.Expr]) -> tuple[Item, ...]:
    return tuple(
        Item(Column(f"__k{n}", type_of(key, change.columns)), key.copy()) for n, key in enumerate(keys, start=1)
    )

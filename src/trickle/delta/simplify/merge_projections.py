"""π(π(R)) = π(R)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from sqlglot import exp

from trickle.plan import Item, Node, Project, rebuild, substitute
from trickle.plan.expressions import col


def merge_projections(plan: Node) -> Node:
    """A projection of a projection is one, unless that would compute an expression twice."""
    return rebuild(plan, _merge)


def _merge(node: Node) -> Node:
    if not isinstance(node, Project):
        return node
    below = node.input
    if isinstance(below, Project) and _cheap(node, below):
        inner = {item.name: item.expression for item in below.items}
        node = Project(below.input, tuple(replace(i, expression=substitute(i.expression, inner)) for i in node.items))
    return node.input if _passes_all(node) else node


def _cheap(outer: Project, inner: Project) -> bool:
    uses = Counter(c.name for item in outer.items for c in item.expression.find_all(exp.Column))
    simple = (exp.Column, exp.Literal, exp.Null, exp.Neg)
    return all(uses[item.name] <= 1 or isinstance(item.expression, simple) for item in inner.items)


def _passes_all(node: Project) -> bool:
    """Nothing renamed, nothing computed, nothing left out, nothing moved."""
    return node.names == node.input.names and all(_kept(item) for item in node.items)


def _kept(item: Item) -> bool:
    return item.expression == col(item.name)

"""Aggregates without stored state: recompute the affected groups, then and now.

`delta.state` is the other way, for the aggregate a stream table stores.
"""

from __future__ import annotations

from dataclasses import replace

from trickle.delta.affected import affected, restrict
from trickle.delta.weights import difference
from trickle.plan import Aggregate, Distinct, Node, after, before, keep


def delta(node: Aggregate, change: Node) -> Node:
    """Δγ(R) = γ(R• ⋉ G) − γ(R° ⋉ G), G = keys(ΔR);  without keys γ(R•) − γ(R°)"""
    if not node.keys:
        return difference(after(node), before(node))
    keys = [key.expression for key in node.keys]
    groups = affected(change, keys)
    return difference(
        replace(node, input=restrict(after(node.input), keys, groups)),
        replace(node, input=restrict(before(node.input), keys, groups)),
    )


def distinct(node: Distinct, change: Node) -> Node:
    """δ(R) = γ(R) by all columns, without functions"""
    return delta(as_aggregate(node), change)


def as_aggregate(node: Distinct) -> Aggregate:
    return Aggregate(node.input, keep(node.columns), ())

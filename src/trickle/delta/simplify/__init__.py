"""Passes that make a plan smaller without changing what it means, in this order."""

from __future__ import annotations

from trickle.delta.simplify.drop_empty import drop_empty
from trickle.delta.simplify.factor_joins import factor_joins
from trickle.delta.simplify.flatten import flatten
from trickle.delta.simplify.merge_projections import merge_projections
from trickle.delta.simplify.outer_to_inner import outer_to_inner
from trickle.delta.simplify.prune_columns import prune_columns
from trickle.delta.simplify.push_filters import push_filters
from trickle.delta.simplify.push_semi_joins import push_semi_joins
from trickle.plan import Node

PASSES = (
    drop_empty,
    push_filters,
    push_semi_joins,
    flatten,
    factor_joins,
    merge_projections,
    prune_columns,
    merge_projections,
)


def simplify(plan: Node) -> Node:
    for step in PASSES:
        plan = step(plan)
    return plan


__all__ = [
    "PASSES",
    "drop_empty",
    "factor_joins",
    "flatten",
    "merge_projections",
    "outer_to_inner",
    "prune_columns",
    "push_filters",
    "push_semi_joins",
    "simplify",
]

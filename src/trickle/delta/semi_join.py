"""Semi and anti joins."""

from __future__ import annotations

from dataclasses import replace

from trickle.delta.affected import narrowed, rivals
from trickle.delta.weights import difference
from trickle.plan import Node, SemiJoin, UnionAll, after, before


def delta(join: SemiJoin, left: Node, right: Node) -> Node:
    """Δ(L ⋉ R) = ΔL ⋉ R•  +  (L° ⋉ ΔR) ⋉ R•  −  (L° ⋉ ΔR) ⋉ R°;  for ▷ read ▷ before R• and R°."""
    now = narrowed(after(join.right), join.on, by=left)
    return UnionAll((replace(join, left=left, right=now), turned(join, right)))


def turned(join: SemiJoin, right: Node) -> Node:
    """The old left rows that found or lost their match: only those that match some changed right row can."""
    moved = SemiJoin(before(join.left), right, join.on)
    states = (after(join.right), before(join.right))
    now, then = (rivals(state, join.on, of=right, across=join.left.columns) for state in states)
    return difference(replace(join, left=moved, right=now), replace(join, left=moved, right=then))

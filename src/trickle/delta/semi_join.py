"""Semi and anti joins."""

from __future__ import annotations

from dataclasses import replace

from trickle.delta.affected import narrowed, rivals
from trickle.delta.flips import flips
from trickle.delta.weights import PASSED_WEIGHT, difference
from trickle.plan import Join, Node, Project, SemiJoin, UnionAll, after, before, keep


def delta(join: SemiJoin, left: Node, right: Node) -> Node:
    """Δ(L ⋉ R) = ΔL ⋉ R•  +  the L° rows that found or lost their match;  for ▷ read ▷ before R•, and lost or found."""
    now = narrowed(after(join.right), join.on, by=left)
    return UnionAll((replace(join, left=left, right=now), turned(join, right)))


def turned(join: SemiJoin, right: Node) -> Node:
    """The old left rows that found or lost their match: only those that match some changed right row can.

    (L° ⋉ ΔR) ⋈ flips(R) where equality of keys is all that matters; else (L° ⋉ ΔR) ⋉ R• − (L° ⋉ ΔR) ⋉ R°.
    """
    moved = SemiJoin(before(join.left), right, join.on)
    now, then = (
        rivals(state, join.on, of=right, across=join.left.columns) for state in (after(join.right), before(join.right))
    )
    flipped = flips(join, now, right)
    if flipped is None:
        return difference(replace(join, left=moved, right=now), replace(join, left=moved, right=then))
    keys, on = flipped
    return Project(Join((moved, keys), on), (*keep(join.left.columns), PASSED_WEIGHT))

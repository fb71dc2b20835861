"""Semi and anti joins."""

from __future__ import annotations

from dataclasses import replace

from trickle.delta.weights import difference
from trickle.plan import Node, SemiJoin, UnionAll, after, before


def delta(join: SemiJoin, left: Node, right: Node) -> Node:
    """Δ(L ⋉ R) = ΔL ⋉ R•  +  (L° ⋉ ΔR) ⋉ R•  −  (L° ⋉ ΔR) ⋉ R°;  for ▷ read ▷ before R• and R°.

    Only the old rows that match some changed right row can find or lose their match.
    """
    moved = SemiJoin(before(join.left), right, join.on)
    fresh = replace(join, left=left, right=after(join.right))
    turned = difference(
        replace(join, left=moved, right=after(join.right)),
        replace(join, left=moved, right=before(join.right)),
    )
    return UnionAll((fresh, turned))

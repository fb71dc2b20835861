"""ORDER BY … LIMIT [OFFSET]."""

from __future__ import annotations

from trickle.delta.weights import difference
from trickle.plan import Node, TopK, after, before


def delta(node: TopK, change: Node) -> Node:
    """Δτ(R) = τ(R•) − τ(R°)"""
    return difference(after(node), before(node))

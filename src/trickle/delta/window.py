"""Window functions."""

from __future__ import annotations

from dataclasses import replace

from trickle.delta.affected import affected, restrict
from trickle.delta.weights import difference
from trickle.plan import Node, Window, after, before


def delta(node: Window, change: Node) -> Node:
    """Δω(R) = ω(R• ⋉ P) − ω(R° ⋉ P), P = partitions(ΔR);  without PARTITION BY ω(R•) − ω(R°)"""
    if not node.partition:
        return difference(after(node), before(node))
    touched = affected(change, node.partition)
    return difference(
        replace(node, input=restrict(after(node.input), node.partition, touched)),
        replace(node, input=restrict(before(node.input), node.partition, touched)),
    )

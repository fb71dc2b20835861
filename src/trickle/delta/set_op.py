"""INTERSECT and EXCEPT, with and without ALL."""

from __future__ import annotations

from dataclasses import replace

from trickle.delta.affected import affected, restrict
from trickle.delta.weights import difference
from trickle.plan import Distinct, Node, SetOp, UnionAll, after, before, col


def delta(node: SetOp, left: Node, right: Node) -> Node:
    """Δ(L ∘ R) = (L•⋉K ∘ R•⋉K) − (L°⋉K ∘ R°⋉K), K = the rows in ΔL or ΔR"""
    row = [col(name) for name in node.names]
    touched = Distinct(UnionAll((affected(left, row), affected(right, row))))

    def limited(state: SetOp) -> SetOp:
        return replace(state, left=restrict(state.left, row, touched), right=restrict(state.right, row, touched))

    return difference(limited(_as_set_op(after(node))), limited(_as_set_op(before(node))))


def _as_set_op(node: Node) -> SetOp:
    assert isinstance(node, SetOp)
    return node

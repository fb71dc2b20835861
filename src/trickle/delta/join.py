"""Inner joins."""

from __future__ import annotations

from trickle.plan import Join, Node, UnionAll, after, before


def delta(join: Join, *changed: Node) -> Node:
    """Δ(R₁ ⋈ … ⋈ Rₙ) = Σᵢ R₁° ⋈ … ⋈ Rᵢ₋₁° ⋈ ΔRᵢ ⋈ Rᵢ₊₁• ⋈ … ⋈ Rₙ•"""
    return UnionAll(tuple(_term(join, i, change) for i, change in enumerate(changed)))


def _term(join: Join, i: int, change: Node) -> Node:
    old = tuple(before(part) for part in join.parts[:i])
    new = tuple(after(part) for part in join.parts[i + 1 :])
    # The change comes first: engines without statistics join in the order written.
    return Join((change, *old, *new), join.on)

"""Linear operators: Δf(R) = f(ΔR), the weight passed through."""

from __future__ import annotations

from dataclasses import replace

from trickle.delta.weights import PASSED_WEIGHT
from trickle.plan import Expand, Filter, Generate, Node, Project, UnionAll


def project(node: Project, change: Node) -> Node:
    """Δπ(R) = π(ΔR)"""
    return replace(node, input=change, items=(*node.items, PASSED_WEIGHT))


def filter(node: Filter, change: Node) -> Node:
    """Δσ(R) = σ(ΔR)"""
    return replace(node, input=change)


def union_all(node: UnionAll, *parts: Node) -> Node:
    """Δ(R ⊎ S) = ΔR ⊎ ΔS"""
    return replace(node, parts=parts)


def expand(node: Expand, change: Node) -> Node:
    """Δ(π₁(R) ⊎ π₂(R) ⊎ …) = π₁(ΔR) ⊎ π₂(ΔR) ⊎ …"""
    return replace(node, input=change, projections=tuple((*p, PASSED_WEIGHT) for p in node.projections))


def generate(node: Generate, change: Node) -> Node:
    """Each changed row generates with its own weight."""
    return replace(node, input=change)

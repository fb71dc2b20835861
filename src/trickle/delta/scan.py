"""Leaves: where changes come from."""

from __future__ import annotations

from trickle.delta.weights import WEIGHT_COLUMN
from trickle.plan import Constant, Node, Scan, changes, empty


def scan(node: Scan) -> Node:
    """ΔR = the change feed of the table between frontier and target."""
    return changes(node)


def constant(node: Constant) -> Node:
    """Δc = ∅"""
    return empty((*node.columns, WEIGHT_COLUMN))

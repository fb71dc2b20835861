"""The driver: from the plan of a query to the plan of its change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from trickle.delta.rules import RULES, Rule
from trickle.delta.simplify import flatten, outer_to_inner, simplify
from trickle.delta.weights import WEIGHT_COLUMN
from trickle.errors import NotIncremental
from trickle.plan import Node, Scan, Version, empty, rebuild, tables


def differentiate(
    plan: Node, unchanged: frozenset[str] = frozenset(), rules: Mapping[type[Node], Rule] = RULES
) -> Node:
    """Δplan: the plan's columns and `__w`. Tables in `unchanged` contribute nothing."""
    raw = raw_delta(flatten(outer_to_inner(plan)), unchanged, rules)
    return simplify(settle(raw, unchanged))


def raw_delta(plan: Node, unchanged: frozenset[str] = frozenset(), rules: Mapping[type[Node], Rule] = RULES) -> Node:
    """Δplan exactly as the rules write it; equal inputs are differentiated once."""
    seen: dict[int, Node] = {}

    def visit(node: Node) -> Node:
        if id(node) not in seen:
            seen[id(node)] = derive(node)
        return seen[id(node)]

    def derive(node: Node) -> Node:
        read = tables(node)
        if read and read <= unchanged:
            return empty((*node.columns, WEIGHT_COLUMN))
        rule = rules.get(type(node))
        if rule is None:
            raise NotIncremental(f"no delta rule for {type(node).__name__}")
        return rule(node, *(visit(child) for child in node.inputs))

    return visit(plan)


def settle(plan: Node, unchanged: frozenset[str]) -> Node:
    """An unchanged table is the same before and after: read one state, so that equal parts become one."""

    def move(node: Node) -> Node:
        if isinstance(node, Scan) and node.table in unchanged and node.version is Version.BEFORE:
            return replace(node, version=Version.AFTER)
        return node

    return rebuild(plan, move)

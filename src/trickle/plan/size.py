"""How large a plan is, and which of its parts are small: as the change is, or whatever happens."""

from __future__ import annotations

from trickle.plan.names import CONTRIBUTIONS, KEYS
from trickle.plan.nodes import (
    Aggregate,
    Binary,
    Constant,
    Filter,
    Generate,
    Join,
    Node,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    Unary,
    UnionAll,
    Version,
)


def weight(plan: Node) -> int:
    """How many operators an engine sees that writes out every shared part again."""
    seen: dict[int, int] = {}

    def visit(node: Node) -> int:
        if id(node) not in seen:
            seen[id(node)] = 1 + sum(visit(child) for child in node.inputs)
        return seen[id(node)]

    return visit(plan)


def is_small(node: Node) -> bool:
    """Is it worth sending everywhere: a part of the change, or a few rows whatever the tables hold?"""
    return follows_change(node) or _has_few_rows(node)


def _has_few_rows(node: Node) -> bool:
    match node:
        case Constant():
            return True
        case Aggregate() if not node.keys:
            return True
        case Join() | UnionAll():
            return all(_has_few_rows(part) for part in node.parts)
        case Project() | Filter():
            return _has_few_rows(node.input)
        case _:
            return False


def follows_change(node: Node) -> bool:
    """Does the number of rows grow with the change, not with the tables?"""
    match node:
        case Scan():
            return node.version is Version.CHANGES or node.table in (CONTRIBUTIONS, KEYS)
        case Constant():
            return True
        case Generate():
            return False
        case Join():
            return any(follows_change(part) for part in node.parts)
        case UnionAll():
            return all(follows_change(part) for part in node.parts)
        case SemiJoin():
            return follows_change(node.left) or (not node.anti and follows_change(node.right))
        case OuterJoin():
            return follows_change(node.left) and (not node.full or follows_change(node.right))
        case Unary():
            return follows_change(node.input)
        case Binary():
            return all(follows_change(child) for child in node.inputs)
        case _:
            return False

"""Which parts of a plan are as small as the change."""

from __future__ import annotations

from trickle.plan.nodes import (
    Binary,
    Constant,
    Generate,
    Join,
    Node,
    OuterJoin,
    Scan,
    SemiJoin,
    Unary,
    UnionAll,
    Version,
)


def follows_change(node: Node) -> bool:
    """Does the number of rows grow with the change, not with the tables?"""
    match node:
        case Scan():
            return node.version is Version.CHANGES
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

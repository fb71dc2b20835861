"""Plans that do not lose rows when a relation they read gains some; else there is no least relation to speak of."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trickle.plan.nodes import (
    Aggregate,
    Distinct,
    Join,
    Node,
    OuterJoin,
    Project,
    SemiJoin,
    SetOp,
    SetOpKind,
    TopK,
    UnionAll,
    Window,
    keep,
)
from trickle.plan.tree import tables


class NotMonotone(Exception):
    """Where a relation is read that must not be read there."""

    def __init__(self, where: str, construct: str = "") -> None:
        super().__init__(where or construct)
        self.where, self.construct = where, construct
        """The construct alone, where it would be lawful but is not supported."""


@dataclass(frozen=True)
class Law:
    """What a plan may do with the relations that stem from it."""

    relations: frozenset[str]
    distinct: bool
    """Copies do not count."""

    def checked(self, node: Node) -> Node:
        """The plan; where copies do not count, DISTINCT on the way is left out, and semi joins are joins."""
        if not self.reads(node):
            return node
        match node:
            case Distinct() if self.distinct:
                return self.checked(node.input)
            case Distinct():
                raise NotMonotone("", "DISTINCT")
            case Aggregate():
                raise NotMonotone("under an aggregate")
            case Window():
                raise NotMonotone("under a window function")
            case TopK():
                raise NotMonotone("under LIMIT")
            case SetOp() if node.kind is SetOpKind.EXCEPT and self.reads(node.right):
                raise NotMonotone("on the right of EXCEPT")
            case SetOp():
                raise NotMonotone("", node.kind.value)
            case OuterJoin():
                if node.full or self.reads(node.right):
                    raise NotMonotone("on the side of an outer join that may be NULL")
                return replace(node, left=self.checked(node.left))
            case SemiJoin():
                return self._semi_join(node)
            case UnionAll():
                return replace(node, parts=tuple(self.checked(part) for part in node.parts))
            case _:
                return node.with_inputs(*(self.checked(child) for child in node.inputs))

    def _semi_join(self, node: SemiJoin) -> Node:
        if not self.reads(node.right):
            return replace(node, left=self.checked(node.left))
        if node.anti:
            raise NotMonotone("on the right of an anti join")
        if not self.distinct:
            raise NotMonotone("", "SEMI JOIN")
        joined = Join((self.checked(node.left), self.checked(node.right)), node.on)
        return Project(joined, keep(node.left.columns))

    def reads(self, node: Node) -> bool:
        return bool(self.relations & tables(node))

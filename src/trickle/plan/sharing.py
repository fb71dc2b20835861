"""Equal parts of a plan made one object, so that they are computed once."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields

from trickle.plan.nodes import Leaf, Node
from trickle.plan.tree import rebuild


def share(plan: Node) -> Node:
    """The plan with equal subtrees as one object each."""
    known: dict[tuple[object, ...], Node] = {}

    def one(node: Node) -> Node:
        return known.setdefault(_key(node), node)

    return rebuild(plan, one)


def shared_nodes(plan: Node) -> tuple[Node, ...]:
    """Nodes that several others read, inputs before those who read them; `plan` must be shared."""
    readers: Counter[int] = Counter()
    order: dict[int, Node] = {}

    def visit(node: Node) -> None:
        readers[id(node)] += 1
        if readers[id(node)] > 1:
            return
        for child in node.inputs:
            visit(child)
        order[id(node)] = node

    visit(plan)
    return tuple(n for i, n in order.items() if readers[i] > 1 and not isinstance(n, Leaf))


def _key(node: Node) -> tuple[object, ...]:
    """The node's own content, its inputs by identity: inputs are shared already."""
    return (type(node), *(_content(getattr(node, field.name)) for field in fields(node)))


def _content(value: object) -> object:
    if isinstance(value, Node):
        return id(value)
    if isinstance(value, tuple):
        return tuple(_content(v) for v in value)
    return value

"""Walking and rebuilding plans; the states of a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from trickle.plan.nodes import Node, Scan, Version


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, parents first."""
    yield node
    for child in node.inputs:
        yield from walk(child)


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """The plan with `change` applied to every node, inputs first; equal subtrees are changed once."""
    seen: dict[int, Node] = {}

    def visit(node: Node) -> Node:
        if id(node) not in seen:
            inputs = tuple(visit(child) for child in node.inputs)
            same = all(a is b for a, b in zip(inputs, node.inputs, strict=True))
            seen[id(node)] = change(node if same else node.with_inputs(*inputs))
        return seen[id(node)]

    return visit(node)


def before(node: Node) -> Node:
    """R°: the relation at the frontier."""
    return _at(node, Version.BEFORE)


def after(node: Node) -> Node:
    """R•: the relation at the target."""
    return _at(node, Version.AFTER)


def changes(scan: Scan) -> Scan:
    """ΔR of a table: its change feed, with weights."""
    return replace(scan, version=Version.CHANGES)


def tables(node: Node) -> frozenset[str]:
    """The tables a plan reads."""
    return frozenset(n.table for n in walk(node) if isinstance(n, Scan))


def _at(node: Node, version: Version) -> Node:
    def move(node: Node) -> Node:
        if isinstance(node, Scan) and node.version is not version:
            return replace(node, version=version)
        return node

    return rebuild(node, move)

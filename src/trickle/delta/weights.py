"""Signs: what came counts +1, what went −1.

Every weight inside a delta is +1 or −1; only `consolidate`, the last step, adds them up.
"""

from __future__ import annotations

from sqlglot import exp

from trickle.plan import (
    WEIGHT,
    Aggregate,
    Column,
    Filter,
    Item,
    Node,
    Project,
    UnionAll,
    both,
    col,
    keep,
    number,
)

WEIGHT_COLUMN = Column(WEIGHT, "INT")
PASSED_WEIGHT = Item(WEIGHT_COLUMN, col(WEIGHT))


def plus(node: Node) -> Node:
    """+R: every row with the weight +1."""
    return _weighted(node, 1)


def minus(node: Node) -> Node:
    """−R: every row with the weight −1."""
    return _weighted(node, -1)


def difference(new: Node, old: Node) -> Node:
    """New − Old"""
    return UnionAll((plus(new), minus(old)))


def consolidate(delta: Node) -> Node:
    """The net change: equal rows once, their weights added, those that cancel gone."""
    rows = tuple(c for c in delta.columns if c.name != WEIGHT)
    net = Item(Column(WEIGHT, "BIGINT"), exp.Sum(this=col(WEIGHT)))
    return Filter(Aggregate(delta, keep(rows), (net,)), both(col(WEIGHT), number(0), exp.NEQ))


def _weighted(node: Node, sign: int) -> Node:
    return Project(node, (*keep(node.columns), Item(WEIGHT_COLUMN, number(sign))))

"""Where the values of a plan's columns come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from trickle.plan.expressions import references
from trickle.plan.nodes import (
    Aggregate,
    Binary,
    Expand,
    Generate,
    Item,
    Join,
    Node,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    UnionAll,
    Window,
)
from trickle.plan.recursion import Recursion

Origin = tuple[str, str]
"""A table and a column of it."""
Lineage = Mapping[str, frozenset[Origin]]
"""Each column with the columns of tables that its values are made of."""


def lineage(plan: Node, recursions: Iterable[Recursion] = ()) -> Lineage:
    """The origins of each column; what only decides which rows there are (filters, join conditions) is none."""
    known: dict[str, Lineage] = {}
    for recursion in recursions:
        known[recursion.table] = _trace(recursion.base, known)
        while (found := _union(known[recursion.table], _trace(recursion.step, known))) != known[recursion.table]:
            known[recursion.table] = found
    return _trace(plan, known)


def _trace(node: Node, known: Mapping[str, Lineage]) -> Lineage:
    below = [_trace(child, known) for child in node.inputs]
    match node:
        case Scan():
            given = known.get(node.table, {})
            return {f.column.name: given.get(f.source, frozenset({(node.table, f.source)})) for f in node.fields}
        case Project(items=items):
            return _items(items, below[0])
        case Aggregate(keys=keys, calls=calls):
            return _items(keys + calls, below[0])
        case Expand(projections=projections):
            return _union(*(_items(items, below[0]) for items in projections))
        case Generate(generator=generator, made=made):
            return {**below[0], **{c.name: _of(generator, below[0]) for c in made}}
        case Window(calls=calls):
            return {**below[0], **_items(calls, below[0])}
        case Join() | OuterJoin():
            return {name: origins for part in below for name, origins in part.items()}
        case SemiJoin():
            return below[0]
        case UnionAll() | Binary():
            return _union(*below)
    return below[0] if below else {c.name: frozenset() for c in node.columns}


def _items(items: Iterable[Item], below: Lineage) -> Lineage:
    return {item.name: _of(item.expression, below) for item in items}


def _of(expression: exp.Expr, below: Lineage) -> frozenset[Origin]:
    return frozenset().union(*(below[name] for name in references(expression)))


def _union(*parts: Lineage) -> Lineage:
    return {name: frozenset().union(*(p.get(name, frozenset()) for p in parts)) for name in parts[0]}

"""Scans read only the columns somebody above uses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from trickle.plan import (
    Aggregate,
    Distinct,
    Expand,
    Field,
    Filter,
    Generate,
    Join,
    Node,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    SetOp,
    TopK,
    UnionAll,
    Window,
    keep,
    references,
)


def prune_columns(plan: Node) -> Node:
    """The same rows with the same columns, from the narrowest scans."""
    return _prune(plan, frozenset(plan.names))


def _prune(node: Node, wanted: frozenset[str]) -> Node:
    """The node with at least the wanted columns."""
    match node:
        case Scan():
            return replace(node, fields=_at_least_one(node, wanted))
        case Project():
            items = tuple(i for i in node.items if i.name in wanted) or node.items[:1]
            return Project(_prune(node.input, _read(i.expression for i in items)), items)
        case Filter():
            return replace(node, input=_prune(node.input, wanted | references(node.condition)))
        case Join():
            needed = wanted | references(node.on)
            return replace(node, parts=tuple(_prune(part, needed) for part in node.parts))
        case OuterJoin():
            needed = wanted | references(node.on)
            return replace(node, left=_prune(node.left, needed), right=_prune(node.right, needed))
        case SemiJoin():
            needed = wanted | references(node.on)
            return replace(node, left=_prune(node.left, needed), right=_prune(node.right, references(node.on)))
        case UnionAll():
            kept = tuple(c for c in node.columns if c.name in wanted) or node.columns[:1]
            names = frozenset(c.name for c in kept)
            return replace(node, parts=tuple(_exactly(_prune(part, names), names) for part in node.parts))
        case Aggregate():
            calls = tuple(i for i in node.calls if i.name in wanted)
            calls = calls if calls or node.keys else node.calls[:1]
            needed = _read(i.expression for i in node.keys + calls)
            return replace(node, calls=calls, input=_prune(node.input, needed))
        case Window():
            calls = tuple(i for i in node.calls if i.name in wanted)
            if not calls:
                return _prune(node.input, wanted)
            needed = wanted - {i.name for i in calls} | _read((*node.partition, *(i.expression for i in calls)))
            return replace(node, calls=calls, input=_prune(node.input, needed))
        case Generate():
            needed = wanted - {c.name for c in node.made} | references(node.generator)
            return replace(node, input=_prune(node.input, needed))
        case Expand():
            needed = _read(i.expression for p in node.projections for i in p)
            return replace(node, input=_prune(node.input, needed))
        case Distinct() | SetOp() | TopK():
            # here a row's identity, or its rank, is all of its columns
            return node.with_inputs(*(_prune(c, frozenset(c.names)) for c in node.inputs))
        case _:
            return node


def _at_least_one(scan: Scan, wanted: frozenset[str]) -> tuple[Field, ...]:
    return tuple(f for f in scan.fields if f.column.name in wanted) or scan.fields[:1]


def _exactly(node: Node, names: frozenset[str]) -> Node:
    """The node with these columns and no others."""
    if frozenset(node.names) == names:
        return node
    return Project(node, keep([c for c in node.columns if c.name in names]))


def _read(expressions: Iterable[exp.Expr]) -> frozenset[str]:
    return frozenset(name for expression in expressions for name in references(expression))

"""Where the values of columns come from, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from trickle.delta.declared.facts import Reference
from trickle.plan import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Item,
    Join,
    Node,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    TopK,
    Window,
    conjuncts,
)

Trace = tuple[Scan, tuple[str, ...]]
"""A scan, and columns of its table."""


def trace(node: Node, names: Sequence[str]) -> Trace | None:
    """The scan in one of whose rows each row of the node finds the values of these columns, all of them together."""
    match node:
        case Scan():
            sources = {f.column.name: f.source for f in node.fields}
            return (node, tuple(sources[n] for n in names)) if set(names) <= sources.keys() else None
        case Project():
            return _through(node.items, node.input, names)
        case Aggregate():
            return _through(node.keys, node.input, names)
        case Filter() | Distinct() | TopK() | Window() | Generate():
            return trace(node.input, names) if set(names) <= set(node.input.names) else None
        case SemiJoin():
            return trace(node.left, names)
        case OuterJoin() if not node.full and set(names) <= set(node.left.names):
            return trace(node.left, names)
        case Join():
            owner = next((part for part in node.parts if set(names) <= set(part.names)), None)
            return trace(owner, names) if owner is not None else None
        case _:
            return None


def _through(items: Sequence[Item], below: Node, names: Sequence[str]) -> Trace | None:
    passed = {i.name: found for i in items if (found := column_of(i.expression)) is not None}
    return trace(below, [passed[n] for n in names]) if set(names) <= passed.keys() else None


def column_of(expression: exp.Expr) -> str | None:
    """The name, if the expression is nothing but a column."""
    inner = expression.unnest()
    return inner.name if isinstance(inner, exp.Column) else None


def related(reference: Reference, on: exp.Expr, parent: Node, child: Node) -> tuple[Scan, Scan] | None:
    """The scans of the reference's tables, if the condition asks the child's columns to be the parent's whole key."""
    found: Mapping[tuple[str, str], tuple[str, str]] = dict(_pairs(reference, on, parent, child))
    wanted = list(zip(reference.key, reference.columns, strict=True))
    if not found.keys() >= set(wanted):
        return None
    up = trace(parent, [found[w][0] for w in wanted])
    down = trace(child, [found[w][1] for w in wanted])
    return None if up is None or down is None else (up[0], down[0])


def _pairs(
    reference: Reference, on: exp.Expr, parent: Node, child: Node
) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """(key column, referencing column) of the tables → the columns of parent and child that are equated for it."""
    for condition in conjuncts(on):
        if not isinstance(condition, exp.EQ | exp.NullSafeEQ):
            continue
        sides = column_of(condition.left), column_of(condition.right)
        for above, below in (sides, sides[::-1]):
            if above in parent.names and below in child.names:
                up, down = trace(parent, [str(above)]), trace(child, [str(below)])
                if up and down and (up[0].table, down[0].table) == (reference.parent, reference.child):
                    yield (up[1][0], down[1][0]), (str(above), str(below))

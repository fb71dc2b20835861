"""Where the values of a column come from."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from trickle.plan.nodes import (
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
    SetOp,
    TopK,
    UnionAll,
    Version,
    Window,
)


@dataclass(frozen=True)
class Origin:
    """A column of a table in one of its versions."""

    table: str
    version: Version
    column: str


def origins(node: Node, name: str) -> frozenset[Origin] | None:
    """Columns of scans that together hold every value of the node's column; None where it is computed or padded."""
    match node:
        case Scan():
            return _of_scan(node, name)
        case Project():
            return _of_item(node.input, node.items, name)
        case Aggregate():
            return _of_item(node.input, node.keys, name)
        case Filter() | Distinct() | TopK():
            return origins(node.input, name)
        case Window() | Generate():
            return origins(node.input, name) if name in node.input.names else None
        case SemiJoin() | SetOp():
            return origins(node.left, name)
        case OuterJoin():
            return origins(node.left, name) if not node.full and name in node.left.names else None
        case Join():
            return next((origins(part, name) for part in node.parts if name in part.names), None)
        case UnionAll():
            found = [origins(part, name) for part in node.parts]
            return None if None in found else frozenset().union(*(f for f in found if f is not None))
        case _:
            return None


def _of_scan(scan: Scan, name: str) -> frozenset[Origin] | None:
    source = next((f.source for f in scan.fields if f.column.name == name), None)
    return None if source is None else frozenset({Origin(scan.table, scan.version, source)})


def _of_item(below: Node, items: tuple[Item, ...], name: str) -> frozenset[Origin] | None:
    item = next((i for i in items if i.name == name), None)
    inner = None if item is None else item.expression.unnest()
    return origins(below, inner.name) if isinstance(inner, exp.Column) else None

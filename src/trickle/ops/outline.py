"""Plans as text for people: one line an operator."""

from __future__ import annotations

from collections.abc import Iterator

from ..plan import (
    Aggregate,
    Constant,
    Filter,
    Item,
    Join,
    Node,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    SetOp,
    TopK,
)
from ..sql.render import text


def outline(node: Node, depth: int = 0) -> Iterator[str]:
    """The plan, one operator a line, inputs indented."""
    yield "  " * depth + line(node)
    for child in node.inputs:
        yield from outline(child, depth + 1)


def line(node: Node) -> str:
    name = type(node).__name__
    match node:
        case Scan():
            return f"Scan {node.table} [{node.version.value}] ({', '.join(f.source for f in node.fields)})"
        case Filter():
            return f"Filter {text(node.condition)}"
        case Project():
            return f"Project {_items(node.items)}"
        case Aggregate():
            return f"Aggregate by ({_items(node.keys)}): {_items(node.calls)}"
        case Join() | OuterJoin() | SemiJoin():
            return f"{_kind(node)} on {text(node.on)}"
        case SetOp():
            return f"{node.kind.value}{' ALL' if node.all else ''}"
        case TopK():
            return f"TopK {node.limit} offset {node.offset}"
        case Constant():
            return f"Constant of {len(node.rows)} rows"
        case _:
            return name


def _kind(node: Join | OuterJoin | SemiJoin) -> str:
    if isinstance(node, OuterJoin):
        return "FullJoin" if node.full else "LeftJoin"
    if isinstance(node, SemiJoin):
        return "AntiJoin" if node.anti else "SemiJoin"
    return "Join"


def _items(items: tuple[Item, ...]) -> str:
    return ", ".join(f"{text(i.expression)} AS {i.name}" for i in items)

"""Plans as text for people: one line an operator, and how each follows a change."""

from __future__ import annotations

from collections.abc import Iterator

from ..delta.state import Storage
from ..plan import (
    Aggregate,
    Constant,
    Distinct,
    Expand,
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
    Window,
)
from ..sql.render import text

STRATEGIES: dict[type[Node], str] = {
    Scan: "change feed of the table",
    Constant: "never changes",
    Project: "linear: applied to the change",
    Filter: "linear: applied to the change",
    Expand: "linear: applied to the change",
    Generate: "linear: applied to the change",
    UnionAll: "linear: changes of its inputs side by side",
    Join: "one term per changed input, joined with the others' states",
    OuterJoin: "inner part, plus padding that appears or disappears",
    SemiJoin: "rows whose match appears or disappears",
    Aggregate: "affected groups rescanned",
    Distinct: "affected rows recounted",
    SetOp: "affected rows recounted on both sides",
    Window: "affected partitions recomputed",
    TopK: "recomputed before and after, and compared",
}


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


def strategies(storage: Storage) -> Iterator[tuple[str, str]]:
    """(operator, how it follows a change), topmost first."""
    stateful = storage.aggregate

    def visit(node: Node) -> Iterator[tuple[str, str]]:
        is_stored = node is stateful or (isinstance(node, Distinct) and stateful is not None)
        how = f"{storage.strategy} on stored state: {storage.reason}" if is_stored else STRATEGIES[type(node)]
        yield line(node), how
        for child in node.inputs:
            yield from visit(child)

    yield from visit(storage.plan)

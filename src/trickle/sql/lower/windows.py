"""Window functions inside expressions become columns of Window nodes, one node per PARTITION BY."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from trickle.plan import Item, Node, Window, col, type_of
from trickle.sql.lower.context import Context
from trickle.sql.lower.functions import function_name
from trickle.sql.lower.refuse import wrong


@dataclass
class Windows:
    """The window functions of one SELECT."""

    context: Context
    within: Sequence[exp.Expr] = ()
    """What every window is partitioned by, before its own PARTITION BY."""
    calls: list[Item] = field(default_factory=list)

    def take(self, expression: exp.Expr, source: Node) -> exp.Expr:
        """The expression with its window functions replaced by columns."""

        def visit(node: exp.Expr) -> exp.Expr:
            return col(self._call(node, source).name) if isinstance(node, exp.Window) else node

        return expression.transform(visit)

    def over(self, source: Node) -> Node:
        """ω over the source, for each PARTITION BY in turn."""
        by_partition: dict[tuple[exp.Expr, ...], list[Item]] = {}
        for item in self.calls:
            by_partition.setdefault(partition_of(item.expression), []).append(item)
        for partition, calls in by_partition.items():
            source = Window(source, partition, tuple(calls))
        return source

    def _call(self, node: exp.Window, source: Node) -> Item:
        if self.within:
            node = node.copy()
            node.set("partition_by", [*(e.copy() for e in self.within), *(node.args.get("partition_by") or [])])
        known = next((c for c in self.calls if c.expression == node), None)
        if known is None:
            function = node.this.this if isinstance(node.this, exp.IgnoreNulls) else node.this
            known = Item(self.context.fresh(function_name(function), type_of(node, source.columns)), node.copy())
            self.calls.append(known)
        return known


def partition_of(window: exp.Expr) -> tuple[exp.Expr, ...]:
    return tuple(window.args.get("partition_by") or ())


def expand_named(select: exp.Select, context: Context) -> exp.Select:
    """`f() OVER w` with the WINDOW clause's `w` written out; queries inside have windows of their own."""
    by_name = {w.this.name.casefold(): w for w in select.args.get("windows") or ()}
    calls = [w for w in select.find_all(exp.Window) if w.args.get("alias") and w.find_ancestor(exp.Select) is select]
    for call in calls:
        if call.args["alias"].name.casefold() not in by_name:
            raise wrong(f'window "{call.args["alias"].name}" is not defined', call, context.text)
    if not by_name:
        return select
    select = select.copy()
    for node in list(select.find_all(exp.Window)):
        named = node.args.get("alias")
        base = by_name.get(named.name.casefold()) if named is not None else None
        if base is not None and node.find_ancestor(exp.Select) is select:
            parts = {k: v for k, v in base.args.items() if k in ("partition_by", "order", "spec") and v}
            own = {k: v for k, v in node.args.items() if k in ("partition_by", "order", "spec") and v}
            node.replace(exp.Window(this=node.this.copy(), **{**_copied(parts), **_copied(own)}, over="OVER"))
    select.set("windows", None)
    return select


def _copied(parts: dict[str, object]) -> dict[str, object]:
    return {k: [e.copy() for e in v] if isinstance(v, list) else v.copy() for k, v in parts.items()}  # type: ignore[attr-defined]

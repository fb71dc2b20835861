"""Window functions inside expressions become columns of Window nodes, one node per PARTITION BY."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from trickle.plan import Column, Item, Node, Window, col, references, type_of, when
from trickle.sql.lower.context import Context
from trickle.sql.lower.functions import Volatile, Volatility, function_name, is_aggregate
from trickle.sql.lower.ordering import total_order
from trickle.sql.lower.refuse import at, unsupported, wrong


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

    def over(self, source: Node, read: Iterable[exp.Expr]) -> Node:
        """ω over the source, for each PARTITION BY in turn; `read` is what else the query reads of it.

        Rows that are the same in all that is read may change places: the others are told apart by it.
        """
        names = {n for e in (*read, *(c.expression for c in self.calls)) for n in references(e)}
        columns = [c for c in source.columns if c.name in names]
        by_partition: dict[tuple[exp.Expr, ...], list[Item]] = {}
        for item in self.calls:
            settled = Item(item.column, without_ties(item.expression, columns))
            by_partition.setdefault(partition_of(item.expression), []).append(settled)
        for partition, calls in by_partition.items():
            source = Window(source, partition, tuple(calls))
        return source

    def _call(self, node: exp.Window, source: Node) -> Item:
        if self.within:
            node = node.copy()
            node.set("partition_by", [*(e.copy() for e in self.within), *(node.args.get("partition_by") or [])])
        self._require_frame(node)
        known = next((c for c in self.calls if c.expression == node), None)
        if known is None:
            function = node.this.this if isinstance(node.this, exp.IgnoreNulls) else node.this
            if isinstance(function, _ONE_OF_PEERS) and node.args.get("order") and not _tells_peers_apart(node):
                found = Volatile(f"{function_name(function)}()", Volatility.ORDER, at(node, self.context.text))
                self.context.remember(found)
            known = Item(self.context.fresh(function_name(function), type_of(node, source.columns)), node.copy())
            self.calls.append(known)
        return known

    def _require_frame(self, node: exp.Window) -> None:
        """Spark has frames of ROWS and of RANGE, whole ones."""
        spec = node.args.get("spec")
        if spec is None:
            return
        if spec.args.get("exclude"):
            raise wrong("a window frame cannot have EXCLUDE", node, self.context.text, "Spark has no such frames.")
        if str(spec.args.get("kind")).upper() == "GROUPS":
            hint = "Spark has no such frames; write ROWS or RANGE, or count groups with dense_rank()."
            raise wrong("a window frame cannot count GROUPS", node, self.context.text, hint)


def partition_of(window: exp.Expr) -> tuple[exp.Expr, ...]:
    return tuple(window.args.get("partition_by") or ())


def without_ties(window: exp.Expr, columns: Sequence[Column]) -> exp.Expr:
    """The window with an order in which no two rows tie that its function would tell apart.

    Functions of peers (`rank`, and frames of RANGE) keep their order: in another one the peers would be others.
    """
    if not window.args.get("order") or not _tells_peers_apart(window):
        return window
    partition = {key.name for key in partition_of(window) if isinstance(key, exp.Column)}
    order = total_order(window.args["order"].expressions, [c for c in columns if c.name not in partition])
    window = window.copy()
    window.set("order", exp.Order(expressions=[o.copy() for o in order]))
    return window


def _tells_peers_apart(window: exp.Expr) -> bool:
    """Whether it matters which of two rows that tie comes first, and any order of them is right."""
    spec = window.args.get("spec")
    if spec is not None:
        return str(spec.args.get("kind")).upper() == "ROWS"
    return isinstance(window.this, exp.RowNumber | exp.Ntile | exp.Lag | exp.Lead | exp.First | exp.FirstValue) or (
        isinstance(window.this, exp.IgnoreNulls) and isinstance(window.this.this, exp.Lag | exp.Lead)
    )


def without_filters(select: exp.Select, context: Context) -> exp.Select:
    """`sum(x) FILTER (WHERE c) OVER w` as `sum(CASE WHEN c THEN x END) OVER w`, which Spark can say."""

    def visit(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Window) and isinstance(node.this, exp.Filter) and is_aggregate(node.this):
            node.set("this", _narrowed(node.this, context))
        return node

    return select.transform(visit) if select.find(exp.Filter) else select  # type: ignore[return-value]


def _narrowed(call: exp.Filter, context: Context) -> exp.Expr:
    """An aggregate that passes over NULLs, of NULLs where the condition does not hold."""
    function, condition = call.this.copy(), call.expression.this
    if isinstance(function, exp.Anonymous) and function_name(function) in _PASSED_OVER:
        place = _PASSED_OVER[function_name(function)]
        function.expressions[place].replace(when(condition, function.expressions[place]))
        return function
    if isinstance(function, _OF_NULLS) or not isinstance(function, exp.AggFunc):
        raise unsupported(f"FILTER of {function_name(function)}() over a window", call, context.text)
    counts_rows = isinstance(function, exp.Count) and isinstance(function.this, exp.Star)
    function.set("this", when(condition, exp.Literal.number(1) if counts_rows else function.this))
    return function


_PASSED_OVER = {"listagg": 0, "max_by": 1, "min_by": 1, "percentile": 0, "string_agg": 0, "try_avg": 0, "try_sum": 0}
"""The argument whose NULLs are passed over, of functions that are kept as they were written."""
_OF_NULLS = (exp.First, exp.Last, exp.FirstValue, exp.LastValue, exp.NthValue, exp.AnyValue, exp.WithinGroup)
_ONE_OF_PEERS = (exp.First, exp.Last, exp.FirstValue, exp.LastValue, exp.NthValue, exp.AnyValue, exp.ArrayAgg)
_PARTS = ("partition_by", "order", "spec")


def expand_named(select: exp.Select, context: Context) -> exp.Select:
    """`f() OVER w` with the WINDOW clause's `w` written out; queries inside have windows of their own."""
    by_name = _definitions(select, context)
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
            parts = _copied({**base, **_parts(node)})
            node.replace(exp.Window(this=node.this.copy(), **parts, over="OVER"))
    select.set("windows", None)
    return select


def _definitions(select: exp.Select, context: Context) -> dict[str, dict[str, object]]:
    """The WINDOW clause by name; `w2 AS (w ORDER BY x)` has the parts of `w`, which stands before it."""
    found: dict[str, dict[str, object]] = {}
    for window in select.args.get("windows") or ():
        base = window.args.get("alias")
        if base is not None and base.name.casefold() not in found:
            raise wrong(f'window "{base.name}" is not defined', window, context.text)
        inherited = found[base.name.casefold()] if base is not None else {}
        found[window.this.name.casefold()] = {**inherited, **_parts(window)}
    return found


def _parts(window: exp.Expr) -> dict[str, object]:
    return {k: v for k, v in window.args.items() if k in _PARTS and v}


def _copied(parts: dict[str, object]) -> dict[str, object]:
    return {k: [e.copy() for e in v] if isinstance(v, list) else v.copy() for k, v in parts.items()}  # type: ignore[attr-defined]

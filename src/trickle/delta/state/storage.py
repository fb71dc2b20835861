"""What a stream table stores: its columns, and hidden ones behind them from which the next state follows.

The query is a stack of projections and filters over its topmost aggregate (or DISTINCT), or over a top-k. All groups
are stored; a group that the filters above (HAVING) leave out has `__trickle_visible` false, and the published view
skips it. The same holds for the rows of a top-k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from trickle.delta.aggregate import as_aggregate
from trickle.delta.simplify import outer_to_inner
from trickle.delta.state.algebra import Algebra, Rescan, algebra
from trickle.delta.state.cells import Cell, counting
from trickle.plan import (
    STORED,
    Aggregate,
    Column,
    Distinct,
    Field,
    Filter,
    Item,
    Node,
    Project,
    Scan,
    TopK,
    Version,
    all_of,
    col,
    hidden,
    keep,
    substitute,
)

COUNT = hidden("count")
VISIBLE = hidden("visible")


@dataclass(frozen=True)
class Hidden:
    """A hidden column: its name, what it holds over the aggregate's columns, and why it is there."""

    column: Column
    value: exp.Expr
    purpose: str


@dataclass(frozen=True)
class Storage:
    """How the result of a query is stored and kept fresh."""

    plan: Node
    labels: tuple[str, ...]
    strategy: str
    """`algebraic`, `rescan` or `delta`."""
    reason: str
    aggregate: Aggregate | None = None
    top: TopK | None = None
    outputs: tuple[Item, ...] = ()
    """The query's columns over those of the aggregate or top-k."""
    visible: exp.Expr | None = None
    """What HAVING and filters above say, over the same columns."""
    algebras: tuple[Algebra, ...] = ()
    hidden: tuple[Hidden, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """All stored columns, the hidden ones last."""
        return (*self.plan.columns, *(h.column for h in self.hidden))

    @property
    def stored_labels(self) -> tuple[str, ...]:
        return (*self.labels, *(h.column.name for h in self.hidden))

    @property
    def key(self) -> tuple[str, ...] | None:
        """Labels of the stored columns that identify a row (NULL equals NULL); None: rows match by content."""
        if self.aggregate is None:
            return None
        by_name = dict(zip((c.name for c in self.columns), self.stored_labels, strict=True))
        return tuple(by_name[self.stored_as(key.name)] for key in self.aggregate.keys)

    @property
    def visible_label(self) -> str | None:
        """The hidden column the published view filters by."""
        return VISIBLE if any(h.column.name == VISIBLE for h in self.hidden) else None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The state of a group, each cell once."""
        found = {cell.name: cell for a in self.algebras for cell in a.cells}
        return (counting(COUNT), *found.values())

    def stored_as(self, name: str) -> str:
        """The stored column that holds a key or cell of the aggregate, or a column of the top-k."""
        for item in (*self.outputs, *(Item(h.column, h.value) for h in self.hidden)):
            if item.expression == col(name):
                return item.name
        raise KeyError(name)

    def scan(self, *more: Column) -> Scan:
        """The rows stored now; `more` are columns that are not stored but known of each row."""
        pairs = zip(self.columns, self.stored_labels, strict=True)
        fields = (*(Field(c, label) for c, label in pairs), *(Field(c, c.name) for c in more))
        return Scan(STORED, fields, Version.BEFORE)


def store(plan: Node, labels: Sequence[str], *, float_sums: bool = True, merge: bool = True) -> Storage:
    """Decide how the result of `plan` is stored. Without `merge`, groups are always rescanned."""
    plan = outer_to_inner(plan)
    node, outputs, conditions = _peel(plan)
    if isinstance(node, TopK) and not node.offset and merge:
        return _first_rows(plan, tuple(labels), node, outputs, conditions)
    if not isinstance(node, Aggregate):
        return Storage(plan, tuple(labels), "delta", "no aggregate on top: the change is computed from the sources'")
    aggregate = node
    found = [algebra(item, aggregate.input.columns, float_sums) for item in aggregate.calls]
    refused = next((a for a in found if isinstance(a, Rescan)), None)
    keys = _hidden_keys(aggregate, outputs)
    visible = all_of(conditions) if conditions else None
    if refused is not None or not merge:
        reason = refused.reason if refused else "merging is switched off"
        return Storage(plan, tuple(labels), "rescan", reason, aggregate, None, outputs, visible, (), keys)
    algebras = tuple(a for a in found if isinstance(a, Algebra))
    reason = "every aggregate can be merged with the change"
    draft = Storage(plan, tuple(labels), "algebraic", reason, aggregate, None, outputs, visible, algebras, keys)
    return replace(draft, hidden=(*keys, *_hidden_state(draft)))


def _first_rows(
    plan: Node, labels: tuple[str, ...], top: TopK, outputs: tuple[Item, ...], conditions: list[exp.Expr]
) -> Storage:
    """All columns of the first rows, because they are what ranks them."""
    shown = {item.expression.name for item in outputs if isinstance(item.expression, exp.Column)}
    columns = [
        Hidden(Column(hidden(f"rank_{n}"), c.type), col(c.name), "a column that the rows are ranked by")
        for n, c in enumerate((c for c in top.columns if c.name not in shown), start=1)
    ]
    visible = all_of(conditions) if conditions else None
    if visible is not None:
        columns.append(_visibility(visible))
    reason = "rows that came are merged with the stored ones; all are ranked again if one of those went"
    return Storage(plan, labels, "algebraic", reason, None, top, outputs, visible, (), tuple(columns))


def _visibility(visible: exp.Expr) -> Hidden:
    shown = exp.Coalesce(this=visible.copy(), expressions=[exp.false()])
    return Hidden(Column(VISIBLE, "BOOLEAN"), shown, "do HAVING and the conditions above let the row through")


def _peel(plan: Node) -> tuple[Node, tuple[Item, ...], list[exp.Expr]]:
    """The topmost operator that is more than a projection or a filter, the columns over it, the conditions between."""
    outputs, conditions = keep(plan.columns), list[exp.Expr]()
    node = plan
    while isinstance(node, Project | Filter):
        if isinstance(node, Filter):
            conditions.append(node.condition)
        else:
            inner = {item.name: item.expression for item in node.items}
            outputs = tuple(Item(i.column, substitute(i.expression, inner)) for i in outputs)
            conditions = [substitute(c, inner) for c in conditions]
        node = node.input
    if isinstance(node, Distinct):
        node = as_aggregate(node)
    return node, outputs, conditions


def _hidden_keys(aggregate: Aggregate, outputs: Sequence[Item]) -> tuple[Hidden, ...]:
    """Group keys that the query does not show."""
    shown = {item.expression.name for item in outputs if isinstance(item.expression, exp.Column)}
    missing = [key for key in aggregate.keys if key.name not in shown]
    return tuple(
        Hidden(Column(hidden(f"key_{n}"), key.column.type), col(key.name), "a group key the query does not show")
        for n, key in enumerate(missing, start=1)
    )


def _hidden_state(storage: Storage) -> list[Hidden]:
    """Cells that no output column holds, and whether HAVING lets the group through."""
    shown = {i.expression.name for i in storage.outputs if isinstance(i.expression, exp.Column)}
    numbers = {c.name: n for n, c in enumerate(storage.aggregate.calls if storage.aggregate else (), start=1)}
    columns = [
        Hidden(Column(_hidden_name(cell, numbers), cell.type), col(cell.name), "state of an aggregate")
        for cell in storage.cells
        if cell.name not in shown
    ]
    if storage.visible is not None:
        columns.append(_visibility(storage.visible))
    return columns


def _hidden_name(cell: Cell, numbers: dict[str, int]) -> str:
    """`__trickle_n_sum_5` as `__trickle_n_2`: the place of the call, not a number that shifts with the query."""
    if cell.name == COUNT:
        return COUNT
    for call, n in numbers.items():
        if cell.name == call:
            return hidden(f"value_{n}")
        if cell.name.endswith(f"_{call}"):
            return cell.name.removesuffix(call) + str(n)
    return cell.name

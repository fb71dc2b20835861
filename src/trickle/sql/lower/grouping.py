"""GROUP BY: from expressions over rows to expressions over groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from trickle.plan import Item, Node, Project, col, keep, type_of
from trickle.plan.nodes import Aggregate
from trickle.sql.lower.bind import is_subquery
from trickle.sql.lower.context import Context
from trickle.sql.lower.functions import function_name, is_aggregate
from trickle.sql.lower.grouping_sets import GroupedSets
from trickle.sql.lower.refuse import refuse_maps, wrong

_NULLS = (exp.IgnoreNulls, exp.RespectNulls)


def has_aggregate(expression: exp.Expr, context: Context) -> bool:
    """Does it aggregate rows (not counting window functions and subqueries)?"""
    if is_subquery(expression):
        return False
    if isinstance(expression, exp.Window):
        call = expression.this.this if isinstance(expression.this, _NULLS) else expression.this
        parts = [call.this] if is_aggregate(call, context.user_aggregates) else []
        others = [*(expression.args.get("partition_by") or []), expression.args.get("order")]
        inner = [p for p in (*parts, *others) if isinstance(p, exp.Expr)]
        return any(has_aggregate(p, context) for p in inner)
    if is_aggregate(expression, context.user_aggregates) or isinstance(expression, exp.Grouping | exp.GroupingId):
        return True
    return any(has_aggregate(child, context) for child in expression.iter_expressions())


@dataclass
class Grouping:
    """The keys of a GROUP BY and the aggregate calls met so far; both become columns of one Aggregate."""

    context: Context
    keys: list[Item] = field(default_factory=list)
    calls: list[Item] = field(default_factory=list)
    sets: GroupedSets | None = None

    def add_key(self, expression: exp.Expr, source: Node) -> None:
        """Group by this too; a key given twice counts once."""
        expression = expression.unnest()
        if all(key.expression != expression for key in self.keys):
            label = expression.name if isinstance(expression, exp.Column) else "key"
            type = type_of(expression, source.columns)
            refuse_maps([type], "GROUP BY", expression, self.context.text)
            self.keys.append(Item(self.context.fresh(label, type), expression))

    def over_groups(self, expression: exp.Expr, source: Node) -> exp.Expr:
        """The expression over the aggregate's output: keys and calls replaced by their columns."""

        def visit(node: exp.Expr) -> exp.Expr:
            key = next((k for k in self.keys if k.expression == node.unnest()), None)
            if key is not None:
                return col(key.name)
            if isinstance(node, exp.Grouping | exp.GroupingId):
                if self.sets is None:
                    raise wrong("GROUPING without grouping sets", node, self.context.text)
                return self.sets.grouping(node, self.context)
            if isinstance(node, exp.Window):
                return self._window(node, source)
            if is_subquery(node):
                return self._subquery(node, source)
            if is_aggregate(node, self.context.user_aggregates):
                return col(self._call(node, source).name)
            if isinstance(node, exp.Column):
                raise wrong(
                    f'column "{node.name.rpartition("_")[0]}" is neither grouped nor aggregated',
                    node,
                    self.context.text,
                    "add it to GROUP BY, or aggregate it.",
                )
            return node

        return expression.transform(visit)

    def _subquery(self, node: exp.Expr, source: Node) -> exp.Expr:
        """As written, its own aggregates too; what it is compared with ranges over groups."""
        node = node.copy()
        if isinstance(node, exp.In | exp.Binary):
            node.set("this", self.over_groups(node.this, source))
        return node

    def _window(self, node: exp.Window, source: Node) -> exp.Expr:
        """`sum(sum(x)) OVER (…)`: the outer function ranges over groups, the inner one aggregates rows."""
        node = node.copy()
        function = node.this
        for child in list(function.iter_expressions()):
            child.replace(self.over_groups(child, source))
        for child in list(node.iter_expressions()):
            if child is not function:
                child.replace(self.over_groups(child, source))
        return node

    def _call(self, node: exp.Expr, source: Node) -> Item:
        known = next((c for c in self.calls if c.expression == node), None)
        if known is None:
            call = node.this if isinstance(node, exp.Filter | exp.WithinGroup) else node
            column = self.context.fresh(function_name(call), type_of(node, source.columns))
            known = Item(column, node.copy())
            self.calls.append(known)
        return known

    def use_sets(self, sets: Sequence[Sequence[exp.Expr]], source: Node) -> None:
        """Group by each of these sets of bound keys."""
        for key in (k for keys in sets for k in keys):
            self.add_key(key, source)
        places = {key.expression: n for n, key in enumerate(self.keys)}
        inside = tuple(frozenset(places[k.unnest()] for k in keys) for keys in sets)
        self.sets = GroupedSets(tuple(self.keys), inside, self.context.fresh("set", "INT"))

    def relation(self, source: Node) -> Node:
        """γ over the source, or one per grouping set."""
        if self.sets is not None:
            return self.sets.aggregate(source, tuple(self.calls))
        return self.aggregate(source)

    def aggregate(self, source: Node) -> Aggregate:
        """γ over the source. A bare literal as key would be read as an ordinal: it is computed below."""
        literal = [k for k in self.keys if not k.expression.find(exp.Column)]
        if not literal:
            return Aggregate(source, tuple(self.keys), tuple(self.calls))
        below = Project(source, (*keep(source.columns), *literal))
        keys = tuple(Item(k.column, col(k.name)) if k in literal else k for k in self.keys)
        return Aggregate(below, keys, tuple(self.calls))


def ordinal(expression: exp.Expr, items: Sequence[exp.Expr]) -> exp.Expr | None:
    """The select item that a bare number stands for."""
    if isinstance(expression, exp.Literal) and expression.is_int:
        n = int(expression.this)
        if 1 <= n <= len(items):
            return items[n - 1]
    return None

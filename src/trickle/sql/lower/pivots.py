"""PIVOT and UNPIVOT: rows become columns, columns become rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlglot import exp

from trickle.plan import (
    Expand,
    Filter,
    Item,
    Node,
    Project,
    all_of,
    any_of,
    both,
    is_null,
    keep,
    negate,
    null,
    number,
    references,
    same,
    type_of,
    when,
)
from trickle.sql.lower.bind import bind
from trickle.sql.lower.context import Context
from trickle.sql.lower.functions import is_aggregate
from trickle.sql.lower.grouping import Grouping
from trickle.sql.lower.refuse import refuse_others, unsupported, wrong
from trickle.sql.lower.scope import Relation, Scope, Visible, visible
from trickle.sql.lower.select_list import label_of


@dataclass(frozen=True)
class Pivoted:
    """A pivoted relation: the columns kept of what it was come first."""

    plan: Node
    kept: Sequence[Visible]
    made: Sequence[str]

    @property
    def labels(self) -> tuple[str, ...]:
        return (*(c.label for c in self.kept), *self.made)


_READ = (
    "alias", "expressions", "fields", "unpivot", "columns", "include_nulls", "identify_pivot_strings",
    "prefixed_pivot_columns", "pivot_column_naming", "value_columns_first",
)  # fmt: skip


def with_pivots_behind(join: exp.Join, context: Context) -> exp.Join:
    """`t, u PIVOT (…)`: Spark pivots all that stands before the word, sqlglot the nearest relation."""
    pivots = join.this.args.get("pivots")
    if not pivots or context.dialect != "spark":
        return join
    if join.args.get("on") or join.args.get("using"):
        raise wrong("PIVOT must stand behind the condition of a join", join, context.text, "put it in parentheses.")
    join = join.copy()
    join.this.set("pivots", None)
    join.set("pivots", [*pivots, *(join.args.get("pivots") or [])])
    return join


def lower_pivots(
    pivots: Sequence[exp.Pivot], plan: Node, scope: Scope, context: Context
) -> tuple[Node, list[Relation]]:
    """All that is in sight, pivoted once or several times, and how it is seen then."""
    relations = scope.relations
    for pivot in pivots:
        pivoted = lower_pivot(pivot, plan, Scope(relations), context)
        plan, relations = pivoted.plan, _seen(pivot, pivoted, relations, context)
    return plan, relations


def _seen(pivot: exp.Pivot, pivoted: Pivoted, before: Sequence[Relation], context: Context) -> list[Relation]:
    """By the name behind it, else by that of the one relation pivoted; of several, columns keep theirs."""
    alias = pivot.args.get("alias")
    given = [c.name for c in alias.args.get("columns") or ()] if isinstance(alias, exp.TableAlias) else []
    if given and len(given) != len(pivoted.labels):
        raise wrong(f"{len(given)} column aliases for {len(pivoted.labels)} columns", pivot, context.text)
    columns = visible(tuple(given) or pivoted.labels, pivoted.plan.columns)
    if alias is not None and alias.this:
        return [Relation((alias.this.name,), columns)]
    if len(before) == 1:
        return [Relation(before[0].name, columns)]
    owners = [next((r.name for r in before if c in r.columns), ()) for c in pivoted.kept]
    owners += [()] * (len(columns) - len(owners))
    runs = groupby(zip(owners, columns, strict=True), key=lambda pair: pair[0])
    return [Relation(owner, tuple(c for _, c in run)) for owner, run in runs]


def lower_pivot(pivot: exp.Pivot, plan: Node, scope: Scope, context: Context) -> Pivoted:
    """The relations in sight, pivoted."""
    refuse_others(pivot, _READ, context.text)
    if len(pivot.args.get("fields") or ()) != 1:
        raise unsupported("a PIVOT over several lists", pivot, context.text)
    if pivot.args.get("unpivot"):
        return _unpivoted(pivot, plan, scope, context)
    return _pivoted(pivot, plan, scope, context)


def _pivoted(pivot: exp.Pivot, plan: Node, scope: Scope, context: Context) -> Pivoted:
    """Grouped by all columns that are not named; every aggregate once per value, over the rows that have it."""
    choice = pivot.args["fields"][0]
    if any(value.find(exp.Query) for value in choice.expressions) or choice.args.get("query"):
        raise unsupported("a PIVOT by values of a subquery", pivot, context.text, "Its columns would change.")
    by = [bind(e, scope, context) for e in _several(choice.this)]
    calls = [(label_of(e), bind(e.unalias(), scope, context)) for e in pivot.expressions]
    used = frozenset(n for e in (*by, *(call for _, call in calls)) for n in references(e))
    keys = [c for c in scope.star() if not references(c.value) & used]
    grouping = Grouping(context)
    for key in keys:
        grouping.add_key(key.value, plan)
    items: list[tuple[str, exp.Expr]] = []
    for value in choice.expressions:
        label, wanted = _value(value)
        if len(wanted) != len(by):
            raise wrong(f"a PIVOT by {len(by)} columns with a value of {len(wanted)}", value, context.text)
        has_it = all_of(same(column, one) for column, one in zip(by, wanted, strict=True))
        for name, call in calls:
            found = _of_those(call, has_it, grouping, plan)
            items.append((label if len(calls) == 1 else f"{label}_{name}", found))
    relation = grouping.relation(plan)
    kept = [Item(context.fresh(k.label, k.type), grouping.over_groups(k.value, plan)) for k in keys]
    made = [Item(context.fresh(label, type_of(e, relation.columns)), e) for label, e in items]
    return Pivoted(Project(relation, (*kept, *made)), keys, [label for label, _ in items])


def _of_those(call: exp.Expr, which: exp.Expr, grouping: Grouping, plan: Node) -> exp.Expr:
    """The aggregate of the rows with a value; NULL where there are none, of counts too."""

    def narrow(node: exp.Expr) -> exp.Expr:
        if is_aggregate(node):
            return exp.Filter(this=node.copy(), expression=exp.Where(this=which.copy()))
        return node

    none = both(exp.CountIf(this=which), number(0), exp.EQ)
    return grouping.over_groups(when(none, null(), call.transform(narrow)), plan)


def _value(value: exp.Expr) -> tuple[str, list[exp.Expr]]:
    """The name of the column, and the values that rows must have."""
    bare = value.this if isinstance(value, exp.PivotAlias) else value.unalias()
    wanted = _several(bare)
    names = [_shown(w) for w in wanted]
    return value.alias or (names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"), wanted


def _shown(value: exp.Expr) -> str:
    """A literal as Spark names a column after it."""
    if isinstance(value, exp.Null):
        return "null"
    return f"-{value.name}" if isinstance(value, exp.Neg) else value.name


def _unpivoted(pivot: exp.Pivot, plan: Node, scope: Scope, context: Context) -> Pivoted:
    """Each row once per listed column (or tuple of columns), with its name and value."""
    choice = pivot.args["fields"][0]
    labels = [e.name for e in _several(pivot.expressions[0])]
    turns = [_turn(e, scope, context) for e in choice.expressions]
    if any(len(values) != len(labels) for _, values in turns):
        raise wrong("the tuples of UNPIVOT differ in length", pivot, context.text)
    used = frozenset(n for _, values in turns for v in values for n in references(v))
    kept = [c for c in scope.star() if not references(c.value) & used]
    name = context.fresh(choice.this.name, "STRING")
    made = [context.fresh(label, _common([values[n] for _, values in turns], plan)) for n, label in enumerate(labels)]
    columns = [Item(context.fresh(c.label, c.type), c.value) for c in kept]
    projections = tuple(
        (*columns, Item(name, exp.Literal.string(label)), *(Item(m, v) for m, v in zip(made, values, strict=True)))
        for label, values in turns
    )
    rows: Node = Expand(plan, projections)
    if not pivot.args.get("include_nulls"):
        rows = Filter(rows, any_of(negate(is_null(exp.column(m.name, quoted=True))) for m in made))
    return Pivoted(Project(rows, keep(rows.columns)), kept, [choice.this.name, *labels])


def _turn(element: exp.Expr, scope: Scope, context: Context) -> tuple[str, list[exp.Expr]]:
    bare = element.this if isinstance(element, exp.PivotAlias) else element.unalias()
    written = _several(bare)
    return element.alias or "_".join(w.name for w in written), [bind(w, scope, context) for w in written]


def _common(values: Sequence[exp.Expr], plan: Node) -> str | None:
    types = {type_of(v, plan.columns) for v in values}
    return types.pop() if len(types) == 1 else None


def _several(expression: exp.Expr) -> list[exp.Expr]:
    bare = expression.unnest()
    return list(bare.expressions) if isinstance(bare, exp.Tuple) else [bare]

"""Whole queries: WITH, set operations, parentheses, SELECT, VALUES."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from trickle.errors import NotIncremental
from trickle.plan import Column, Distinct, Item, Node, Project, SetOp, SetOpKind, UnionAll, cast, col, keep, tables
from trickle.plan.common_types import common_type
from trickle.plan.functions import Functions
from trickle.plan.recursion import Recursion, needed
from trickle.plan.types import is_same_type
from trickle.sql.lower.bind import bind, is_subquery
from trickle.sql.lower.block import Block
from trickle.sql.lower.context import Context, Lowered, Memory, Schemas, Views
from trickle.sql.lower.domain import carried_through
from trickle.sql.lower.functions import Volatile, Volatility
from trickle.sql.lower.grouping import ordinal
from trickle.sql.lower.ordering import first_rows, limit_of, reordered, written_order
from trickle.sql.lower.parse import parse_query
from trickle.sql.lower.recursion import lower_recursive
from trickle.sql.lower.refuse import refuse_maps, refuse_others, unsupported, wrong
from trickle.sql.lower.relations import lower_values
from trickle.sql.lower.scope import Relation, Scope, visible

_ORDER = ("order", "limit", "offset")


@dataclass(frozen=True)
class Query:
    """A query as a plan."""

    plan: Node
    labels: tuple[str, ...]
    """The names of its columns, in order; they may repeat, the plan's own never do."""
    notes: tuple[str, ...] = ()
    """Warnings, e.g. of an ORDER BY that means nothing."""
    volatile: tuple[Volatile, ...] = ()
    """Functions that do not always answer the same."""
    recursions: tuple[Recursion, ...] = ()
    """What the plan reads of WITH RECURSIVE, each after those that it reads."""

    @property
    def tables(self) -> frozenset[str]:
        """The tables it reads; recursions are none."""
        read = tables(self.plan).union(*(r.sources for r in self.recursions))
        return read - {r.table for r in self.recursions}

    def require_deterministic(self) -> None:
        """Raise NotIncremental if a function's answer changes with time, chance or session."""
        for found in self.volatile:
            if found.volatility is not Volatility.ORDER:
                raise NotIncremental(
                    f"{found.function} cannot be maintained incrementally{found.where}",
                    detail=found.reason,
                    hint=f"remove {found.function}, or set refresh_mode = 'FULL'.",
                )


def lower(
    text: str,
    schemas: Schemas,
    views: Views | None = None,
    dialect: str = "spark",
    functions: Functions | None = None,
    is_builtin: Callable[[str], bool] = lambda _: True,
    most_sets: int = 64,
) -> Query:
    """The plan of a query over tables with these schemas; views are inlined.

    >>> lower("SELECT id AS n FROM t WHERE id > 1", {"t": [("id", "int")]}).labels
    ('n',)
    """
    memory = Memory()
    context = Context(schemas, views or {}, dialect, text, memory, lower_query, functions or {}, is_builtin, most_sets)
    lowered = lower_query(parse_query(text, dialect), context)
    recursions = needed(memory.recursions, tables(lowered.plan))
    notes = (*memory.notes, *(_one_of_many(v) for v in memory.volatile if v.volatility is Volatility.ORDER))
    return Query(lowered.plan, lowered.labels, notes, tuple(memory.volatile), recursions)


def _one_of_many(found: Volatile) -> str:
    return (
        f"{found.function} depends on the order of rows{found.where}: a refresh may give another of its right answers"
    )


def lower_query(tree: exp.Expr, context: Context) -> Lowered:
    """Any query; `context` holds the CTEs in sight."""
    context = _with_ctes(tree, context)
    match tree:
        case exp.Select():
            return Block(tree, context.undivided(), Scope(outer=_outer(context)), context.domain).lower()
        case exp.Subquery():
            refuse_others(tree, ("this", "with_", *_ORDER), context.text)
            return _limited(lower_query(tree.this, context), tree, context)
        case exp.Union() | exp.Intersect() | exp.Except():
            refuse_others(tree, ("this", "expression", "distinct", "by_name", "with_", *_ORDER), context.text)
            return _limited(_set_operation(tree, context), tree, context)
        case exp.Values():
            refuse_others(tree, ("expressions", *_ORDER), context.text)
            values = lower_values(tree, context)
            rows = values if context.domain is None else carried_through(values, context.domain)
            return _limited(rows, tree, context)
        case _:
            raise unsupported(type(tree).__name__.upper(), tree, context.text)


def _with_ctes(tree: exp.Expr, context: Context) -> Context:
    clause = tree.args.get("with_")
    if clause is None:
        return context
    read = lower_recursive if clause.args.get("recursive") else _lower_cte
    ctes = dict(context.ctes)
    for cte in clause.expressions:
        lowered = read(cte, context.with_ctes(ctes).undivided())
        labels = tuple(c.name for c in cte.args["alias"].args.get("columns") or ()) or lowered.labels
        if len(labels) != len(lowered.labels):
            raise wrong(f"{len(labels)} column aliases for {len(lowered.labels)} columns", cte, context.text)
        ctes[cte.alias.casefold()] = Lowered(lowered.plan, labels)
    return context.with_ctes(ctes)


def _lower_cte(cte: exp.CTE, context: Context) -> Lowered:
    return lower_query(cte.this, context)


def _set_operation(tree: exp.SetOperation, context: Context) -> Lowered:
    left, right = lower_query(tree.this, context), lower_query(tree.expression, context)
    if tree.args.get("by_name"):
        right = _by_name(left, right, tree, context)
    if len(left.labels) != len(right.labels):
        raise wrong(f"a set operation of {len(left.labels)} and {len(right.labels)} columns", tree, context.text)
    labels = (*(c.name for c in left.carried), *left.labels)
    header = tuple(
        context.fresh(label, _common(a, b, tree, context))
        for label, a, b in zip(labels, left.plan.columns, right.plan.columns, strict=True)
    )
    if not isinstance(tree, exp.Union) or tree.args.get("distinct") is not False:
        refuse_maps((c.type for c in header), type(tree).__name__.upper(), tree, context.text)
    parts = _as(left.plan, header), _as(right.plan, header)
    return Lowered(_combined(tree, *parts), left.labels, header[: len(left.carried)])


def _common(left: Column, right: Column, tree: exp.SetOperation, context: Context) -> str | None:
    found = common_type(left.type, right.type)
    if found is None and left.type is not None and right.type is not None:
        kinds = f"{left.type.upper()} and {right.type.upper()}"
        raise unsupported(
            f"{type(tree).__name__.upper()} of {kinds}", tree, context.text, hint="cast one to the type of the other."
        )
    return found


def _by_name(left: Lowered, right: Lowered, tree: exp.Expr, context: Context) -> Lowered:
    """The right side's columns in the order of the left side's names."""
    places = {label.casefold(): n for n, label in enumerate(right.labels)}
    wanted = [label.casefold() for label in left.labels]
    if len(places) != len(right.labels) or sorted(wanted) != sorted(places):
        raise wrong("BY NAME needs the same names on both sides, each once", tree, context.text)
    columns = right.plan.columns[len(right.carried) :]
    ordered = (*right.carried, *(columns[places[label]] for label in wanted))
    return Lowered(Project(right.plan, keep(ordered)), left.labels, right.carried)


def _outer(context: Context) -> Scope | None:
    return None if context.domain is None else context.domain.scope


def _combined(tree: exp.SetOperation, left: Node, right: Node) -> Node:
    everything = tree.args.get("distinct") is False
    if isinstance(tree, exp.Union):
        union = UnionAll((left, right))
        return union if everything else Distinct(union)
    kind = SetOpKind.INTERSECT if isinstance(tree, exp.Intersect) else SetOpKind.EXCEPT
    return SetOp(left, right, kind, everything)


def _as(plan: Node, header: tuple[Column, ...]) -> Node:
    """The columns under other names, and of the type they have together with the other side's.

    (Left to the engine, a type would change with the side that is left out because nothing changed there.)
    """
    return Project(plan, tuple(Item(to, _cast(column, to)) for to, column in zip(header, plan.columns, strict=True)))


def _cast(column: Column, to: Column) -> exp.Expr:
    same = to.type is None or column.type is None or is_same_type(column.type, to.type)
    return col(column.name) if same else cast(col(column.name), to.type or "")


def _limited(lowered: Lowered, tree: exp.Query | exp.Values, context: Context) -> Lowered:
    """ORDER BY … LIMIT after a set operation, VALUES or parentheses: over the output's columns."""
    limit = limit_of(tree, context)
    if limit is None:
        return lowered
    plan = lowered.plan
    columns = plan.columns[len(lowered.carried) :]
    scope = Scope([Relation((), visible(lowered.labels, columns))])
    order = [_ordered(item, scope, context) for item in written_order(tree, len(columns))]
    extra = [Item(context.fresh("order"), o.this) for o in order if not isinstance(o.this, exp.Column)]
    if not extra:
        return replace(lowered, plan=first_rows(plan, lowered.carried, order, limit, context))
    named = {item.expression: col(item.name) for item in extra}
    ranked = [reordered(o, named.get(o.this, o.this)) for o in order]
    wide = Project(plan, (*keep(plan.columns), *extra))
    best = first_rows(wide, lowered.carried, ranked, limit, context)
    return replace(lowered, plan=Project(best, keep(plan.columns)))


def _ordered(item: exp.Ordered, scope: Scope, context: Context) -> exp.Ordered:
    """What is ordered by, over the output: `t.k` is its column k, unless it has a struct of name t."""
    if any(is_subquery(part) for part in item.walk()):
        raise unsupported("a subquery in ORDER BY of a set operation", item, context.text)
    target = ordinal(item.this, [c.value for c in scope.star()])
    return reordered(item, target if target is not None else bind(item.this.transform(_bare, scope), scope, context))


def _bare(node: exp.Expr, scope: Scope) -> exp.Expr:
    if not isinstance(node, exp.Column) or not node.table or scope.find([part.name for part in node.parts]):
        return node
    return exp.Column(this=node.this.copy())

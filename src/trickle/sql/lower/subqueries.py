"""Subqueries become joins.

EXISTS, IN, = ANY    as a condition: semi join      NOT …, NOT IN, ALL: anti join, null-aware
scalar               cross join with a one-row aggregate; correlated: left join on an aggregate per key
EXISTS, IN as value  as scalars over counts, three-valued
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from trickle.plan import (
    TRUE,
    Aggregate,
    Distinct,
    Item,
    Join,
    Node,
    OuterJoin,
    Project,
    SemiJoin,
    all_of,
    any_of,
    both,
    coalesce,
    col,
    is_null,
    keep,
    negate,
    null,
    number,
    references,
    renamed,
    when,
)
from trickle.sql.lower.bind import is_subquery
from trickle.sql.lower.grouping import Grouping
from trickle.sql.lower.refuse import unsupported, wrong

if TYPE_CHECKING:
    from trickle.sql.lower.block import Block

_ZERO_OF_NOTHING = (exp.Count, exp.CountIf, exp.ApproxDistinct, exp.RegrCount)


@dataclass
class Inner:
    """A subquery's relation, the values it chooses, and the conjuncts that tie it to the query around."""

    plan: Node
    values: list[exp.Expr]
    conditions: list[exp.Expr]

    def single(self, block: Block, node: exp.Expr) -> exp.Expr:
        if len(self.values) != 1:
            raise wrong("a subquery used as a value must choose one column", node, block.context.text)
        return self.values[0]


def is_predicate(conjunct: exp.Expr) -> bool:
    """Is the whole conjunct a subquery that answers yes or no?"""
    inner = conjunct.this.unnest() if isinstance(conjunct, exp.Not) else conjunct
    return is_subquery(inner) and not isinstance(inner, exp.Subquery)


def join_predicate(block: Block, conjunct: exp.Expr) -> None:
    """⋉ or ▷ with the subquery."""
    negated = isinstance(conjunct, exp.Not)
    node = conjunct.this.unnest() if negated else conjunct
    inner = open_subquery(block, _query_of(node))
    if isinstance(node, exp.Exists):
        return _semi(block, inner, [], anti=negated)
    compared = comparison(block, node, inner)
    if isinstance(node, exp.Binary) and isinstance(node.expression, exp.All):
        fails = negate(compared)
        matching = fails if negated else any_of([fails, is_null(compared)])
        return _semi(block, inner, [matching], anti=not negated)
    # NOT IN: one NULL among the values, or beside them, and the answer is not TRUE
    matching = any_of([compared, is_null(compared)]) if negated else compared
    return _semi(block, inner, [matching], anti=negated)


def join_values(block: Block, expression: exp.Expr) -> exp.Expr:
    """The expression with its subqueries joined to the plan and replaced by columns."""

    def visit(node: exp.Expr) -> exp.Expr:
        if not is_subquery(node):
            return node
        if isinstance(node, exp.Subquery):
            return exp.Paren(this=scalar(block, node))
        return exp.Paren(this=truth(block, node))

    return expression.transform(visit)


def open_subquery(block: Block, query: exp.Expr) -> Inner:
    """The subquery, its correlated conjuncts still open where its shape allows."""
    if isinstance(query, exp.Select) and _is_plain(query):
        inner = block.inner(query)
        chosen = inner.chosen()
        if not inner.is_grouped(chosen):
            values = [join_values(inner, c.expression) for c in chosen]
            return Inner(inner.plan, values, _outward(block, inner))
    lowered = block.context.lower(query, block.context)
    return Inner(lowered.plan, [col(name) for name in lowered.plan.names], [])


def scalar(block: Block, node: exp.Subquery) -> exp.Expr:
    """The value of a one-row subquery; NULL (or 0, of a count) where no row matches."""
    query = _query_of(node)
    if isinstance(query, exp.Select) and _is_plain(query):
        inner = block.inner(query)
        chosen = inner.chosen()
        if inner.is_grouped(chosen) and not query.args.get("having"):
            found = Inner(inner.plan, [c.expression for c in chosen], _outward(block, inner))
            return per_key(block, found, found.single(block, node), node)
    found = open_subquery(block, query)
    return per_key(block, found, _at_most_one(found.single(block, node)), node)


def truth(block: Block, node: exp.Expr) -> exp.Expr:
    """EXISTS or IN as a value: TRUE, FALSE or NULL."""
    inner = open_subquery(block, _query_of(node))
    some = both(exp.Count(this=exp.Star(), big_int=True), number(0), exp.GT)
    if isinstance(node, exp.Exists):
        return per_key(block, inner, some, node)
    if not _is_in(node):
        raise unsupported("ANY or ALL under OR or inside an expression", node, block.context.text)
    value, wanted = inner.single(block, node), join_values(block, node.this)
    unknown = per_key(block, inner, exp.CountIf(this=is_null(value)), node)
    exists = per_key(block, inner, some, node, again=True)
    hit = _hit(block, inner, value, wanted)
    maybe = any_of([both(unknown, number(0), exp.GT), all_of([is_null(wanted), exp.Paren(this=exists)])])
    branches = [
        exp.If(this=negate(is_null(hit)), true=exp.true()),
        exp.If(this=maybe, true=null()),
    ]
    return exp.Case(ifs=branches, default=exp.false())


def comparison(block: Block, node: exp.Expr, inner: Inner) -> exp.Expr:
    """`x = value`, or whatever ANY and ALL compare with; row by row for tuples."""
    left = node.this.unnest() if isinstance(node.this, exp.Paren) else node.this
    wanted = left.expressions if isinstance(left, exp.Tuple) else [left]
    if len(wanted) != len(inner.values):
        raise wrong(
            f"{len(wanted)} values compared with a subquery of {len(inner.values)} columns",
            node,
            block.context.text,
        )
    operator = type(node) if isinstance(node, exp.Binary) else exp.EQ
    pairs = zip(wanted, inner.values, strict=True)
    return all_of(both(join_values(block, w), v, operator) for w, v in pairs)


def per_key(block: Block, inner: Inner, value: exp.Expr, node: exp.Expr, again: bool = False) -> exp.Expr:
    """Join an aggregate of the subquery, one row per correlation key; the value over its columns."""
    if again:
        inner, value = _renamed(block, inner, value)
    grouping = Grouping(block.context)
    keys = [_equality(block, inner, condition, node) for condition in inner.conditions]
    for mine, _ in keys:
        grouping.add_key(mine, inner.plan)
    over = grouping.over_groups(value, inner.plan)
    relation = grouping.aggregate(inner.plan)
    if not keys:
        block.plan = Join((block.plan, relation), TRUE)
        return over
    on = all_of(both(theirs, grouping.over_groups(mine, inner.plan), exp.EQ) for mine, theirs in keys)
    block.plan = OuterJoin(block.plan, relation, on)
    return _of_nothing(over, relation)


def _semi(block: Block, inner: Inner, matching: list[exp.Expr], anti: bool) -> None:
    needed = frozenset(n for e in (*inner.conditions, *matching) for n in references(e))
    outside = needed - set(inner.plan.names) - set(block.plan.names)
    if outside:
        raise unsupported("a subquery that reads two queries around it", block.select, block.context.text)
    block.plan = SemiJoin(block.plan, inner.plan, all_of([*inner.conditions, *matching]), anti)


def _hit(block: Block, inner: Inner, value: exp.Expr, wanted: exp.Expr) -> exp.Expr:
    """A column that is TRUE where the wanted value is among the subquery's, NULL elsewhere."""
    inner, value = _renamed(block, inner, value)
    keys = [_equality(block, inner, c, value) for c in inner.conditions]
    marker = Item(block.context.fresh("found", "BOOLEAN"), exp.true())
    found = Item(block.context.fresh("value"), value)
    items = [Item(block.context.fresh("key"), mine) for mine, _ in keys]
    known = Distinct(Project(inner.plan, (*items, found)))
    marked = Project(known, (*keep(known.columns), marker))
    on = [both(theirs, col(i.name), exp.EQ) for (_, theirs), i in zip(keys, items, strict=True)]
    block.plan = OuterJoin(block.plan, marked, all_of([*on, both(wanted, col(found.name), exp.EQ)]))
    return col(marker.name)


def _renamed(block: Block, inner: Inner, value: exp.Expr) -> tuple[Inner, exp.Expr]:
    """The same relation under new names, to be joined a second time."""
    names = {c.name: block.context.fresh(c.name, c.type) for c in inner.plan.columns}
    plan = Project(inner.plan, tuple(Item(new, col(old)) for old, new in names.items()))
    to = {old: new.name for old, new in names.items()}
    return Inner(plan, [renamed(v, to) for v in inner.values], [renamed(c, to) for c in inner.conditions]), renamed(
        value, to
    )


def _equality(block: Block, inner: Inner, condition: exp.Expr, node: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """`mine = theirs` of a correlated conjunct."""
    bare = condition.unnest()
    if isinstance(bare, exp.EQ):
        names, around = set(inner.plan.names), set(block.plan.names)
        for mine, theirs in ((bare.left, bare.right), (bare.right, bare.left)):
            if references(mine) <= names and references(theirs) <= around:
                return mine.unnest(), theirs.unnest()
    raise unsupported("a correlation other than equality in a subquery used as a value", node, block.context.text)


def _outward(block: Block, inner: Block) -> list[exp.Expr]:
    """Correlated conjuncts as seen from the query around, above its aggregate if it has one."""
    return [renamed(condition, block.grouped) for condition in inner.correlated]


def _of_nothing(value: exp.Expr, relation: Aggregate) -> exp.Expr:
    """What the value is for rows without a group: counts are 0, lists empty, all else NULL."""
    calls = {item.name: item.expression for item in relation.calls}

    def visit(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name in calls:
            call = calls[node.name]
            call = call.this if isinstance(call, exp.Filter) else call
            if isinstance(call, _ZERO_OF_NOTHING):
                return coalesce(node, number(0))
            if isinstance(call, exp.ArrayAgg | exp.ArrayUniqueAgg):
                return coalesce(node, exp.Array(expressions=[]))
        return node

    return value.transform(visit)


def _at_most_one(value: exp.Expr) -> exp.Expr:
    """The only value there is; an error if there are more."""
    complaint = exp.Literal.string("a scalar subquery returned more than one row")
    several = both(exp.Count(this=exp.Star(), big_int=True), number(1), exp.GT)
    error = exp.Anonymous(this="raise_error", expressions=[complaint])
    return when(several, error, exp.AnyValue(this=value.copy()))


def _is_plain(query: exp.Select) -> bool:
    """Only FROM, WHERE and a select list: nothing that a correlated conjunct could not be lifted over."""
    clauses = ("group", "having", "limit", "offset", "qualify", "with_", "windows", "distinct")
    return not any(query.args.get(clause) for clause in clauses) and not any(
        item.find(exp.Window) for item in query.expressions
    )


def _is_in(node: exp.Expr) -> bool:
    return isinstance(node, exp.In) or (isinstance(node, exp.EQ) and isinstance(node.expression, exp.Any))


def _query_of(node: exp.Expr) -> exp.Expr:
    inner = node
    if isinstance(node, exp.In):
        inner = node.args["query"]
    elif isinstance(node, exp.Exists):
        inner = node.this
    elif isinstance(node, exp.Binary):
        inner = node.expression.this
    return inner.unnest() if isinstance(inner, exp.Subquery) else inner

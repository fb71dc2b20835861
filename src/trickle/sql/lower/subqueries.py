"""Subqueries become joins.

EXISTS, IN, = ANY    as a condition: semi join      NOT …, NOT IN, ALL: anti join, null-aware
scalar               cross join with a one-row aggregate; correlated: left join on an aggregate per key
EXISTS, IN as value  as scalars over counts, three-valued
any other shape      over its domain: the rows around that it is computed for
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sqlglot import exp

from trickle.errors import QueryError
from trickle.plan import (
    TRUE,
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
    col,
    is_null,
    keep,
    negate,
    null,
    number,
    references,
    renamed,
    substitute,
    when,
)
from trickle.sql.lower.bind import is_subquery
from trickle.sql.lower.correlation import Key, equality, of_nothing, tells_apart
from trickle.sql.lower.domain import Answer, answer
from trickle.sql.lower.grouping import Grouping, has_aggregate
from trickle.sql.lower.ordering import limit_of
from trickle.sql.lower.refuse import unsupported, wrong

if TYPE_CHECKING:
    from trickle.sql.lower.block import Block

T = TypeVar("T")


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
    query = _query_of(node)
    _first_that_works(
        block,
        lambda: _join_predicate(block, node, negated, open_subquery(block, query)),
        lambda: _join_predicate(block, node, negated, open_over_domain(block, query)),
    )


def _join_predicate(block: Block, node: exp.Expr, negated: bool, inner: Inner) -> None:
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
    """The subquery, its correlated conjuncts still open where its shape allows; else over its domain."""
    if isinstance(query, exp.Select) and _is_plain(query):
        inner = block.inner(query)
        chosen = inner.chosen()
        if not inner.is_grouped(chosen):
            values = [join_values(inner, c.expression) for c in chosen]
            return Inner(inner.plan, values, _outward(block, inner))
    return _first_that_works(block, lambda: open_by_keys(block, query), lambda: open_over_domain(block, query))


def open_by_keys(block: Block, query: exp.Expr) -> Inner:
    """A subquery whose rows are found by equality, whatever it makes of them."""
    if not isinstance(query, exp.Select) or query.args.get("with_"):
        raise unsupported("a correlated subquery of this shape", query, block.context.text)
    lowered = block.inner(query).lower()
    values: list[exp.Expr] = [col(c.name) for c in lowered.plan.columns[len(lowered.carried) :]]
    return Inner(lowered.plan, values, [renamed(link, block.grouped) for link in lowered.links])


def open_over_domain(block: Block, query: exp.Expr) -> Inner:
    """A subquery of any shape, computed for the rows around it."""
    found = answer(query, block.plan, block.scope, block.context, block.grouped)
    return Inner(found.plan, list(found.values), found.conditions)


def scalar(block: Block, node: exp.Subquery) -> exp.Expr:
    """The value of a one-row subquery; NULL (or 0, of a count) where no row matches."""
    query = _query_of(node)
    return _first_that_works(block, lambda: _scalar(block, query, node), lambda: _any_scalar(block, query, node))


def _scalar(block: Block, query: exp.Expr, node: exp.Subquery) -> exp.Expr:
    """An aggregate of rows found by equality is grouped by what must be equal."""
    if not isinstance(query, exp.Select):
        raise unsupported("a correlated subquery of this shape", node, block.context.text)
    if not _is_plain(query, but=("having",)):
        return _ranked_scalar(block, query, node)
    inner = block.inner(query)
    chosen = inner.chosen()
    if not inner.is_grouped(chosen):
        found = Inner(inner.plan, [join_values(inner, c.expression) for c in chosen], _outward(block, inner))
        return per_key(block, found, _at_most_one(found.single(block, node)), node)
    found = Inner(inner.plan, [c.expression for c in chosen], _outward(block, inner))
    value, having = found.single(block, node), query.args.get("having")
    if having is not None:
        # a group that HAVING leaves out gives no row, and no row is NULL
        value = when(inner.bind_with_aliases(having.this, chosen), value)
    if any(is_subquery(part) for part in value.walk()):
        raise unsupported("a subquery within HAVING of a subquery", node, block.context.text)
    return per_key(block, found, value, node)


def _ranked_scalar(block: Block, query: exp.Select, node: exp.Subquery) -> exp.Expr:
    found = open_by_keys(block, query)
    value = found.single(block, node)
    limit = limit_of(query, block.context)
    if limit is None or limit.count > 1 or limit.ties or not found.conditions:
        return per_key(block, found, _at_most_one(value), node)
    block.plan = OuterJoin(block.plan, found.plan, all_of(found.conditions))
    return value


def _any_scalar(block: Block, query: exp.Expr, node: exp.Subquery) -> exp.Expr:
    found = open_over_domain(block, query)
    value = found.single(block, node)
    if not _is_one_row(block, query):
        return per_key(block, found, _at_most_one(value), node)
    block.plan = Join((block.plan, found.plan), all_of(found.conditions))
    return value


def truth(block: Block, node: exp.Expr) -> exp.Expr:
    """EXISTS, IN, ANY or ALL as a value: TRUE, FALSE or NULL."""
    query = _query_of(node)
    if isinstance(node, exp.Exists):
        some = both(exp.Count(this=exp.Star(), big_int=True), number(0), exp.GT)
        return _first_that_works(
            block,
            lambda: per_key(block, open_subquery(block, query), some, node),
            lambda: per_key(block, open_over_domain(block, query), some, node),
        )
    return _first_that_works(block, lambda: _is_among(block, node), lambda: _quantified(block, node))


def _is_among(block: Block, node: exp.Expr) -> exp.Expr:
    """`x IN (…)`, the values looked up."""
    if not _is_in(node) or isinstance(node.this.unnest(), exp.Tuple):
        raise unsupported("ANY or ALL under OR or inside an expression", node, block.context.text)
    inner = open_subquery(block, _query_of(node))
    some = both(exp.Count(this=exp.Star(), big_int=True), number(0), exp.GT)
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


def _quantified(block: Block, node: exp.Expr) -> exp.Expr:
    """Any comparison with the values of a subquery: for each row around, how many say yes, no and neither."""
    operand = join_values(block, node.this)
    also = references(operand)
    found = answer(_query_of(node), block.plan, block.scope, block.context, block.grouped, also)
    inner = Inner(found.plan, list(found.values), found.conditions)
    inside = node.copy()
    inside.set("this", _carried(found, operand))
    compared = comparison(block, inside, inner)
    to_all = isinstance(node, exp.Binary) and isinstance(node.expression, exp.All)
    decisive = negate(compared) if to_all else compared
    branches = [
        exp.If(this=_some(decisive), true=exp.false() if to_all else exp.true()),
        exp.If(this=_some(is_null(compared)), true=null()),
    ]
    return per_key(block, inner, exp.Case(ifs=branches, default=exp.true() if to_all else exp.false()), node)


def _some(condition: exp.Expr) -> exp.Expr:
    return both(exp.CountIf(this=condition), number(0), exp.GT)


def _carried(found: Answer, operand: exp.Expr) -> exp.Expr:
    """An expression over the rows around, over the columns that the answer carries."""
    if found.domain is None:
        return operand
    names = zip(found.domain.origins, found.carried, strict=True)
    return renamed(operand, {origin: column.name for origin, column in names})


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
    if not references(value) <= set(inner.plan.names):
        raise unsupported("a correlated subquery of this shape", node, block.context.text)
    keys = [_equality(block, inner, condition, node) for condition in inner.conditions]
    for key in keys:
        grouping.add_key(key.mine, inner.plan)
    over = grouping.over_groups(value, inner.plan)
    relation = grouping.aggregate(inner.plan)
    if not keys:
        block.plan = Join((block.plan, relation), TRUE)
        return over
    on = all_of(both(key.theirs, grouping.over_groups(key.mine, inner.plan), key.operator) for key in keys)
    block.plan = OuterJoin(block.plan, relation, on)
    nothing = {item.name: of_nothing(item, block.context.text) for item in relation.calls}
    return substitute(over, {name: value for name, value in nothing.items() if value != col(name)})


def _first_that_works(block: Block, cheap: Callable[[], T], general: Callable[[], T]) -> T:
    """The cheap way where the subquery's shape allows it, else the one for every shape.

    What reads the query around where the cheap way does not look for it seems wrong there, and is not.
    """
    plan = block.plan
    try:
        return cheap()
    except QueryError:
        block.plan = plan
        return general()


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
    if not tells_apart(Key(value, wanted, exp.EQ), inner.plan.columns, block.plan.columns):
        raise unsupported("values of another type among those of a subquery", value, block.context.text)
    found = Item(block.context.fresh("value"), value)
    items = [Item(block.context.fresh("key"), key.mine) for key in keys]
    known = Distinct(Project(inner.plan, (*items, found)))
    marked = Project(known, (*keep(known.columns), marker))
    on = [both(key.theirs, col(i.name), key.operator) for key, i in zip(keys, items, strict=True)]
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


def _equality(block: Block, inner: Inner, condition: exp.Expr, node: exp.Expr) -> Key:
    key = equality(condition, inner.plan, block.plan.columns)
    if key is None or not references(key.theirs) <= set(block.plan.names):
        raise unsupported("a correlation other than equality in a subquery used as a value", node, block.context.text)
    return key


def _outward(block: Block, inner: Block) -> list[exp.Expr]:
    """Correlated conjuncts as seen from the query around, above its aggregate if it has one."""
    return [renamed(condition, block.grouped) for condition in inner.correlated]


def _at_most_one(value: exp.Expr) -> exp.Expr:
    """The only value there is; an error if there are more."""
    complaint = exp.Literal.string("a scalar subquery returned more than one row")
    several = both(exp.Count(this=exp.Star(), big_int=True), number(1), exp.GT)
    error = exp.Anonymous(this="raise_error", expressions=[complaint])
    return when(several, error, exp.AnyValue(this=value.copy()))


def _is_plain(query: exp.Select, but: Collection[str] = ()) -> bool:
    """Only FROM, WHERE and a select list: nothing that a correlated conjunct could not be lifted over."""
    clauses = ("group", "having", "limit", "offset", "qualify", "with_", "windows", "distinct")
    return not any(query.args.get(clause) for clause in clauses if clause not in but) and not any(
        item.find(exp.Window) for item in query.expressions
    )


def _is_one_row(block: Block, query: exp.Expr) -> bool:
    """Does it answer exactly one row, whatever it reads: an aggregate of all, nothing left out?"""
    if not isinstance(query, exp.Select) or any(query.args.get(c) for c in ("group", "having", "limit", "qualify")):
        return False
    written = [item.unalias() for item in query.expressions]
    return not query.args.get("offset") and any(has_aggregate(item, block.context) for item in written)


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
    inner = inner.unnest() if isinstance(inner, exp.Subquery) else inner
    return _unlimited(inner) if isinstance(node, exp.Exists) else inner


def _unlimited(query: exp.Expr) -> exp.Expr:
    """`EXISTS (… LIMIT 1)` asks whether there is a row: no limit but 0 changes that."""
    limit = query.args.get("limit")
    if not isinstance(query, exp.Select) or not isinstance(limit, exp.Limit) or query.args.get("offset"):
        return query
    if not (isinstance(limit.expression, exp.Literal) and limit.expression.is_int and int(limit.expression.this)):
        return query
    query = query.copy()
    query.set("limit", None)
    query.set("order", None)
    return query

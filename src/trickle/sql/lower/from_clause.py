"""FROM: tables, views, CTEs, subqueries, VALUES, joins and generators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp

from trickle.plan import TRUE, Constant, Filter, Join, Node, OuterJoin, SemiJoin, all_of, both, references
from trickle.sql.lower.bind import bind, is_subquery
from trickle.sql.lower.context import Context, Lowered
from trickle.sql.lower.domain import Answer, Domain, answer
from trickle.sql.lower.generators import is_table_function, lower_generator, lower_table_function, lower_unnest
from trickle.sql.lower.join_subqueries import parted, reshapes_left
from trickle.sql.lower.pivots import lower_pivots, with_pivots_behind
from trickle.sql.lower.refuse import refuse_others, unsupported, wrong
from trickle.sql.lower.relations import lower_table, lower_values
from trickle.sql.lower.scope import Relation, Scope, Visible, visible
from trickle.sql.lower.series import as_lateral
from trickle.sql.lower.using import merge, shared

Keep = Callable[[Node, exp.Expr], Node]
"""σ of the rows joined so far by a condition with subqueries."""
_ITEM = ("this", "alias", "joins", "pivots")
_ITEMS: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Table: (*_ITEM, "db", "catalog"),
    exp.Subquery: _ITEM,
    exp.Values: (*_ITEM, "expressions"),
    exp.Unnest: (*_ITEM, "expressions", "offset"),
}
_JOIN = ("this", "on", "side", "kind", "using", "method", "pivots")


def lower_from(
    select: exp.Select, scope: Scope, context: Context, domain: Domain | None = None, keep: Keep | None = None
) -> Node:
    """The plan of the FROM clause, for each row of the domain if there is one; its relations land in the scope.

    Where a join reshapes what stands left of it, rows of the domain must not be among that.
    """
    plan = _without_views(select, scope, context, domain, keep)
    for lateral in select.args.get("laterals") or ():
        plan = lower_generator(plan, lateral, scope, context)
    return plan


def _without_views(
    select: exp.Select, scope: Scope, context: Context, domain: Domain | None, keep: Keep | None
) -> Node:
    clause = select.args.get("from_")
    if clause is None:
        nothing = Constant((context.fresh("one", "INT"),), ((exp.Literal.number(1),),))
        return nothing if domain is None else domain.plan
    refuse_others(clause, ("this",), context.text)
    joins = _joins_of(select, context)
    before, behind = (None, domain) if any(map(reshapes_left, joins)) else (domain, None)
    plan, on = _item_for(before, clause.this, scope, context)
    if before is not None:
        plan = Join((before.plan, plan), on)
    plan = _joined(plan, joins, scope, context, before, keep)
    return plan if behind is None else Join((behind.plan, plan), TRUE)


def _joins_of(item: exp.Expr, context: Context) -> list[exp.Join]:
    return [with_pivots_behind(join, context) for join in item.args.get("joins") or ()]


def _joined(
    plan: Node,
    joins: Iterable[exp.Join],
    scope: Scope,
    context: Context,
    domain: Domain | None = None,
    keep: Keep | None = None,
) -> Node:
    """The joins from left to right; a PIVOT behind one takes all that stands before it."""
    for written in joins:
        join, asked = parted(written) if keep is not None else (written, None)
        plan = lower_join(plan, join, scope, context, domain)
        if keep is not None and asked is not None:
            plan = keep(plan, asked)
        if join.args.get("pivots"):
            plan, scope.relations = lower_pivots(join.args["pivots"], plan, scope, context)
    return plan


def lower_item(item: exp.Expr, scope: Scope, context: Context) -> Node:
    """One item of the FROM clause, with the joins written inside its parentheses."""
    refuse_others(item, _ITEMS.get(type(item), _ITEM), context.text)
    if item.args.get("pivots"):
        return _pivoted(item, scope, context)
    match item:
        case exp.Table() if not isinstance(item.this, exp.Func):
            plan = _add(scope, _name_of(item), lower_table(item, context), _aliases(item), item, context)
        case exp.Subquery() if _is_relation(item.this):
            plan = _in_parentheses(item, scope, context)
        case exp.Subquery() if isinstance(item.this, exp.Query):
            lowered = context.lower(item.this, context)
            plan = _add(scope, _name_of(item), lowered, _aliases(item), item, context)
        case _ if is_table_function(item):
            plan = lower_table_function(item, scope, context)
        case exp.Values():
            plan = _add(scope, _name_of(item), lower_values(item, context), _aliases(item), item, context)
        case _:
            raise unsupported(type(item).__name__.upper(), item, context.text)
    return _joined(plan, _joins_of(item, context), scope, context)


def _is_relation(inner: exp.Expr) -> bool:
    """Do parentheses around it hold relations, not a query?"""
    if not isinstance(inner, exp.Subquery):
        return not isinstance(inner, exp.Query)
    return any(inner.args.get(part) for part in ("alias", "joins", "pivots")) or _is_relation(inner.this)


def _in_parentheses(item: exp.Subquery, scope: Scope, context: Context) -> Node:
    """`(t JOIN u ON …) [AS x]`: with a name behind it, what is inside is known by that alone."""
    inside = Scope(outer=scope.outer)
    plan = lower_item(item.this, inside, context)
    if not item.alias:
        scope.relations.extend(inside.relations)
        return plan
    columns = inside.star()
    labels = _aliases(item) or [c.label for c in columns]
    if len(labels) != len(columns):
        raise wrong(f"{len(labels)} column aliases for {len(columns)} columns", item, context.text)
    shown = tuple(Visible(label, c.value, c.type) for label, c in zip(labels, columns, strict=True))
    scope.relations.append(Relation((item.alias,), shown))
    return plan


def _item_for(domain: Domain | None, item: exp.Expr, scope: Scope, context: Context) -> tuple[Node, exp.Expr]:
    """An item of FROM, and what ties it to the domain: queries in FROM may read what is around the whole."""
    if domain is None or not _is_bare_query(item):
        return lower_item(item, scope, context), TRUE
    found = answer(item.this, domain.plan, domain.scope, context)
    _add_answer(scope, found, item, context)
    return found.plan, all_of(found.conditions)


def _is_bare_query(item: exp.Expr) -> bool:
    if not isinstance(item, exp.Subquery) or _is_relation(item.this):
        return False
    return {name for name, value in item.args.items() if value} <= {"this", "alias"}


def _add_answer(scope: Scope, found: Answer, item: exp.Expr, context: Context) -> None:
    labels = tuple(_aliases(item)) or found.labels
    if len(labels) != len(found.columns):
        raise wrong(f"{len(labels)} column aliases for {len(found.columns)} columns", item, context.text)
    name = (item.alias,) if item.alias else ()
    scope.relations.append(Relation(name, visible(labels, found.columns)))


def _pivoted(item: exp.Expr, scope: Scope, context: Context) -> Node:
    """A relation with PIVOT or UNPIVOT behind it, and the joins behind those."""
    bare = item.copy()
    pivots, joins = bare.args.pop("pivots"), _joins_of(item, context)
    bare.set("joins", None)
    inside = Scope()
    plan, relations = lower_pivots(pivots, lower_item(bare, inside, context), inside, context)
    scope.relations.extend(relations)
    return _joined(plan, joins, scope, context)


def lower_join(left: Node, join: exp.Join, scope: Scope, context: Context, domain: Domain | None = None) -> Node:
    """One JOIN after what stands left of it, the domain included."""
    refuse_others(join, _JOIN, context.text)
    side, kind, method = join.side.upper(), join.kind.upper(), join.method.upper()
    join = _replaced(join, as_lateral(join.this))
    if method not in ("", "NATURAL") or isinstance(join.this, exp.Lateral | exp.Unnest):
        return _unusual_join(left, join, scope, context)
    inner = Scope(outer=scope.outer)
    right, tie = _item_for(domain, join.this, inner, context)
    pairs = shared(join, scope, inner, context) if method or join.args.get("using") else []
    both_sides = Scope([*scope.relations, *inner.relations], scope.outer)
    on = _condition(join, both_sides, context) if join.args.get("on") else TRUE
    on = all_of([tie, *(both(a.value, b.value, exp.EQ) for a, b in pairs), on])
    if not references(on) <= {*left.names, *right.names}:
        raise unsupported("a join within a subquery on what is around it", join, context.text)
    if kind in ("SEMI", "ANTI"):
        return SemiJoin(left, right, on, anti=kind == "ANTI")
    merge(scope, inner, pairs, side)
    if side == "FULL":
        return OuterJoin(left, right, on, full=True)
    if side == "LEFT":
        return OuterJoin(left, right, on)
    if side == "RIGHT":
        return OuterJoin(right, left, on)
    return Join((left, right), on)


def _replaced(join: exp.Join, item: exp.Expr) -> exp.Join:
    if item is join.this:
        return join
    join = join.copy()
    join.set("this", item)
    return join


def _unusual_join(left: Node, join: exp.Join, scope: Scope, context: Context) -> Node:
    item = join.this
    if isinstance(item, exp.Lateral) and isinstance(item.this, exp.Subquery):
        return _lateral(left, join, scope, context)
    on = join.args.get("on")
    if on is not None and on != exp.true() and not join.side and not join.method:
        bare = join.copy()
        bare.set("on", None)
        return Filter(_unusual_join(left, bare, scope, context), _condition(join, scope, context))
    if join.method or join.side not in ("", "LEFT") or (on or exp.true()) != exp.true():
        raise unsupported(f"{join.method or 'LATERAL'} JOIN with a condition".upper(), join, context.text)
    if isinstance(item, exp.Lateral) and (join.side == "LEFT" or isinstance(item.this, exp.Unnest)):
        item = item.copy()
        item.set("outer", join.side == "LEFT")
    if isinstance(item, exp.Lateral):
        return lower_generator(left, item, scope, context)
    if isinstance(item, exp.Unnest) and not join.side:
        return lower_unnest(left, item, scope, context)
    raise unsupported(f"{join.method or 'LATERAL'} JOIN".upper(), join, context.text)


def _lateral(left: Node, join: exp.Join, scope: Scope, context: Context) -> Node:
    """`FROM t, LATERAL (SELECT … t.x …) AS s`, also behind LEFT JOIN."""
    item = join.this
    side, kind = join.side.upper(), join.kind.upper()
    if side not in ("", "LEFT") or kind in ("SEMI", "ANTI") or join.args.get("using"):
        raise unsupported(f"{side or kind} JOIN LATERAL", join, context.text)
    found = answer(item.this.unnest(), left, scope, context)
    _add_answer(scope, found, item, context)
    condition = _condition(join, scope, context) if join.args.get("on") else TRUE
    on = all_of([*found.conditions, condition])
    return OuterJoin(left, found.plan, on) if side == "LEFT" else Join((left, found.plan), on)


def _condition(join: exp.Join, scope: Scope, context: Context) -> exp.Expr:
    written = join.args["on"]
    if any(is_subquery(node) for node in written.walk()):
        raise unsupported("a subquery in ON", written, context.text)
    return bind(written, scope, context)


def _add(
    scope: Scope,
    name: tuple[str, ...],
    lowered: Lowered,
    aliases: Sequence[str],
    item: exp.Expr,
    context: Context,
) -> Node:
    if aliases and len(aliases) != len(lowered.labels):
        raise wrong(f"{len(aliases)} column aliases for {len(lowered.labels)} columns", item, context.text)
    labels = tuple(aliases) or lowered.labels
    scope.relations.append(Relation(name, visible(labels, lowered.plan.columns)))
    return lowered.plan


def _name_of(item: exp.Expr) -> tuple[str, ...]:
    if item.alias:
        return (item.alias,)
    return tuple(part.name for part in item.parts) if isinstance(item, exp.Table) else ()


def _aliases(item: exp.Expr) -> list[str]:
    alias = item.args.get("alias")
    return [c.name for c in (alias.args.get("columns") or [])] if isinstance(alias, exp.TableAlias) else []

"""FROM: tables, views, CTEs, subqueries, VALUES, joins and generators."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from trickle.errors import CycleDetected, NotFound
from trickle.plan import (
    TRUE,
    Constant,
    Field,
    Filter,
    Join,
    Node,
    OuterJoin,
    Scan,
    SemiJoin,
    all_of,
    both,
    coalesce,
    references,
)
from trickle.sql.lower.bind import bind, is_subquery
from trickle.sql.lower.context import Context, Lowered
from trickle.sql.lower.domain import Answer, Domain, answer
from trickle.sql.lower.generators import is_table_function, lower_generator, lower_table_function, lower_unnest
from trickle.sql.lower.parse import parse_query
from trickle.sql.lower.pivots import lower_pivot
from trickle.sql.lower.refuse import at, unsupported, wrong
from trickle.sql.lower.scope import Relation, Scope, Visible, visible
from trickle.sql.lower.series import as_lateral

_UNSUPPORTED = {"sample": "TABLESAMPLE", "when": "AS OF", "version": "AS OF"}


def lower_from(select: exp.Select, scope: Scope, context: Context, domain: Domain | None = None) -> Node:
    """The plan of the FROM clause, for each row of the domain if there is one; its relations land in the scope."""
    clause, joins = select.args.get("from_"), select.args.get("joins") or ()
    if clause is None:
        nothing = Constant((context.fresh("one", "INT"),), ((exp.Literal.number(1),),))
        return nothing if domain is None else domain.plan
    pads_left = any(join.side.upper() in ("RIGHT", "FULL") for join in joins)
    before, behind = (None, domain) if pads_left else (domain, None)
    plan, on = _item_for(before, clause.this, scope, context)
    if before is not None:
        plan = Join((before.plan, plan), on)
    for join in joins:
        plan = lower_join(plan, join, scope, context, before)
    if behind is not None:
        plan = Join((behind.plan, plan), TRUE)
    for lateral in select.args.get("laterals") or ():
        plan = lower_generator(plan, lateral, scope, context)
    return plan


def lower_item(item: exp.Expr, scope: Scope, context: Context) -> Node:
    """One item of the FROM clause, with the joins written inside its parentheses."""
    for clause, name in _UNSUPPORTED.items():
        if item.args.get(clause):
            raise unsupported(name, item, context.text)
    if item.args.get("pivots"):
        return _pivoted(item, scope, context)
    match item:
        case exp.Table() if not isinstance(item.this, exp.Func):
            plan = _add(scope, _name_of(item), lower_table(item, context), _aliases(item), item, context)
        case exp.Subquery() if isinstance(item.this, exp.Query):
            lowered = context.lower(item.this, context)
            plan = _add(scope, _name_of(item), lowered, _aliases(item), item, context)
        case exp.Subquery() if isinstance(item.this, exp.Table):
            plan = lower_item(item.this, scope, context)
        case _ if is_table_function(item):
            plan = lower_table_function(item, scope, context)
        case exp.Values():
            plan = _add(scope, _name_of(item), lower_values(item, context), _aliases(item), item, context)
        case _:
            raise unsupported(type(item).__name__.upper(), item, context.text)
    for join in item.args.get("joins") or ():
        plan = lower_join(plan, join, scope, context)
    return plan


def _item_for(domain: Domain | None, item: exp.Expr, scope: Scope, context: Context) -> tuple[Node, exp.Expr]:
    """An item of FROM, and what ties it to the domain: queries in FROM may read what is around the whole."""
    if domain is None or not _is_bare_query(item):
        return lower_item(item, scope, context), TRUE
    found = answer(item.this, domain.plan, domain.scope, context)
    _add_answer(scope, found, item, context)
    return found.plan, all_of(found.conditions)


def _is_bare_query(item: exp.Expr) -> bool:
    clauses = ("joins", "pivots", *_UNSUPPORTED)
    is_query = isinstance(item, exp.Subquery) and isinstance(item.this, exp.Query)
    return is_query and not any(item.args.get(clause) for clause in clauses)


def _add_answer(scope: Scope, found: Answer, item: exp.Expr, context: Context) -> None:
    labels = tuple(_aliases(item)) or found.labels
    if len(labels) != len(found.columns):
        raise wrong(f"{len(labels)} column aliases for {len(found.columns)} columns", item, context.text)
    name = (item.alias,) if item.alias else ()
    scope.relations.append(Relation(name, visible(labels, found.columns)))


def _pivoted(item: exp.Expr, scope: Scope, context: Context) -> Node:
    """A relation with PIVOT or UNPIVOT behind it, and the joins behind those."""
    bare = item.copy()
    pivots, joins = bare.args.pop("pivots"), bare.args.pop("joins", None) or ()
    inside = Scope()
    plan, shown = lower_item(bare, inside, context), _name_of(item)
    for pivot in pivots:
        lowered = lower_pivot(pivot, plan, inside, context)
        alias = pivot.args.get("alias")
        shown = (alias.this.name,) if alias is not None and alias.this else shown
        labels = tuple(_aliases(pivot)) or lowered.labels
        plan, inside = lowered.plan, Scope([Relation(shown, visible(labels, lowered.plan.columns))])
    scope.relations.extend(inside.relations)
    for join in joins:
        plan = lower_join(plan, join, scope, context)
    return plan


def lower_table(item: exp.Table, context: Context) -> Lowered:
    """A CTE, a view or a table, in this order."""
    name = ".".join(part.name for part in item.parts)
    folded = name.casefold()
    if folded in context.ctes:
        return context.another(context.ctes[folded])
    view = next((v for v in context.view_texts if v.casefold() == folded), None)
    if view is not None:
        return context.another(_view(view, item, context))
    table = next((t for t in context.schemas if t.casefold() == folded), None)
    if table is None:
        raise NotFound(f'table "{name}" does not exist{at(item, context.text)}')
    fields = tuple(Field(context.fresh(label, type), label) for label, type in context.schemas[table])
    return Lowered(Scan(table, fields), tuple(f.source for f in fields))


def lower_values(item: exp.Values, context: Context) -> Lowered:
    rows = [tuple(row.expressions) if isinstance(row, exp.Tuple) else (row,) for row in item.expressions]
    empty_scope = Scope()
    bound = tuple(tuple(bind(v, empty_scope, context) for v in row) for row in rows)
    if len({len(row) for row in bound}) != 1:
        raise wrong("rows of VALUES differ in length", item, context.text)
    header = tuple(context.fresh(f"col{n}") for n in range(1, len(bound[0]) + 1))
    return Lowered(Constant(header, bound), tuple(f"col{n}" for n in range(1, len(header) + 1)))


def lower_join(left: Node, join: exp.Join, scope: Scope, context: Context, domain: Domain | None = None) -> Node:
    """One JOIN after what stands left of it, the domain included."""
    side, kind, method = join.side.upper(), join.kind.upper(), join.method.upper()
    join = _replaced(join, as_lateral(join.this))
    if method not in ("", "NATURAL") or isinstance(join.this, exp.Lateral | exp.Unnest):
        return _unusual_join(left, join, scope, context)
    inner = Scope(outer=scope.outer)
    right, tie = _item_for(domain, join.this, inner, context)
    pairs = _shared(join, scope, inner, context) if method or join.args.get("using") else []
    both_sides = Scope([*scope.relations, *inner.relations], [*scope.merged, *inner.merged], scope.outer)
    on = _condition(join, both_sides, context) if join.args.get("on") else TRUE
    on = all_of([tie, *(both(a.value, b.value, exp.EQ) for a, b in pairs), on])
    if not references(on) <= {*left.names, *right.names}:
        raise unsupported("a join within a subquery on what is around it", join, context.text)
    if kind in ("SEMI", "ANTI"):
        return SemiJoin(left, right, on, anti=kind == "ANTI")
    _merge(scope, inner, pairs, side)
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


def _view(name: str, item: exp.Table, context: Context) -> Lowered:
    memory = context.memory
    if name in memory.opening:
        path = " -> ".join([*memory.opening, name])
        raise CycleDetected(f'view "{name}" is defined in terms of itself', detail=path)
    if name not in memory.views:
        memory.opening.append(name)
        text = context.view_texts[name]
        inside = context.reading(text)
        memory.views[name] = context.lower(parse_query(text, inside.dialect), inside)
        memory.opening.pop()
    return memory.views[name]


def _condition(join: exp.Join, scope: Scope, context: Context) -> exp.Expr:
    written = join.args["on"]
    if any(is_subquery(node) for node in written.walk()):
        raise unsupported("a subquery in ON", written, context.text)
    return bind(written, scope, context)


def _shared(join: exp.Join, left: Scope, right: Scope, context: Context) -> list[tuple[Visible, Visible]]:
    """The pairs of columns that USING or NATURAL makes equal."""
    if join.args.get("using"):
        labels = [identifier.name for identifier in join.args["using"]]
    else:
        theirs = {c.label.casefold() for c in right.star()}
        labels = [c.label for c in left.star() if c.label.casefold() in theirs]
    return [(_only(label, left, join, context), _only(label, right, join, context)) for label in labels]


def _only(label: str, scope: Scope, join: exp.Join, context: Context) -> Visible:
    found = [c for c in scope.star() if c.label.casefold() == label.casefold()]
    if len(found) != 1:
        raise wrong(f'column "{label}" of USING must stand once on each side', join, context.text)
    return found[0]


def _merge(scope: Scope, right: Scope, pairs: Sequence[tuple[Visible, Visible]], side: str) -> None:
    """Bring the right side's relations into sight; shared columns are seen once."""
    labels = frozenset(a.label.casefold() for a, _ in pairs)
    merged = [_merged(a, b, side) for a, b in pairs]
    others = [c for c in (*scope.merged, *right.merged) if c.label.casefold() not in labels]
    scope.merged = merged + others
    scope.relations = [Relation(r.name, r.columns, r.merged | labels) for r in (*scope.relations, *right.relations)]


def _merged(left: Visible, right: Visible, side: str) -> Visible:
    if side == "FULL":
        return Visible(left.label, coalesce(left.value, right.value), left.type)
    return Visible(left.label, (right if side == "RIGHT" else left).value, left.type)


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

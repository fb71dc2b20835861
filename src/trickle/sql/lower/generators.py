"""Generators: rows that functions make of values (explode and its kin, unnest, series)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from trickle.plan import Column, Constant, Generate, Item, Node, Project, both, col, keep, number
from trickle.sql.lower.bind import bind
from trickle.sql.lower.context import Context
from trickle.sql.lower.functions import function_name, is_aggregate
from trickle.sql.lower.generated import made_by
from trickle.sql.lower.refuse import unsupported
from trickle.sql.lower.scope import Relation, Scope, visible
from trickle.sql.lower.series import constant, exploded, is_series, is_written_out, series_name

_OUTER: dict[str, type[exp.Expr]] = {
    "explode_outer": exp.Explode,
    "posexplode_outer": exp.Posexplode,
    "inline_outer": exp.Inline,
}
_HIDDEN = "__generated_"
"""Views of generators in the select list: no star shows them, no name but their own finds them."""
_NAMED = ("explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer", "stack", "json_tuple")


@dataclass(frozen=True)
class Call:
    """A generator, the names of what it makes, and whether it keeps rows that make nothing."""

    function: exp.Expr
    labels: tuple[str, ...]
    outer: bool = False
    counted: bool = False
    """WITH ORDINALITY: the place, counted from 1, stands last."""


def is_generator(expression: exp.Expr) -> bool:
    """Does the function make rows?"""
    return isinstance(expression, exp.Func) and function_name(expression) in _NAMED


def with_views(select: exp.Select) -> exp.Select:
    """`SELECT explode(list) AS x` with the generator as a LATERAL VIEW; grouped queries stay as they are."""
    made = [n for n, item in enumerate(select.expressions) if is_generator(_bare(item))]
    grouped = select.args.get("group") or select.args.get("having")
    if not made or grouped or any(_aggregates(select.expressions[n]) for n in made):
        return select
    select = select.copy()
    items: list[exp.Expr] = []
    for n, item in enumerate(select.expressions):
        if n not in made:
            items.append(item)
            continue
        names, view = _given(item), exp.to_identifier(f"{_HIDDEN}{n}")
        alias = exp.TableAlias(this=view, columns=[exp.to_identifier(name) for name in names])
        select.append("laterals", exp.Lateral(this=_bare(item).copy(), view=True, alias=alias))
        items += [exp.alias_(exp.column(name, view.name, quoted=True), name, quoted=True) for name in names]
        items += [] if names else [exp.Column(this=exp.Star(), table=view.copy())]
    select.set("expressions", items)
    return select


def _aggregates(item: exp.Expr) -> bool:
    return any(is_aggregate(part) and part.find_ancestor(exp.Window) is None for part in item.walk())


def _bare(item: exp.Expr) -> exp.Expr:
    return item.this if isinstance(item, exp.Alias | exp.Aliases) else item


def _given(item: exp.Expr) -> list[str]:
    if isinstance(item, exp.Aliases):
        return [name.name for name in item.expressions]
    return [item.alias] if isinstance(item, exp.Alias) else []


def lower_generator(plan: Node, lateral: exp.Expr, scope: Scope, context: Context) -> Node:
    """LATERAL [VIEW [OUTER]] generator(…) alias AS columns."""
    if not isinstance(lateral, exp.Lateral):
        raise unsupported("LATERAL", lateral, context.text)
    alias = lateral.args.get("alias")
    call = _call(lateral.this, _columns(alias), bool(lateral.args.get("outer")), lateral, context)
    if lateral.args.get("ordinality") and isinstance(call.function, exp.Explode):
        labels = (call.labels[0], call.labels[1] if len(call.labels) > 1 else "ordinality")
        call = Call(exp.Posexplode(this=call.function.this), labels, call.outer, counted=True)
    return _generated(plan, call, _name(alias), scope, context)


def lower_unnest(plan: Node, item: exp.Unnest, scope: Scope, context: Context) -> Node:
    """`FROM t, unnest(t.list) [WITH ORDINALITY] AS u(x)`"""
    alias = item.args.get("alias")
    return _generated(plan, _call(item, _columns(alias), False, item, context), _name(alias), scope, context)


def is_table_function(item: exp.Expr) -> bool:
    return isinstance(item, exp.Unnest) or (isinstance(item, exp.Table) and isinstance(item.this, exp.Func))


def lower_table_function(item: exp.Expr, scope: Scope, context: Context) -> Node:
    """A function that stands in FROM as a table: a range of numbers, or a generator of constants."""
    alias = item.args.get("alias")
    labels, name = _columns(alias), _name(alias)
    if is_series(item.this) and is_written_out(item.this):
        label = labels[0] if labels else series_name(name, context)
        plan = constant(item.this, label, context)
        scope.relations.append(Relation(name, visible([label], plan.columns)))
        return plan
    one = Constant((context.fresh("one", "INT"),), ((exp.Literal.number(1),),))
    written = item if isinstance(item, exp.Unnest) else item.this
    return _generated(one, _call(written, labels, False, item, context), name, scope, context)


def _call(written: exp.Expr, labels: Sequence[str], outer: bool, node: exp.Expr, context: Context) -> Call:
    if isinstance(written, exp.Unnest):
        if len(written.expressions) != 1:
            raise unsupported("UNNEST of several lists", node, context.text)
        counted = written.args.get("offset")
        names = [*labels] or ["col"]
        if counted:
            names = [*names[:1], counted.name if isinstance(counted, exp.Identifier) else "ordinality"]
        function = (exp.Posexplode if counted else exp.Explode)(this=written.expressions[0].copy())
        return Call(function, tuple(names), outer, bool(counted))
    if is_series(written):
        shown = tuple(labels) or (series_name(_name(node.args.get("alias")), context),)
        return Call(exploded(written, context), shown, outer)
    if not is_generator(written):
        named = f"{function_name(written)}() in FROM" if isinstance(written, exp.Func) else "LATERAL"
        raise unsupported(named, node, context.text)
    name = function_name(written)
    if name in _OUTER:
        operand = written.this if isinstance(written.this, exp.Expr) else written.expressions[0]
        written, outer = _OUTER[name](this=operand.copy()), True
    return Call(written, tuple(labels), outer)


def _generated(plan: Node, call: Call, name: tuple[str, ...], scope: Scope, context: Context) -> Node:
    function = bind(call.function, scope, context)
    if not call.counted:
        labels, made = _made(call, function, plan, context)
        hidden = frozenset(label.casefold() for label in labels if name and name[0].startswith(_HIDDEN))
        scope.relations.append(Relation(name, visible(labels, made), hidden))
        return Generate(plan, function, made, call.outer)
    value, place = context.fresh(call.labels[0]), context.fresh(call.labels[1], "INT")
    from_zero = context.fresh("pos", "INT")
    rows = Generate(plan, function, (from_zero, value), call.outer)
    scope.relations.append(Relation(name, visible(call.labels, (value, place))))
    counted = Item(place, both(col(from_zero.name), number(1), exp.Add))
    return Project(rows, (*keep(plan.columns), *keep([value]), counted))


def _made(call: Call, function: exp.Expr, plan: Node, context: Context) -> tuple[tuple[str, ...], tuple[Column, ...]]:
    """The names of what is made, as given or as Spark gives them, and the columns."""
    known = made_by(function, plan.columns)
    if known is None and not call.labels:
        named = f"{function_name(function)}() without names for its columns"
        raise unsupported(named, call.function, context.text, hint="write … AS (a, b).")
    labels = call.labels or tuple(label for label, _ in known or ())
    types = [type for _, type in known or ()]
    if len(types) != len(labels):
        types = [None] * len(labels)
    return labels, tuple(context.fresh(label, type) for label, type in zip(labels, types, strict=True))


def _columns(alias: exp.Expr | None) -> list[str]:
    return [c.name for c in (alias.args.get("columns") or [])] if alias is not None else []


def _name(alias: exp.Expr | None) -> tuple[str, ...]:
    return (alias.this.name,) if alias is not None and alias.this else ()

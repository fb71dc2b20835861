"""Generators: rows that functions make of values (explode and its kin, unnest, range, generate_series)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from trickle.plan import Constant, Generate, Item, Node, Project, both, col, keep, number
from trickle.sql.lower.bind import bind
from trickle.sql.lower.context import Context
from trickle.sql.lower.functions import function_name
from trickle.sql.lower.refuse import unsupported, wrong
from trickle.sql.lower.scope import Relation, Scope, visible

MOST_NUMBERS = 10_000
"""Rows of a range or series, which become part of the plan."""
_OUTER: dict[str, type[exp.Expr]] = {
    "explode_outer": exp.Explode,
    "posexplode_outer": exp.Posexplode,
    "inline_outer": exp.Inline,
}
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
    if not made or select.args.get("group") or select.args.get("having"):
        return select
    select = select.copy()
    items: list[exp.Expr] = []
    for n, item in enumerate(select.expressions):
        if n not in made:
            items.append(item)
            continue
        names = _given(item) or _spark_names(_bare(item))
        view = exp.to_identifier(f"__generated_{n}")
        alias = exp.TableAlias(this=view, columns=[exp.to_identifier(name) for name in names])
        select.append("laterals", exp.Lateral(this=_bare(item).copy(), view=True, alias=alias))
        items += [exp.column(name, view.name, quoted=True) for name in names]
    select.set("expressions", items)
    return select


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
    numbers = None if isinstance(item, exp.Unnest) else _numbers(item.this, context)
    if numbers is not None:
        label = labels[0] if labels else _series_name(name, context)
        column = context.fresh(label, "BIGINT")
        plan = Constant((column,), tuple((exp.cast(number(n), "BIGINT"),) for n in numbers))
        scope.relations.append(Relation(name, visible([label], [column])))
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
    if not is_generator(written):
        named = f"{function_name(written)}() in FROM" if isinstance(written, exp.Func) else "LATERAL"
        raise unsupported(named, node, context.text)
    name = function_name(written)
    if name in _OUTER:
        operand = written.this if isinstance(written.this, exp.Expr) else written.expressions[0]
        written, outer = _OUTER[name](this=operand.copy()), True
    made = tuple(labels) or _spark_names(written)
    if not made:
        raise wrong(f"{name}() needs names for its columns", node, context.text, "write … AS (a, b).")
    return Call(written, made, outer)


def _generated(plan: Node, call: Call, name: tuple[str, ...], scope: Scope, context: Context) -> Node:
    function = bind(call.function, scope, context)
    if not call.counted:
        made = tuple(context.fresh(label) for label in call.labels)
        scope.relations.append(Relation(name, visible(call.labels, made)))
        return Generate(plan, function, made, call.outer)
    value, place = context.fresh(call.labels[0]), context.fresh(call.labels[1], "INT")
    from_zero = context.fresh("pos", "INT")
    rows = Generate(plan, function, (from_zero, value), call.outer)
    scope.relations.append(Relation(name, visible(call.labels, (value, place))))
    counted = Item(place, both(col(from_zero.name), number(1), exp.Add))
    return Project(rows, (*keep(plan.columns), *keep([value]), counted))


def _spark_names(call: exp.Expr) -> tuple[str, ...]:
    """The names that Spark gives; none where they depend on types."""
    name = function_name(call)
    if name.startswith("posexplode"):
        return ("pos", "col")
    if name.startswith("explode"):
        return ("key", "value") if isinstance(call.this, exp.Map | exp.VarMap) else ("col",)
    if name == "json_tuple":
        return tuple(f"c{n}" for n in range(len(call.expressions) - 1))
    if name == "stack":
        rows, values = int(call.this.name), len(call.expressions)
        return tuple(f"col{n}" for n in range(-(-values // rows)))
    return ()


def _numbers(call: exp.Expr, context: Context) -> range | None:
    """The numbers of `range(…)` (its end left out) or `generate_series(…)` (its end included)."""
    if isinstance(call, exp.GenerateSeries):
        bounds = [call.args.get("start"), call.args.get("end"), call.args.get("step")]
        found, beyond = [_whole(b, call, context) for b in bounds if b is not None], 1
    elif function_name(call) == "range":
        found, beyond = [_whole(b, call, context) for b in call.expressions], 0
        found = [0, *found] if len(found) == 1 else found
    else:
        return None
    start, end, step = (*found, 1) if len(found) == 2 else found[:3]
    if step == 0:
        raise wrong("a series of steps of 0 does not end", call, context.text)
    numbers = range(start, end + (beyond if step > 0 else -beyond), step)
    if len(numbers) > MOST_NUMBERS:
        raise unsupported(f"a series of more than {MOST_NUMBERS} numbers", call, context.text)
    return numbers


def _series_name(name: tuple[str, ...], context: Context) -> str:
    """PostgreSQL names the column after the relation, Spark's is called id."""
    if context.dialect != "postgres":
        return "id"
    return name[0] if name else "generate_series"


def _whole(value: exp.Expr, call: exp.Expr, context: Context) -> int:
    sign, bare = (-1, value.this) if isinstance(value, exp.Neg) else (1, value)
    if isinstance(bare, exp.Literal) and bare.is_int:
        return sign * int(bare.this)
    raise unsupported("a series whose bounds are not whole numbers", call, context.text)


def _columns(alias: exp.Expr | None) -> list[str]:
    return [c.name for c in (alias.args.get("columns") or [])] if alias is not None else []


def _name(alias: exp.Expr | None) -> tuple[str, ...]:
    return (alias.this.name,) if alias is not None and alias.this else ()

"""From written expressions to expressions over the columns of a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from sqlglot import exp

from trickle.errors import QueryError
from trickle.plan import grouped, references
from trickle.sql.lower.calls import refuse_timed, refuse_unknown, user_call
from trickle.sql.lower.context import Context
from trickle.sql.lower.functions import Volatile, by_one_name, function_name, volatility
from trickle.sql.lower.postgres_types import as_postgres_means
from trickle.sql.lower.refuse import at, unsupported, wrong
from trickle.sql.lower.scope import Scope
from trickle.sql.lower.stars import columns_of_star, is_of_relation, is_star

Aliases = Mapping[str, exp.Expr]
"""Bound expressions of the select list, by the name given with AS."""


def bind(expression: exp.Expr, scope: Scope, context: Context, aliases: Aliases | None = None) -> exp.Expr:
    """The expression over plan columns. Subqueries stay as written: whoever owns the plan joins them in."""
    names = aliases or {}

    def visit(node: exp.Expr) -> exp.Expr:
        if is_subquery(node):
            return bind_operands(node, scope, context, names)
        if isinstance(node, exp.StarMap):
            raise unsupported("map(*)", node, context.text)
        if isinstance(node, exp.Column):
            return resolve(node, scope, context, names)
        if isinstance(node, exp.Func) and _has_star(node):
            return _listed(node, scope, context, names)
        call = user_call(node, context)
        if call is not None:
            return bind(call, scope, context, names)
        if isinstance(node, exp.Anonymous):
            refuse_unknown(node, context)
            refuse_timed(node, context)
            known = by_one_name(node)
            if known is not node:
                return bind(known, scope, context, aliases)
        if isinstance(node, exp.Func):
            note_volatility(node, context)
        return node

    bound = expression.transform(visit)
    if context.dialect == "postgres":
        parts = [node for node in bound.walk(prune=is_subquery) if not is_subquery(node)]
        return as_postgres_means(bound, parts, scope, context)
    return bound


def _has_star(call: exp.Expr) -> bool:
    """Is a star among the arguments, which `count(*)` alone has no need to read?"""
    if isinstance(call, exp.Count) and isinstance(call.this, exp.Star) and not call.expressions:
        return False
    return any(is_star(argument) for argument in _arguments(call))


def _arguments(call: exp.Expr) -> list[exp.Expr]:
    inner = call.this if isinstance(call.this, exp.Distinct) else call
    first = [inner.this] if isinstance(inner.this, exp.Expr) else []
    return [*first, *inner.expressions]


def _listed(call: exp.Func, scope: Scope, context: Context, aliases: Aliases) -> exp.Expr:
    """`hash(*)`, `struct(t.*)`: every column as an argument of its own."""
    written = _arguments(call)
    if isinstance(call, exp.Count) and len(written) == 1 and is_of_relation(written[0], scope):
        raise wrong(f"{call.sql('spark')} is not allowed", call, context.text, "use count(*), or list the columns.")
    bound = [value for argument in written for value in _values(argument, call, scope, context, aliases)]
    call = call.copy()
    inner = call.this if isinstance(call.this, exp.Distinct) else call
    if isinstance(inner.this, exp.Expr):
        inner.set("this", bound.pop(0))
    inner.set("expressions", bound)
    return call


def _values(argument: exp.Expr, call: exp.Expr, scope: Scope, context: Context, aliases: Aliases) -> list[exp.Expr]:
    if not is_star(argument):
        return [bind(argument, scope, context, aliases)]
    columns = columns_of_star(argument, scope, context)
    if not isinstance(call, exp.Struct):
        return [c.value.copy() for c in columns]
    names = [exp.to_identifier(c.label, quoted=True) for c in columns]
    return [exp.PropertyEQ(this=n, expression=c.value.copy()) for n, c in zip(names, columns, strict=True)]


def is_subquery(node: exp.Expr) -> bool:
    """A query used as a value: EXISTS, IN (SELECT …), = ANY (SELECT …), or a scalar."""
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    if isinstance(node, exp.Exists):
        return isinstance(node.this, exp.Query)
    if isinstance(node, exp.Predicate) and isinstance(node, exp.Binary):
        return isinstance(node.expression, exp.Any | exp.All)
    return isinstance(node, exp.Subquery)


def bind_operands(node: exp.Expr, scope: Scope, context: Context, aliases: Aliases) -> exp.Expr:
    """The subquery as written, what it is compared with bound."""
    node = node.copy()
    if isinstance(node, exp.In | exp.Binary):
        node.set("this", bind(node.this, scope, context, aliases))
    return node


def resolve(column: exp.Column, scope: Scope, context: Context, aliases: Aliases) -> exp.Expr:
    """What a written name means: a column here, an alias of the select list, a column of a query around."""
    parts = [part.name for part in column.parts]
    place: Scope | None = scope
    while place is not None:
        found = place.find(parts)
        if len(found) > 1:
            raise wrong(f'column "{".".join(parts)}" is ambiguous', column, context.text, "qualify it.")
        if found:
            if place is not scope and context.memory.read_around:
                context.memory.read_around[-1] |= references(found[0])
            return found[0]
        if place is scope and not column.table and column.name.casefold() in aliases:
            return grouped(aliases[column.name.casefold()])
        place = place.outer
    raise _unknown(column, parts, scope, context)


def note_volatility(node: exp.Func, context: Context) -> None:
    """Remember a function that does not always answer the same."""
    kind = volatility(node)
    if kind is not None:
        context.remember(Volatile(f"{function_name(node)}()", kind, at(node, context.text)))


def _unknown(column: exp.Column, parts: Sequence[str], scope: Scope, context: Context) -> QueryError:
    labels = sorted({c.label for c in scope.star()})
    near = get_close_matches(parts[-1], labels, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else f"known here: {', '.join(labels) or 'nothing'}."
    return wrong(f'column "{".".join(parts)}" does not exist', column, context.text, hint)

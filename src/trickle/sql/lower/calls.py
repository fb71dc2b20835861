"""Calls of user-defined functions: SQL ones are written out, Python ones called by the name the engine knows."""

from __future__ import annotations

from functools import lru_cache

import sqlglot
from sqlglot import exp

from trickle.plan import cast, grouped, is_reserved
from trickle.plan.functions import Function, Kind
from trickle.sql.calls import require_arguments
from trickle.sql.dialects import SparkSql
from trickle.sql.lower.context import Context
from trickle.sql.lower.functions import Volatile, Volatility, function_name
from trickle.sql.lower.refuse import at, unsupported


def user_call(node: exp.Expr, context: Context) -> exp.Expr | None:
    """What stands for a call of a user-defined function, FILTER and OVER included; None if it is none."""
    call = node
    while isinstance(call, exp.Filter | exp.Window):
        call = call.this
    function = context.functions.get(function_name(call)) if isinstance(call, exp.Anonymous) else None
    if function is None or (function.kind is not Kind.AGGREGATE and node is not call):
        return None
    if not function.deterministic:
        context.remember(Volatile(f"{function.name}()", Volatility.DECLARED, at(call, context.text)))
    match function.kind:
        case Kind.SQL:
            return _written_out(function, call)
        case Kind.PYTHON:
            return cast(_engine_call(function, *call.expressions), function.returns)
        case Kind.AGGREGATE:
            return cast(
                _engine_call(function, exp.ArraySort(this=_rows(node), nulls_first=exp.true())), function.returns
            )


_TIMED = ("window", "session_window", "window_time")


def refuse_timed(node: exp.Anonymous, context: Context) -> None:
    """Windows of time are no functions of a row: Spark makes rows of them, and merges sessions."""
    name = function_name(node)
    if name in _TIMED:
        hint = "group by date_trunc('HOUR', …) or floor(unix_seconds(…) / n), or set refresh_mode = 'FULL'."
        raise unsupported(f"{name}()", node, context.text, hint=hint)


def refuse_unknown(node: exp.Anonymous, context: Context) -> None:
    """A function that neither the engine nor the lake knows may be anything: Spark's session alone has it."""
    name = function_name(node)
    if not is_reserved(name) and not context.is_builtin(name):
        raise unsupported(
            f"{name}()",
            node,
            context.text,
            f"Whether {name}() always answers the same is not known: it is no function of this lake.",
            hint=f"declare it with create_function(\"{name}\", …), or set refresh_mode = 'FULL'.",
        )


def expression(text: str) -> exp.Expr:
    """The body of a SQL function; where its parts stand in it is forgotten."""
    return _parsed(text).copy()


@lru_cache(maxsize=256)
def _parsed(text: str) -> exp.Expr:
    tree: exp.Expr = sqlglot.parse_one(f"SELECT {text}", dialect=SparkSql).expressions[0]
    for node in tree.walk():
        node.meta.pop("start", None)
    return tree.copy()


def _written_out(function: Function, call: exp.Expr) -> exp.Expr:
    require_arguments(function, len(call.expressions))
    values = {
        p.name.casefold(): cast(grouped(argument), p.type)
        for p, argument in zip(function.parameters, call.expressions, strict=True)
    }

    def swap(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        first, *path = node.parts
        value: exp.Expr = values[first.name.casefold()].copy()
        for part in path:
            value = exp.Dot(this=value, expression=part.copy())
        return value

    return cast(grouped(expression(function.body).transform(swap)), function.returns)


def _engine_call(function: Function, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=function.engine_name, expressions=[a.copy() for a in arguments])


def _rows(node: exp.Expr) -> exp.Expr:
    """The group's rows as a list, filtered or over a window as the call is."""
    if isinstance(node, exp.Filter | exp.Window):
        node = node.copy()
        node.set("this", _rows(node.this))
        return node
    arguments = node.expressions
    distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
    values = arguments[0].expressions if distinct else arguments
    row: exp.Expr = exp.Anonymous(this="struct", expressions=[v.copy() for v in values])
    return exp.ArrayAgg(this=exp.Distinct(expressions=[row]) if distinct else row)

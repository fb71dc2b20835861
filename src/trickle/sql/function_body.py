"""The body of a SQL function: one expression over its parameters, row by row."""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from trickle.errors import QueryError
from trickle.plan.functions import Functions, Kind, Parameter
from trickle.sql.dialects import SparkSql
from trickle.sql.lower.functions import function_name, is_aggregate, volatility
from trickle.sql.names import distinct


def check_body(name: str, body: str, parameters: Sequence[Parameter], calls: Functions) -> str:
    """Why the expression does not always answer the same, empty if it does; `QueryError` if it is none.

    >>> check_body("f", "x + rand()", [Parameter("x", "INT")], {})
    'rand() does not always answer the same.'
    """
    distinct((p.name for p in parameters), f'function "{name}": parameter')
    tree = _expression(name, body)
    known = {p.name.casefold() for p in parameters}
    for column in tree.find_all(exp.Column):
        if column.parts[0].name.casefold() not in known:
            raise QueryError(
                f'function "{name}": "{column.sql("spark")}" is no parameter of it',
                hint=f"parameters are {', '.join(p.name for p in parameters) or 'none'}.",
            )
    for node in tree.walk():
        _refuse(name, node, calls)
    return next((why for node in tree.walk() if (why := _why_unsettled(node, calls))), "")


def _expression(name: str, body: str) -> exp.Expr:
    try:
        tree = sqlglot.parse_one(f"SELECT {body}", dialect=SparkSql)
    except SqlglotError as error:
        raise QueryError(f'the body of function "{name}" cannot be read', detail=str(error).splitlines()[0]) from None
    parts = {part for part, value in tree.args.items() if value}
    if parts != {"expressions"} or len(tree.expressions) != 1 or isinstance(tree.expressions[0], exp.Alias):
        raise QueryError(f'the body of function "{name}" is not one expression', detail=body)
    found: exp.Expr = tree.expressions[0]
    return found


def _refuse(name: str, node: exp.Expr, calls: Functions) -> None:
    called = calls.get(function_name(node)) if isinstance(node, exp.Anonymous) else None
    found = {
        "a subquery": isinstance(node, exp.Query),
        "an aggregate": is_aggregate(node) or (called is not None and called.kind is Kind.AGGREGATE),
        "a window": isinstance(node, exp.Window),
        "a generator": isinstance(node, exp.UDTF),
    }
    for what, is_there in found.items():
        if is_there:
            raise QueryError(
                f'function "{name}" has {what} in its body',
                detail=node.sql("spark"),
                hint="a function computes a value from one row: put this into the query.",
            )


def _why_unsettled(node: exp.Expr, calls: Functions) -> str:
    called = calls.get(function_name(node)) if isinstance(node, exp.Anonymous) else None
    if called is not None and not called.deterministic:
        return f"{called.name}() is declared not deterministic."
    if isinstance(node, exp.Func) and volatility(node) is not None:
        return f"{function_name(node)}() does not always answer the same."
    return ""

"""CREATE FUNCTION and DROP FUNCTION, as Spark spells them."""

from __future__ import annotations

from trickle.plan.functions import Parameter
from trickle.sql.function_statement import CreateFunction, DropFunction
from trickle.sql.grammar.cursor import Cursor
from trickle.sql.grammar.types import type_name


def create_function(cursor: Cursor, or_replace: bool) -> CreateFunction:
    """CREATE FUNCTION [IF NOT EXISTS] name(a type, …) RETURNS type [[NOT] DETERMINISTIC] RETURN expression"""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.name("a function name")
    if not cursor.sees("("):
        raise cursor.error(f"expected (, found {cursor.found()}", "brackets are needed even without parameters")
    first, last = cursor.index + 1, cursor.closing()
    parameters = cursor.slice(first, last) if first < last else ""
    cursor.index = last + 1
    cursor.expect("RETURNS")
    returns = type_name(cursor)
    deterministic = _deterministic(cursor)
    cursor.expect("RETURN")
    body = cursor.expression()
    cursor.finish("CREATE FUNCTION")
    return CreateFunction(name, parameters, returns, body, deterministic, or_replace, if_not_exists)


def _deterministic(cursor: Cursor) -> bool | None:
    if cursor.accept("NOT", "DETERMINISTIC"):
        return False
    return True if cursor.accept("DETERMINISTIC") else None


def parameters(text: str) -> tuple[Parameter, ...]:
    """Names with their types.

    >>> [(p.name, p.type) for p in parameters("a INT, b DECIMAL(9, 2)")]
    [('a', 'INT'), ('b', 'DECIMAL(9, 2)')]
    """
    cursor = Cursor(text)
    if cursor.done():
        return ()
    found = cursor.separated(lambda c: Parameter(c.name("a parameter name"), type_name(c)))
    cursor.finish("the parameters of a function")
    return found


def drop_function(cursor: Cursor) -> DropFunction:
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.name("a function name")
    cursor.finish("DROP FUNCTION")
    return DropFunction(name, if_exists)

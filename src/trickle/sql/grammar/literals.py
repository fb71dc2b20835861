"""Literals as Python values: options of stream tables, arguments of functions."""

from __future__ import annotations

import re

from trickle.sql.grammar.cursor import Cursor
from trickle.sql.statement import FunctionCall, Options, Value

_WORDS: dict[str, Value] = {"TRUE": True, "FALSE": False, "NULL": None}
_TIMES = ("TIMESTAMP", "DATE")
_SUFFIX = re.compile(r"(?:bd|[lsydf])$", re.IGNORECASE)


def literal(cursor: Cursor) -> Value:
    """A string, a number, TRUE, FALSE, NULL, or a list of them; a TIMESTAMP or a DATE is its string.

    >>> literal(Cursor("ARRAY('a', -1.5, NULL)"))
    ('a', -1.5, None)
    """
    if cursor.sees_any(*_TIMES) and cursor.peek(1).kind == "string":
        cursor.take()
    token = cursor.peek()
    if token.kind == "string":
        return cursor.string()
    if cursor.accept("-"):
        return -_number(cursor)
    if token.kind == "number":
        return _number(cursor)
    if token.key in _WORDS:
        return _WORDS[cursor.take().key]
    if cursor.sees("ARRAY", "(") or cursor.sees("ARRAY", "["):
        cursor.take()
    if cursor.sees_any("(", "["):
        return _list(cursor)
    raise cursor.error(f"expected a literal, found {cursor.found()}", "write strings in single quotes")


def _number(cursor: Cursor) -> int | float:
    if cursor.peek().kind != "number":
        raise cursor.error(f"expected a number, found {cursor.found()}")
    text = _SUFFIX.sub("", cursor.take().text)
    return int(text) if text.isdecimal() else float(text)


def _list(cursor: Cursor) -> tuple[Value, ...]:
    last = cursor.closing()
    cursor.take()
    items = () if cursor.index == last else cursor.separated(literal)
    if cursor.index != last:
        raise cursor.error(f"{cursor.found()} is not expected in a list")
    cursor.take()
    return items


def options(cursor: Cursor) -> Options:
    """(key = value, ...); a bare word is the string it reads as, a dotted key is one key."""
    return cursor.listed(_option)


def _option(cursor: Cursor) -> tuple[str, Value]:
    key = ".".join(cursor.names_along_dots("an option"))
    if not cursor.accept_any("=", "=>"):
        raise cursor.error(f'option "{key}" needs a value', "write key = value")
    bare = cursor.peek().kind == "word" and cursor.word() not in (*_WORDS, "ARRAY")
    return key.lower(), cursor.take().text if bare else literal(cursor)


def arguments(cursor: Cursor, function: str) -> FunctionCall:
    """(value, ..., name => value, ...); the cursor stands on the bracket."""
    last = cursor.closing()
    cursor.take()
    args: list[Value] = []
    named: list[tuple[str, Value]] = []
    while cursor.index < last:
        if cursor.is_name() and cursor.peek(1).reads("=>"):
            key = cursor.name()
            cursor.take()
            named.append((key.lower(), literal(cursor)))
        elif named:
            raise cursor.error("a positional argument follows a named one", "name it too: name => value")
        else:
            args.append(literal(cursor))
        if cursor.index < last:
            cursor.expect(",")
            if cursor.index == last:
                raise cursor.error("expected an argument after the comma")
    cursor.expect(")")
    return FunctionCall(function.lower(), tuple(args), tuple(named))

"""From the text of a query to sqlglot's tree."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from trickle.errors import QueryError
from trickle.sql.dialects import DIALECTS, meant
from trickle.sql.lower.quantified import spelled_out


def parse_query(text: str, dialect: str = "spark") -> exp.Query:
    """The one query that the text is."""
    try:
        trees = [tree for tree in sqlglot.parse(text, dialect=DIALECTS[dialect]) if tree is not None]
    except (ParseError, TokenError) as error:
        raise QueryError("the query cannot be parsed", detail=_first(error)) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query | exp.Values):
        raise QueryError("expected one query", hint="a defining query is a SELECT, a set operation or VALUES.")
    return spelled_out(meant(trees[0], dialect))  # type: ignore[return-value]


def _first(error: Exception) -> str:
    if isinstance(error, ParseError) and error.errors:
        first = error.errors[0]
        return f"{first['description']} at line {first['line']}, column {first['col']}"
    return str(error).splitlines()[0]

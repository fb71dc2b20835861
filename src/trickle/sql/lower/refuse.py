"""Errors that name the construct and where it stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from trickle.errors import NotIncremental, QueryError


@dataclass(frozen=True)
class Position:
    """Where something begins in a text, both counted from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


def position(node: exp.Expr, text: str) -> Position | None:
    """Where a construct begins in the text it was parsed from.

    >>> import sqlglot
    >>> query = "SELECT a,\\n  rank(b)"
    >>> print(position(sqlglot.parse_one(query).find(exp.Anonymous, exp.Rank), query))
    line 2, column 3
    """
    starts = [n.meta["start"] for n in node.walk() if "start" in n.meta]
    if not starts:
        return None
    begin = min(starts)
    return Position(text.count("\n", 0, begin) + 1, begin - text.rfind("\n", 0, begin))


def at(node: exp.Expr, text: str) -> str:
    """` at line …, column …`, or nothing when the parser kept no position."""
    found = position(node, text)
    return f" at {found}" if found else ""


def wrong(message: str, node: exp.Expr, text: str, hint: str = "") -> QueryError:
    """The query is not valid."""
    return QueryError(message + at(node, text), detail=_excerpt(node), hint=hint)


def unsupported(construct: str, node: exp.Expr, text: str, reason: str = "", hint: str = "") -> NotIncremental:
    """The query is valid, but has no plan whose change we know."""
    detail = f"{reason} " if reason else ""
    return NotIncremental(
        f"{construct} cannot be maintained incrementally{at(node, text)}",
        detail=detail + _excerpt(node),
        hint=hint or "rewrite the query without it, or set refresh_mode = 'FULL'.",
    )


_CLAUSES = {
    "sample": "TABLESAMPLE",
    "when": "AS OF",
    "version": "AS OF",
    "match": "MATCH_RECOGNIZE",
    "connect": "CONNECT BY",
    "into": "SELECT INTO",
    "kind": "SELECT AS",
    "locks": "FOR UPDATE",
}


def refuse_others(node: exp.Expr, known: Iterable[str], text: str) -> None:
    """A clause that nobody reads would be passed over in silence, and the answer be another query's."""
    for clause in (name for name, value in node.args.items() if value and name not in {*known}):
        named = _CLAUSES.get(clause, clause.strip("_").replace("_", " ").upper())
        raise unsupported(named, node, text)


def refuse_maps(types: Iterable[str | None], construct: str, node: exp.Expr, text: str) -> None:
    """Maps cannot be compared: neither rows nor groups can be told apart by them."""
    if any((type or "").casefold().startswith("map") for type in types):
        hint = "use its sorted entries instead: sort_array(map_entries(…)), or set refresh_mode = 'FULL'."
        raise unsupported(f"{construct} of a map", node, text, "Maps cannot be compared.", hint)


def _excerpt(node: exp.Expr) -> str:
    written = node.sql(dialect="spark")
    return written if len(written) <= 120 else written[:117] + "..."

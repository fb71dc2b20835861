"""Subqueries as values and as conditions, correlated with the query around or not."""

from __future__ import annotations

from trickle.testing.queries.aggregates import aggregate
from trickle.testing.queries.expressions import COMPARISONS, condition, value
from trickle.testing.queries.sources import from_clause, tied
from trickle.testing.queries.types import NUMBER, SIMPLE, Field, Scope, Source, Type
from trickle.testing.queries.writer import Writer


def predicate(w: Writer, depth: int, scope: Scope) -> str:
    """A condition on a subquery, bare or below NOT, OR or CASE."""
    bare = _bare(w, depth, scope)
    return w.write(
        lambda: bare,
        lambda: bare,
        lambda: bare,
        lambda: f"NOT ({bare})",
        lambda: f"({condition(w, scope, 0)} OR {bare})",
        lambda: f"CASE WHEN {condition(w, scope, 0)} THEN {bare} ELSE {condition(w, scope, 0)} END",
        lambda: f"coalesce({bare}, {condition(w, scope, 0)})",
    )


def scalar(w: Writer, depth: int, scope: Scope, type: Type) -> str:
    """A subquery as a value of this type."""
    inner = _inside(w, depth, scope)
    if w.chance(0.3):
        found = value(w, inner.scope, type, 1)
        return f"(SELECT {found} FROM {inner.text} ORDER BY 1{w.pick('', ' DESC', ' NULLS LAST')} LIMIT 1)"
    having = f" HAVING count(*) {w.pick('>', '<')} 2" if w.chance(0.1) else ""
    text = f"(SELECT {aggregate(w, inner.scope, type)} FROM {inner.text}{having})"
    return w.pick(text, text, f"coalesce({text}, {value(w, scope, type, 0)})")


def _bare(w: Writer, depth: int, scope: Scope) -> str:
    inner = _inside(w, depth, scope)
    known = [f for f in scope if f.type in SIMPLE]
    mine = w.pick(*known) if known else Field("1", NUMBER)
    theirs = value(w, inner.scope, mine.type, 1)
    return w.write(
        lambda: f"{w.pick('', 'NOT ')}EXISTS (SELECT {w.pick('1', '*', theirs)} FROM {inner.text})",
        lambda: f"{w.pick('', 'NOT ')}EXISTS (SELECT 1 FROM {inner.text})",
        lambda: f"{mine.text} {w.pick('IN', 'NOT IN')} (SELECT {theirs} FROM {inner.text})",
        lambda: f"{mine.text} {w.pick('IN', 'NOT IN')} (SELECT {theirs} FROM {inner.text})",
        lambda: f"{mine.text} {w.pick(*COMPARISONS[:-1])} {w.pick('ANY', 'ALL')} (SELECT {theirs} FROM {inner.text})",
        lambda: f"{mine.text} {w.pick(*COMPARISONS)} {scalar(w, depth, scope, mine.type)}",
        lambda: f"{w.pick('0', '1')} {w.pick('<', '=', '>=')} (SELECT count(*) FROM {inner.text})",
        lambda: f"EXISTS (SELECT {theirs} FROM {inner.text} GROUP BY {theirs} HAVING count(*) > 1)",
    )


def _inside(w: Writer, depth: int, scope: Scope) -> Source:
    """FROM and WHERE of a subquery that may read what is in sight around it."""
    source = from_clause(w, max(depth - 1, 0))
    parts = []
    if scope and w.chance(0.75):
        parts.append(tied(w, source.scope, scope))
        if w.chance(0.2):
            parts.append(condition(w, source.scope + scope, 0))
    if w.chance(0.25):
        parts.append(condition(w, source.scope, 1))
    if w.has_room(0.15):
        parts.append(_bare(w, max(depth - 1, 0), source.scope + scope))
    return Source(source.text + (f" WHERE {' AND '.join(parts)}" if parts else ""), source.scope)

"""The names that a query's columns show, by its text alone."""

from __future__ import annotations

from sqlglot import exp

from trickle.sql.lower.parse import parse_query
from trickle.sql.lower.select_list import label_of


def written_labels(text: str) -> list[str | None]:
    """Of a query's columns those named after a call: their names, None for the others; nothing where that is not seen.

    >>> written_labels("SELECT f(x), f(x) AS y, x FROM t"), written_labels("SELECT * FROM t")
    (['f(x)', None, None], [])
    """
    items = parse_query(text).selects
    if any(item.is_star for item in items):
        return []
    return [label_of(item) if not item.alias and item.find(exp.Anonymous) else None for item in items]

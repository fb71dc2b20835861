"""Rows made of lists, columns made rows and rows made columns."""

from __future__ import annotations

from trickle.testing.queries.expressions import value
from trickle.testing.queries.types import LIST, NUMBER, SIMPLE, TEXT, Field, Source
from trickle.testing.queries.writer import Writer


def exploded(w: Writer, source: Source) -> Source:
    """LATERAL VIEW [OUTER] explode(…)"""
    items, alias, outer = value(w, source.scope, LIST, 1), w.alias(), w.chance(0.4)
    text = f" LATERAL VIEW {'OUTER ' if outer else ''}explode({items}) {alias} AS n1"
    rows = f"LATERAL (SELECT explode({items}) AS n1) {alias}"
    w.wordings.append((text, f" LEFT JOIN {rows} ON TRUE" if outer else f" CROSS JOIN {rows}"))
    return Source(source.text + text, (*source.scope, Field(f"{alias}.n1", NUMBER)))


def unpivoted(w: Writer, source: Source) -> Source:
    """UNPIVOT of two columns of numbers; NULLs are left out, unless it is said otherwise."""
    alias, kept, nulls = w.alias(), value(w, source.scope, TEXT, 1), w.chance(0.4)
    first, second = value(w, source.scope, NUMBER, 1), value(w, source.scope, NUMBER, 1)
    below = f"(SELECT {kept} AS s1, CAST({first} AS INT) AS n1, CAST({second} AS INT) AS n2 FROM {source.text})"
    text = f"{below} UNPIVOT {'INCLUDE NULLS ' if nulls else ''}(n1 FOR s2 IN (n1, n2)) {alias}"
    parts = [
        f"SELECT s1, '{n}' AS s2, {n} AS n1 FROM {below} WHERE {nulls or f'{n} IS NOT NULL'}" for n in ("n1", "n2")
    ]
    w.wordings.append((text, f"({' UNION ALL '.join(parts)}) {alias}"))
    return Source(text, (Field(f"{alias}.s1", TEXT), Field(f"{alias}.s2", TEXT), Field(f"{alias}.n1", NUMBER)))


def pivoted(w: Writer, source: Source) -> Source:
    """PIVOT of an aggregate of numbers by two texts."""
    alias, type = w.alias(), w.pick(*SIMPLE)
    call = w.pick("sum", "max", "min")
    key, word, number = (value(w, source.scope, t, 1) for t in (type, TEXT, NUMBER))
    below = f"(SELECT {key} AS k, {word} AS s1, {number} AS n1 FROM {source.text})"
    text = f"{below} PIVOT ({call}(n1) FOR s1 IN ('x' AS n2, 'y' AS n3)) {alias}"
    made = ", ".join(f"{call}(n1) FILTER (WHERE s1 = '{v}') AS {name}" for v, name in (("x", "n2"), ("y", "n3")))
    w.wordings.append((text, f"(SELECT k, {made} FROM {below} GROUP BY k) {alias}"))
    return Source(text, (Field(f"{alias}.k", type), Field(f"{alias}.n2", NUMBER), Field(f"{alias}.n3", NUMBER)))

"""SELECTs: plain, grouped, with windows, the first rows of an order, with a lateral query beside."""

from __future__ import annotations

from trickle.testing.queries.aggregates import RESULTS, aggregate
from trickle.testing.queries.expressions import condition, value
from trickle.testing.queries.sources import from_clause, relation, tied
from trickle.testing.queries.subqueries import predicate, scalar
from trickle.testing.queries.types import (
    DECIMAL,
    DOUBLE,
    NUMBER,
    RATIO,
    SIMPLE,
    TEXT,
    TRUTH,
    Column,
    Field,
    Query,
    Scope,
    Source,
    Type,
    named,
)
from trickle.testing.queries.windows import call
from trickle.testing.queries.writer import Writer


def plain(w: Writer, depth: int) -> Query:
    if depth and w.chance(0.1):
        source, columns = relation(w, depth)
        return Query(f"SELECT * FROM {source.text}{where(w, depth, source.scope)}", columns)
    source = from_clause(w, depth)
    columns = named(_types(w, source.scope))
    distinct = "DISTINCT " if w.chance(0.2) else ""
    items = [item(w, depth, source.scope, c.type) for c in columns]
    return Query(
        f"SELECT {distinct}{_listed(items, columns)} FROM {source.text}{where(w, depth, source.scope)}", columns
    )


def windowed(w: Writer, depth: int) -> Query:
    source = from_clause(w, depth)
    kept = _types(w, source.scope)
    made = [NUMBER] * w.random.randint(1, 2)
    columns = named([*kept, *made])
    items = [value(w, source.scope, t, 1) for t in kept] + [call(w, source.scope) for _ in made]
    qualify = f" QUALIFY {call(w, source.scope)} {w.pick('<=', '>')} {w.pick(1, 2)}" if w.chance(0.2) else ""
    return Query(
        f"SELECT {_listed(items, columns)} FROM {source.text}{where(w, depth, source.scope)}{qualify}", columns
    )


def top(w: Writer, depth: int) -> Query:
    """ORDER BY … LIMIT: over all its columns, so that there is only one answer."""
    source = from_clause(w, depth)
    columns = named(_types(w, source.scope))
    items = [item(w, depth, source.scope, c.type) for c in columns]
    order = ", ".join(f"{n}{_direction(w)}" for n in w.some(range(1, len(columns) + 1), 99, 99))
    offset = w.pick("", "", " OFFSET 1")
    body = f"SELECT {_listed(items, columns)} FROM {source.text}{where(w, depth, source.scope)}"
    return Query(f"{body} ORDER BY {order} LIMIT {w.pick(1, 2, 4)}{offset}", columns)


def lateral(w: Writer, depth: int) -> Query:
    """A query in FROM that reads what stands before it."""
    left, right = relation(w, depth)[0], relation(w, max(depth - 1, 0))[0]
    tie = f"FROM {right.text} WHERE {tied(w, right.scope, left.scope)}"
    type = w.pick(NUMBER, NUMBER, TEXT, DECIMAL)
    found, alias = value(w, right.scope, type, 1), w.alias()
    body = w.write(
        lambda: f"SELECT {found} AS v {tie}",
        lambda: f"SELECT DISTINCT {found} AS v {tie}",
        lambda: f"SELECT {aggregate(w, right.scope, type)} AS v {tie}",
        lambda: f"SELECT {found} AS v {tie} ORDER BY 1{_direction(w)} LIMIT {w.pick(1, 2)}",
        lambda: f"SELECT {found} AS v {tie} GROUP BY {found}",
        lambda: f"SELECT {value(w, left.scope, type, 1)} AS v {tie}",
    )
    join = w.pick(f", LATERAL ({body}) {alias}", f" LEFT JOIN LATERAL ({body}) {alias} ON TRUE")
    scope = (*left.scope, Field(f"{alias}.v", type))
    columns = named([type, *_types(w, left.scope)])
    items = [f"{alias}.v", *(value(w, scope, c.type, 1) for c in columns[1:])]
    return Query(f"SELECT {_listed(items, columns)} FROM {left.text}{join}", columns)


def grouped(w: Writer, depth: int) -> Query:
    source = from_clause(w, depth)
    keys = _keys(w, source.scope)
    seen = {NUMBER, TRUTH, RATIO, *(f.type for f in source.scope)}
    results = w.some([type for type in RESULTS if type in seen], 1, 3)
    columns = named([*(k.type for k in keys), *results])
    over = Grouped(w, depth, source, keys)
    items = [*(k.text for k in keys), *(over.result(type) for type in results)]
    distinct = "DISTINCT " if w.chance(0.05) else ""
    body = f"SELECT {distinct}{_listed(items, columns)} FROM {source.text}{where(w, depth, source.scope)}"
    return Query(body + over.clause() + over.having(), columns)


def _keys(w: Writer, scope: Scope) -> list[Field]:
    """Columns, or expressions of one; none for a total."""
    if w.chance(0.15):
        return []
    known = [f for f in scope if f.type in SIMPLE]
    made = Field(value(w, scope, type := w.pick(NUMBER, TEXT), 1), type)
    # a literal would be a place in the select list
    if any(f.text in made.text for f in scope) and (w.chance(0.2) or not known):
        return [made]
    return w.some(known, 1, 2)


class Grouped:
    """What may be said above GROUP BY."""

    def __init__(self, w: Writer, depth: int, source: Source, keys: list[Field]) -> None:
        self.w, self.depth, self.source, self.keys = w, depth, source, keys
        self.columns = tuple(k for k in keys if k in source.scope)
        self.sets = bool(keys) and len(self.columns) == len(keys) and w.chance(0.2)

    def clause(self) -> str:
        if not self.keys:
            return ""
        listed = ", ".join(k.text for k in self.keys)
        first = self.keys[0].text
        if self.sets:
            return " GROUP BY " + self.w.pick(
                f"ROLLUP ({listed})",
                f"CUBE ({listed})",
                f"GROUPING SETS (({listed}), ({first}), ())",
                f"GROUPING SETS (({first}), ({first}))"
                if len(self.keys) == 1
                else f"GROUPING SETS (({listed}), ({first}))",
            )
        ordinals = ", ".join(str(n) for n in range(1, len(self.keys) + 1))
        return f" GROUP BY {self.w.pick(listed, listed, ordinals)}"

    def result(self, type: Type) -> str:
        """An aggregate, or an expression of aggregates, keys and subqueries."""
        w, scope = self.w, self.source.scope
        plain = aggregate(w, scope, type)
        if w.chance(0.7):
            return plain
        if self.sets and w.chance(0.5) and type is NUMBER:
            return f"grouping({self.keys[0].text})"
        if type is NUMBER and w.chance(0.3):
            return self.ranked()
        other = aggregate(w, scope, type)
        choices = [
            f"coalesce({plain}, {other})",
            f"CASE WHEN {aggregate(w, scope, NUMBER)} > 1 THEN {plain} ELSE {other} END",
        ]
        if type in (NUMBER, DECIMAL, DOUBLE):
            choices.append(f"{plain} + {other}")
        if type in SIMPLE and not self.sets and w.has_room():
            choices.append(scalar(w, self.depth, self.columns, type))
        return w.pick(*choices)

    def ranked(self) -> str:
        w = self.w
        order = aggregate(w, self.source.scope, NUMBER)
        by = f"PARTITION BY {self.keys[0].text} " if self.keys and w.chance(0.3) else ""
        return w.pick(
            f"rank() OVER ({by}ORDER BY {order}{_direction(w)})",
            f"sum({order}) OVER ({by.strip()})",
            f"dense_rank() OVER ({by}ORDER BY {order})",
        )

    def having(self) -> str:
        w = self.w
        if w.chance(0.7) or not (self.keys or w.chance(0.3)):
            return ""
        total = aggregate(w, self.source.scope, NUMBER)
        return " HAVING " + w.write(
            lambda: "count(*) > 1",
            lambda: f"{total} {w.pick('>', '<=', '<>')} {w.pick(0, 1, 2)}",
            lambda: f"{total} IS NULL",
            lambda: f"{total} > {scalar(w, self.depth, () if self.sets else self.columns, NUMBER)}",
            lambda: condition(w, self.columns, 0) if self.columns else "max(1) = 1",
        )


def item(w: Writer, depth: int, scope: Scope, type: Type) -> str:
    """An item of the select list: now and then a subquery."""
    if type in SIMPLE and w.has_room(0.1):
        return scalar(w, depth, scope, type)
    return value(w, scope, type)


def where(w: Writer, depth: int, scope: Scope) -> str:
    parts = [condition(w, scope)] if w.chance(0.4) else []
    if w.has_room(0.25):
        parts.append(predicate(w, depth, scope))
    return f" WHERE {' AND '.join(parts)}" if parts else ""


def select(w: Writer, depth: int, columns: tuple[Column, ...]) -> str:
    """A SELECT of columns of these types."""
    source = from_clause(w, depth)
    items = [value(w, source.scope, c.type, 1) for c in columns]
    return f"SELECT {_listed(items, columns)} FROM {source.text}{where(w, depth, source.scope)}"


def _types(w: Writer, scope: Scope) -> list[Type]:
    """Types for a select list: mostly those in sight."""
    seen = [f.type for f in scope]
    return w.some(seen, 1, 4) + ([w.pick(*SIMPLE)] if w.chance(0.3) else [])


def _listed(items: list[str], columns: tuple[Column, ...]) -> str:
    return ", ".join(f"{text} AS {column.name}" for text, column in zip(items, columns, strict=True))


def _direction(w: Writer) -> str:
    return w.pick("", " DESC", " NULLS LAST", " DESC NULLS FIRST")

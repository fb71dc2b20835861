"""FROM: tables, queries, CTEs, VALUES, joined in every way."""

from __future__ import annotations

from trickle.testing.queries.expressions import COMPARISONS, condition, value
from trickle.testing.queries.reshaping import exploded, pivoted, unpivoted
from trickle.testing.queries.types import NUMBER, NUMERIC, SIMPLE, TEXT, Column, Field, Scope, Source, named
from trickle.testing.queries.writer import Writer, fields

INNER = ("JOIN", "INNER JOIN")
OUTER = ("LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
HALF = ("LEFT SEMI JOIN", "LEFT ANTI JOIN")
_VALUES = (
    ("(1, 'x')", (Column("n1", NUMBER), Column("s1", TEXT))),
    ("(0, 'y'), (NULL, 'x'), (1, NULL)", (Column("n1", NUMBER), Column("s1", TEXT))),
    ("(1), (2), (2)", (Column("n1", NUMBER),)),
)


def from_clause(w: Writer, depth: int) -> Source:
    """One relation, or two or three joined."""
    source, columns = relation(w, depth)
    kind = w.random.random()
    if kind < 0.4 or not w.has_room():
        return source
    if kind < 0.47:
        return exploded(w, source)
    if kind < 0.5:
        return w.pick(pivoted, unpivoted)(w, source)
    if kind < 0.58:
        return _by_name(w, (source, columns), relation(w, max(depth - 1, 0)))
    joined = _joined(w, source, relation(w, max(depth - 1, 0))[0])
    return _joined(w, joined, relation(w, 0)[0]) if w.has_room(0.2) else joined


def relation(w: Writer, depth: int) -> tuple[Source, tuple[Column, ...]]:
    """One item of FROM under an alias of its own."""
    w.room -= 1
    text, columns = _item(w, depth)
    alias = w.alias()
    if text.startswith("VALUES"):
        return Source(f"({text}) AS {alias}({', '.join(c.name for c in columns)})", fields(alias, columns)), columns
    return Source(f"{text} {w.pick('', 'AS ')}{alias}", fields(alias, columns)), columns


def _item(w: Writer, depth: int) -> tuple[str, tuple[Column, ...]]:
    if w.ctes and w.chance(0.5):
        return w.pick(*w.ctes)
    if depth > 0 and w.has_room(0.7):
        query = w.query(depth - 1)
        return f"({query.text})", query.columns
    if w.chance(0.05):
        rows, columns = w.pick(*_VALUES)
        return f"VALUES {rows}", columns
    return w.pick(*w.tables.items())


def _joined(w: Writer, left: Source, right: Source) -> Source:
    both = left.scope + right.scope
    kind = w.random.random()
    if kind < 0.4:
        return Source(f"{left.text} {w.pick(*INNER)} {right.text} ON {link(w, left.scope, right.scope)}", both)
    if kind < 0.75:
        return Source(f"{left.text} {w.pick(*OUTER)} {right.text} ON {link(w, left.scope, right.scope)}", both)
    if kind < 0.9:
        return Source(f"{left.text} {w.pick(*HALF)} {right.text} ON {link(w, left.scope, right.scope)}", left.scope)
    return Source(f"{left.text}{w.pick(' CROSS JOIN ', ', ')}{right.text}", both)


def link(w: Writer, left: Scope, right: Scope) -> str:
    """A join condition: mostly an equality, sometimes with, or only, something else."""
    tie = tied_across(w, left, right) if w.chance(0.1) else tied(w, left, right)
    return w.write(
        lambda: tie,
        lambda: tie,
        lambda: f"{tie} AND {tied(w, left, right)}",
        lambda: f"{tie} AND {condition(w, left + right, 1)}",
        lambda: f"({tie} OR {condition(w, left + right, 0)})",
        lambda: condition(w, left + right, 1),
    )


def tied(w: Writer, left: Scope, right: Scope) -> str:
    """A comparison of a column of each side."""
    pairs = [(x, y) for x in left for y in right if x.type is y.type and x.type in SIMPLE]
    if not pairs:
        return f"{value(w, left, NUMBER, 1)} = {value(w, right, NUMBER, 1)}"
    x, y = w.pick(*pairs)
    other = value(w, right, y.type, 1) if w.chance(0.2) else y.text
    return f"{x.text} {'=' if w.chance(0.7) else w.pick(*COMPARISONS)} {other}"


def tied_across(w: Writer, left: Scope, right: Scope) -> str:
    """An equality of two types: of numbers with other numbers, or with texts of them, which may begin with zeros."""
    numbers = [(x, y) for x in left for y in right if x.type in NUMERIC and y.type in NUMERIC]
    ties = [f"{x.text} = {y.text}" for x, y in numbers if x.type is not y.type]
    whole = [(x, y) for x, y in numbers if x.type is NUMBER and y.type is NUMBER]
    ties += [f"('0' || CAST(abs({x.text}) AS STRING)) = {y.text}" for x, y in whole]
    ties += [f"{x.text} = CAST({y.text} AS STRING)" for x, y in whole]
    return w.pick(*ties) if ties else tied(w, left, right)


def _by_name(w: Writer, left: tuple[Source, tuple[Column, ...]], right: tuple[Source, tuple[Column, ...]]) -> Source:
    """NATURAL or USING: the columns of one name become one, which has no alias before it.

    (Hence the query around: DuckDB would take such a name for one of the select list.)
    """
    (one, mine), (two, theirs) = left, right
    shared = [c for c in mine if c in theirs and c.type in SIMPLE]
    if not shared:
        return Source(f"{one.text} CROSS JOIN {two.text}", one.scope + two.scope)
    natural = len(shared) == len({c.name for c in mine} & {c.name for c in theirs}) and w.chance(0.4)
    merged = shared if natural else w.some(shared, 1, 2)
    names = {c.name for c in merged}
    rest = [f for c, f in zip((*mine, *theirs), one.scope + two.scope, strict=True) if c.name not in names]
    found = (*(Field(c.name, c.type) for c in merged), *rest)
    columns, alias = named([f.type for f in found]), w.alias()
    items = ", ".join(f"{f.text} AS {c.name}" for f, c in zip(found, columns, strict=True))
    word = w.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
    joined = f"{one.text} NATURAL {word} {two.text}" if natural else f"{one.text} {word} {two.text}"
    using = "" if natural else f" USING ({', '.join(c.name for c in merged)})"
    return Source(f"(SELECT {items} FROM {joined}{using}) {alias}", fields(alias, columns))

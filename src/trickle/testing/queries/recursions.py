"""WITH RECURSIVE that ends: of values that the tables hold, or of few rounds."""

from __future__ import annotations

from trickle.testing.queries.expressions import condition, value
from trickle.testing.queries.sources import relation
from trickle.testing.queries.types import NUMBER, Column, Field, Query, Source
from trickle.testing.queries.writer import Writer

_PAIR = (Column("n1", NUMBER), Column("n2", NUMBER))


def recursive(w: Writer, depth: int) -> Query:
    """A recursion, and a query that may read it, alone or beside other relations."""
    outer, name = list(w.ctes), f"w{w.alias()}"
    base, step = relation(w, 0)[0], relation(w, 0)[0]
    text = w.write(lambda: _closure(w, name, base, step), lambda: _walk(w, name, base, step))
    w.ctes.append((name, _PAIR))
    body = w.query(max(depth - 1, 0)) if w.chance(0.6) else Query(f"SELECT n1, n2 FROM {name}", _PAIR)
    w.ctes = outer
    shown = body.text if not body.text.startswith("WITH ") else f"SELECT * FROM ({body.text})"
    return Query(f"WITH RECURSIVE {name} AS ({text}) {shown}", body.columns)


def _closure(w: Writer, name: str, base: Source, step: Source) -> str:
    """Pairs that lead to one another; its numbers are those of the tables, so it ends."""
    first = f"SELECT {_whole(w, base)} AS n1, {_whole(w, base)} AS n2 FROM {base.text}{_where(w, base)}"
    also = f" AND {condition(w, step.scope, 0)}" if w.chance(0.3) else ""
    then = f"SELECT r.n1, {_whole(w, step)} AS n2 FROM {name} r JOIN {step.text} ON r.n2 = {_known(w, step)}{also}"
    return f"{first} UNION {then}"


def _walk(w: Writer, name: str, base: Source, step: Source) -> str:
    """So many rounds, counted; copies count too."""
    first = f"SELECT {_whole(w, base)} AS n1, 0 AS n2 FROM {base.text}{_where(w, base)}"
    rounds = w.pick(1, 2)
    then = f"SELECT {_whole(w, step)} AS n1, r.n2 + 1 AS n2 FROM {name} r JOIN {step.text} ON r.n1 = {_known(w, step)}"
    return f"{first} {w.pick('UNION ALL', 'UNION')} {then} WHERE r.n2 < {rounds}"


def _where(w: Writer, source: Source) -> str:
    return f" WHERE {condition(w, source.scope, 1)}" if w.chance(0.4) else ""


def _whole(w: Writer, source: Source) -> str:
    return f"CAST({value(w, source.scope, NUMBER, 1)} AS INT)"


def _known(w: Writer, source: Source) -> str:
    fields: list[Field] = [f for f in source.scope if f.type is NUMBER]
    return w.pick(*fields).text if fields else "1"

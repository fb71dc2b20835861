"""Whole queries: one of the shapes, set operations of them, CTEs around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from trickle.testing.queries import blocks
from trickle.testing.queries.recursions import recursive
from trickle.testing.queries.types import DAY, DECIMAL, MOMENT, NUMBER, Column, Query
from trickle.testing.queries.writer import Writer

_WIDER = {NUMBER: DECIMAL, DAY: MOMENT}
SET_OPERATIONS = ("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")


def compose(w: Writer, depth: int) -> Query:
    (shape,) = w.random.choices(list(SHAPES), list(SHAPES.values()))
    return shape(w, depth)


def set_operation(w: Writer, depth: int) -> Query:
    first = w.query(max(depth - 1, 0))
    columns = tuple(_widened(w, column) for column in first.columns)
    text = f"{_operand(first.text)} {w.pick(*SET_OPERATIONS)} {blocks.select(w, max(depth - 1, 0), columns)}"
    if w.has_room(0.2):
        text = f"({text}) {w.pick(*SET_OPERATIONS)} {blocks.select(w, 0, columns)}"
    return Query(text, columns)


def _widened(w: Writer, column: Column) -> Column:
    """Numbers of one side may meet decimals of the other, and dates times."""
    return replace(column, type=_WIDER[column.type]) if column.type in _WIDER and w.chance(0.25) else column


def with_ctes(w: Writer, depth: int) -> Query:
    outer, parts = list(w.ctes), []
    for _ in range(w.pick(1, 1, 2)):
        made, name = w.query(max(depth - 1, 0)), f"w{w.alias()}"
        parts.append(f"{name} AS ({made.text})")
        w.ctes.append((name, made.columns))
    body = w.query(max(depth - 1, 0))
    w.ctes = outer
    text = body.text if not body.text.startswith("WITH ") else f"SELECT * FROM ({body.text})"
    return Query(f"WITH {', '.join(parts)} {text}", body.columns)


def _operand(text: str) -> str:
    return f"({text})" if " LIMIT " in text or text.startswith("WITH ") else text


SHAPES: dict[Callable[[Writer, int], Query], float] = {
    blocks.plain: 4,
    blocks.grouped: 4,
    blocks.windowed: 1.5,
    blocks.top: 1,
    blocks.lateral: 1,
    set_operation: 1.5,
    with_ctes: 1,
    recursive: 0.2,
}

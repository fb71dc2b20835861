"""Aggregate calls."""

from __future__ import annotations

from trickle.testing.queries.expressions import condition, value
from trickle.testing.queries.types import (
    DAY,
    DECIMAL,
    DOUBLE,
    MOMENT,
    NUMBER,
    RATIO,
    TEXT,
    TRUTH,
    Scope,
    Type,
)
from trickle.testing.queries.writer import Writer

RESULTS = (NUMBER, NUMBER, NUMBER, NUMBER, TEXT, DECIMAL, DOUBLE, TRUTH, DAY, MOMENT, RATIO)


def aggregate(w: Writer, scope: Scope, type: Type) -> str:
    """A call whose result is of this type."""
    return _call(w, scope, type) + (f" FILTER (WHERE {condition(w, scope, 1)})" if w.chance(0.2) else "")


def _call(w: Writer, scope: Scope, type: Type) -> str:
    extreme = f"{w.pick('min', 'max')}({value(w, scope, type, 1)})"
    if type is NUMBER:
        anything = value(w, scope, w.pick(NUMBER, NUMBER, TEXT, DECIMAL, DAY), 1)
        number = value(w, scope, NUMBER, 1)
        return w.pick(
            "count(*)", "count(*)", f"count({anything})", f"count(DISTINCT {anything})",
            f"sum({number})", f"sum({number})", f"sum(DISTINCT {number})", extreme, extreme,
        )  # fmt: skip
    if type is TRUTH:
        return f"{w.pick('bool_and', 'bool_or')}({condition(w, scope, 1)})"
    if type is RATIO:
        return f"avg({value(w, scope, NUMBER, 1)})"
    if type in (DECIMAL, DOUBLE):
        return w.pick(f"sum({value(w, scope, type, 1)})", extreme)
    return extreme

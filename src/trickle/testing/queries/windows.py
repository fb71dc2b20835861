"""Window calls whose answer is settled: what counts rows orders by everything in sight."""

from __future__ import annotations

from trickle.testing.queries.expressions import value
from trickle.testing.queries.types import NUMBER, SIMPLE, Scope
from trickle.testing.queries.writer import Writer

_FRAMES = (
    "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
)


def call(w: Writer, scope: Scope) -> str:
    """A number for each row, seen from the rows of its partition."""
    by = _partition(w, scope)
    total = f"{by}ORDER BY {ordered(w, scope)}"
    loose = f"{by}ORDER BY {value(w, scope, w.pick(*[f.type for f in scope if f.type in SIMPLE] or [NUMBER]), 1)}"
    number = value(w, scope, NUMBER, 1)
    return w.pick(
        f"row_number() OVER ({total})",
        f"rank() OVER ({loose})",
        f"dense_rank() OVER ({loose} DESC)",
        f"ntile(2) OVER ({total})",
        f"lag({number}) OVER ({total})",
        f"lead({number}, 2) OVER ({total})",
        f"sum({number}) OVER ({by.strip()})",
        f"count({number}) OVER ({loose})",
        f"sum({number}) OVER ({total} {w.pick(*_FRAMES)})",
        f"max({number}) OVER ({total} {w.pick(*_FRAMES)})",
        f"first_value({number}) OVER ({total})",
    )


def ordered(w: Writer, scope: Scope) -> str:
    """All columns in sight, in any order: rows that tie are copies of each other."""
    directions = ("", "", " DESC", " NULLS LAST")
    return ", ".join(f"{f.text}{w.pick(*directions)}" for f in w.some(scope, 99, 99))


def _partition(w: Writer, scope: Scope) -> str:
    keys = [f.text for f in scope if f.type in SIMPLE]
    if not keys or w.chance(0.25):
        return ""
    return f"PARTITION BY {', '.join(w.some(keys, 1, 2))} "

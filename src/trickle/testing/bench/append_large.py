"""Append of 5M rows ≤ 1.3 × a plain Spark Parquet write."""

from __future__ import annotations

from collections.abc import Iterator

from .arena import COLUMNS, Arena
from .measure import Contest

ROWS = 5_000_000


def contests(arena: Arena) -> Iterator[Contest]:
    frame, plain = arena.orders(arena.sized(ROWS)), arena.plain("append_large")
    arena.db.sql(f"CREATE TABLE append_large ({COLUMNS})")
    yield Contest(
        "append 5M rows",
        1.3,
        ours=lambda: arena.db.append("append_large", frame),
        plain=lambda: frame.write.parquet(plain),
        rounds=5,
        warmups=1,
        between=lambda: arena.clear("append_large"),
    )
    arena.db.sql("DROP TABLE append_large")

"""Append of 100 rows ≤ 1.5 × a plain Spark write of the same rows."""

from __future__ import annotations

from collections.abc import Iterator

from .arena import COLUMNS, Arena
from .measure import Contest

ROWS = 100
TARGET = 1.5


def contests(arena: Arena) -> Iterator[Contest]:
    """As a DataFrame and as rows that Python holds; a hundred rows at any scale."""
    db, spark, plain = arena.db, arena.spark, arena.plain("append_small")
    frame = arena.orders(ROWS, files=2)
    rows = [row.asDict() for row in frame.collect()]
    for kind in ("frame", "rows"):
        db.sql(f"CREATE TABLE append_small_{kind} ({COLUMNS})")
    yield Contest(
        "append 100 rows (DataFrame)",
        TARGET,
        ours=lambda: db.append("append_small_frame", frame),
        plain=lambda: frame.write.mode("append").parquet(plain),
        rounds=21,
        warmups=8,
    )
    yield Contest(
        "append 100 rows (list of dicts)",
        TARGET,
        ours=lambda: db.append("append_small_rows", rows),
        plain=lambda: spark.createDataFrame(rows, frame.schema).write.mode("append").parquet(plain),
        rounds=21,
        warmups=5,
    )
    arena.clear("append_small")

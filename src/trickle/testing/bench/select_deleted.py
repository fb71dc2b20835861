"""SELECT over 10M rows of which 1 % are deleted ≤ 1.5 × plain Parquet without deletes."""

from __future__ import annotations

from collections.abc import Iterator

from .arena import COLUMNS, Arena
from .measure import Contest

ROWS = 10_000_000
QUERY = "SELECT customer % 100 AS bucket, count(*), sum(amount), max(at) FROM {} GROUP BY customer % 100"


def contests(arena: Arena) -> Iterator[Contest]:
    db, spark, rows = arena.db, arena.spark, arena.sized(ROWS)
    frame, plain = arena.orders(rows), arena.plain("select_deleted")
    db.sql(f"CREATE TABLE select_deleted ({COLUMNS})")
    db.append("select_deleted", frame)
    db.sql("DELETE FROM select_deleted WHERE pmod(hash(id, 7), 100) = 0")
    frame.write.parquet(plain)
    yield Contest(
        "SELECT over 10M rows, 1 % deleted",
        1.5,
        ours=lambda: db.sql(QUERY.format("select_deleted")).collect(),
        plain=lambda: spark.sql(QUERY.format(f"parquet.`{plain}`")).collect(),
        rounds=21,
        warmups=10,
    )
    arena.clear("select_deleted")

"""DELETE of 100 keys in 10M rows clustered by that key ≤ 0.15 × rewriting the table."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from pyspark.sql import functions as F

from .arena import COLUMNS, Arena
from .measure import Contest

ROWS = 10_000_000
KEYS = 100


def contests(arena: Arena) -> Iterator[Contest]:
    """Keys from all over the table, others in every round."""
    db, rows, random = arena.db, arena.sized(ROWS), Random(1)
    frame, plain, rewritten = arena.orders(rows), arena.plain("delete_keys"), arena.plain("delete_keys_rewritten")
    db.sql(f"CREATE TABLE delete_keys ({COLUMNS}) CLUSTER BY (id)")
    db.append("delete_keys", frame)
    db.cluster("delete_keys")
    frame.write.parquet(plain)

    def keys() -> list[int]:
        return random.sample(range(rows), min(KEYS, rows))

    def delete() -> None:
        db.sql(f"DELETE FROM delete_keys WHERE id IN ({', '.join(map(str, keys()))})")

    def rewrite() -> None:
        arena.spark.read.parquet(plain).where(~F.col("id").isin(keys())).write.parquet(rewritten)

    yield Contest(
        "DELETE of 100 keys in 10M rows",
        0.15,
        ours=delete,
        plain=rewrite,
        rounds=5,
        warmups=2,
        between=lambda: arena.clear("delete_keys_rewritten"),
    )
    arena.clear("delete_keys")

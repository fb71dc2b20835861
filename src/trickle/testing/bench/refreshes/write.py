"""What stream tables cost those who write their sources: nothing, as changes are read, not captured."""

from __future__ import annotations

from collections.abc import Iterator

import trickle

from ..arena import Arena
from ..measure import Contest
from .dag import fan

TARGET = 1.03


def contests(arena: Arena) -> Iterator[Contest]:
    """The same statements on two lakes, one of them with twenty stream tables."""
    rows = arena.sized(100_000)
    with trickle.connect(arena.folder / "without", spark=arena.spark) as without:
        for db in (arena.db, without):
            db.sql("CREATE TABLE facts (id BIGINT, kind INT, amount BIGINT)")
            db.append(
                "facts",
                arena.spark.sql(f"SELECT id, CAST(id % 100 AS INT) AS kind, id % 1000 AS amount FROM range({rows})"),
            )
        for name, query in fan().items():
            arena.db.create_stream_table(name, query)
        few = arena.spark.sql("SELECT id, CAST(id % 100 AS INT) AS kind, id % 1000 AS amount FROM range(100)").toArrow()
        yield Contest(
            "append of 100 rows, with 20 stream tables",
            TARGET,
            ours=lambda: arena.db.append("facts", few),
            plain=lambda: without.append("facts", few),
            rounds=51,
            warmups=10,
        )
        update = "UPDATE facts SET amount = amount + 1 WHERE id BETWEEN 100 AND 200"
        yield Contest(
            "UPDATE of 100 rows, with 20 stream tables",
            TARGET,
            ours=lambda: arena.db.sql(update),
            plain=lambda: without.sql(update),
            rounds=51,
            warmups=10,
        )

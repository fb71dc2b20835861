"""A short walk through all that a lake can do, for any Spark: `python -m trickle.testing.smoke LAKE MASTER`."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

import trickle

TYPES = {
    "flag": ("BOOLEAN", "TRUE", True),
    "tiny": ("TINYINT", "CAST(1 AS TINYINT)", 1),
    "big": ("BIGINT", "9223372036854775807", 2**63 - 1),
    "ratio": ("DOUBLE", "CAST('1.5' AS DOUBLE)", 1.5),
    "price": ("DECIMAL(18, 4)", "CAST('12.3400' AS DECIMAL(18, 4))", Decimal("12.3400")),
    "day": ("DATE", "DATE '2024-02-29'", date(2024, 2, 29)),
    "at": ("TIMESTAMP_NTZ", "TIMESTAMP_NTZ '2024-02-29 12:00:00.5'", datetime(2024, 2, 29, 12, 0, 0, 500000)),
    "raw": ("BINARY", "X'00FF'", b"\x00\xff"),
    "label": ("STRING", "'Zürich \\'x\\''", "Zürich 'x'"),
    "list": ("ARRAY<INT>", "array(1, NULL)", [1, None]),
    "lookup": ("MAP<STRING, INT>", "map('a', 1)", [("a", 1)]),
    "pair": ("STRUCT<x: INT, y: STRING>", "named_struct('x', 1, 'y', 'b')", {"x": 1, "y": "b"}),
}


def rows(frame: Any) -> Counter[tuple[Any, ...]]:
    """A DataFrame as a multiset."""
    return Counter(tuple(row.values()) for row in frame.toArrow().to_pylist())


def smoke(db: trickle.Session) -> None:
    """Create, change, read, travel in time, all types, call functions, maintain; each step checks itself."""
    start = changed(db)
    travelled(db, start)
    typed(db)
    transacted(db)
    called(db)
    maintained(db)


def changed(db: trickle.Session) -> int:
    db.sql("CREATE TABLE item (id INT NOT NULL, name STRING, amount BIGINT DEFAULT 7)")
    db.sql("INSERT INTO item VALUES (1, 'a', 10), (2, 'b', 20), (3, 'c', NULL)")
    db.sql("INSERT INTO item (id, name) VALUES (4, 'd')")
    db.append("item", pa.table({"id": pa.array([5], pa.int32()), "name": ["e"], "amount": [50]}))
    start = db.head()
    db.sql("UPDATE item SET amount = amount + 1 WHERE id <= 2")
    db.sql("DELETE FROM item WHERE id = 3")
    db.sql(
        "MERGE INTO item AS t USING (SELECT 1 AS id, 'z' AS name UNION ALL SELECT 6, 'f') AS s "
        "ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET name = s.name "
        "WHEN NOT MATCHED THEN INSERT (id, name, amount) VALUES (s.id, s.name, 60)"
    )
    after = {(1, "z", 11): 1, (2, "b", 21): 1, (4, "d", 7): 1, (5, "e", 50): 1, (6, "f", 60): 1}
    assert rows(db.sql("SELECT * FROM item")) == Counter(after)
    return start


def travelled(db: trickle.Session, start: int) -> None:
    before = Counter({(1, "a", 10): 1, (2, "b", 20): 1, (3, "c", None): 1, (4, "d", 7): 1, (5, "e", 50): 1})
    assert rows(db.table("item", at=start)) == before
    assert rows(db.sql(f"SELECT * FROM item VERSION AS OF {start}")) == before
    feed = {tuple(row.values()) for row in db.changes("item", start, db.head()).toArrow().to_pylist()}
    assert feed == {
        *((1, "a", 10, -1), (1, "z", 11, 1)),
        *((2, "b", 20, -1), (2, "b", 21, 1)),
        *((3, "c", None, -1), (6, "f", 60, 1)),
    }


def typed(db: trickle.Session) -> None:
    columns = ", ".join(f"`{name}` {kind}" for name, (kind, _, _) in TYPES.items())
    values = ", ".join(text for _, text, _ in TYPES.values())
    nulls = ", ".join("NULL" for _ in TYPES)
    db.sql(f"CREATE TABLE everything ({columns})")
    db.sql(f"INSERT INTO everything VALUES ({values}), ({nulls})")
    found = db.sql("SELECT * FROM everything ORDER BY flag NULLS LAST").toArrow().to_pylist()
    assert found == [{name: value for name, (_, _, value) in TYPES.items()}, dict.fromkeys(TYPES)]


def transacted(db: trickle.Session) -> None:
    head = db.head()
    with db.transaction():
        db.sql("CREATE TABLE log (n INT)")
        db.sql("INSERT INTO log SELECT id FROM item")
        db.sql("DELETE FROM item WHERE id = 6")
        assert rows(db.sql("SELECT count(*) FROM log")) == Counter({(5,): 1})
    assert db.head() == head + 1
    db.sql("BEGIN")
    db.sql("TRUNCATE TABLE log")
    db.sql("ROLLBACK")
    assert rows(db.sql("SELECT count(*) FROM log")) == Counter({(5,): 1})


def called(db: trickle.Session) -> None:
    db.sql("CREATE FUNCTION twice(x BIGINT) RETURNS BIGINT RETURN x + x")
    db.create_function("longest", lambda values: values.max(), "BIGINT", aggregate=True)
    db.create_function("letter", lambda id: chr(96 + id), "STRING")
    query = "SELECT longest(twice(amount)) AS n FROM item WHERE letter(id) <> 'e'"
    db.create_stream_table("longest_of", query, refresh_mode="DIFFERENTIAL")
    db.sql("INSERT INTO item VALUES (7, 'g', 100)")
    assert db.refresh_stream_table("longest_of").action == "DIFFERENTIAL"
    assert rows(db.table("longest_of")) == rows(db.sql(query)) == Counter({(200,): 1})
    db.drop_stream_table("longest_of")


def maintained(db: trickle.Session) -> None:
    db.sql("ALTER TABLE item ADD COLUMN note STRING DEFAULT 'n'")
    db.sql("ALTER TABLE item RENAME COLUMN name TO label")
    state = rows(db.table("item"))
    db.rewrite_deletes("item", threshold=0.0)
    db.merge_files("item")
    db.cluster("item", by=["id"])
    db.expire_snapshots(keep=1)
    db.clean_files(grace_seconds=0)
    db.collect_orphans(grace_seconds=0)
    assert rows(db.table("item")) == state


def main() -> None:
    directory, master = sys.argv[1:]
    with trickle.connect(directory, settings={"spark.master": master}) as db:
        smoke(db)
    print("smoke passed")


if __name__ == "__main__":
    main()

"""Real stream tables that say the same in other words, or see the same in other steps, hold the same rows."""

from __future__ import annotations

from collections import Counter

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.testing.effort import Effort
from trickle.testing.lakes import LakeSite

QUERIES = (
    ("SELECT o.cust, count(*) AS n, sum(o.amount) AS s, max(c.region) AS r FROM {0} o JOIN {1} c ON o.cust = c.id "
     "GROUP BY o.cust", True),
    ("SELECT o.id, c.region, rank() OVER (PARTITION BY c.region ORDER BY o.amount) AS r FROM {0} o "
     "JOIN {1} c ON o.cust = c.id", True),
    ("SELECT id, (SELECT count(*) FROM {0} o WHERE o.cust = c.id) AS n FROM {1} c WHERE id NOT IN "
     "(SELECT cust FROM {0} WHERE amount > 40)", False),
    ("SELECT cust FROM {0} UNION SELECT id FROM {1} EXCEPT SELECT amount FROM {0}", False),
)  # fmt: skip
"""Queries of orders {0} and customers {1}, and whether they are joins whose sides may be exchanged."""
ROWS = ("(1, 1, 40)", "(2, 1, 60)", "(3, 2, 60)", "(4, NULL, 5)", "(5, 9, 1)", "(5, 9, 1)")
UPDATES = ((3, "(3, 1, 60)"), (1, "(1, 2, NULL)"), (2, "(2, 9, 40)"))
"""The order that changes, and what it becomes."""

pytestmark = pytest.mark.spark


@pytest.mark.timeout(1800)
def test_said_or_done_otherwise_it_is_the_same(lake_sqlite: LakeSite, quick: SparkSession, effort: Effort) -> None:
    with lake_sqlite.connect(quick) as db:
        for orders in ("o", "twin"):
            db.sql(f"CREATE TABLE {orders} (id INT, cust INT, amount INT)")
            db.sql(f"INSERT INTO {orders} VALUES {', '.join(ROWS)}")
        db.sql("CREATE TABLE c (id INT, region STRING)")
        db.sql("INSERT INTO c VALUES (1, 'north'), (2, NULL), (9, 'south'), (3, 'north')")
        chosen = QUERIES[: effort.of(1, len(QUERIES), len(QUERIES))]
        names = [name for n, (text, joins) in enumerate(chosen) for name in create(db, n, text, joins)]
        for id, row in UPDATES:
            change(db, id, row)
            refresh(db, [name for name in names if not name.startswith("late")])
        refresh(db, [name for name in names if name.startswith("late")])
        for n, (text, _) in enumerate(chosen):
            wanted = Counter(map(tuple, db.sql(text.format("o", "c")).collect()))
            found = {name: held(db, name) for name in names if name.endswith(f"_{n}")}
            assert {name for name, rows in found.items() if rows != wanted} == set(), text
        db.sql("UPDATE o SET amount = amount")
        before = {name: held(db, name) for name in names}
        refresh(db, names)
        assert {name for name in names if held(db, name) != before[name]} == set()


def create(db: trickle.Session, number: int, text: str, is_join: bool) -> list[str]:
    """The query in its own words, wrapped, over a twin that is changed otherwise, and one that is refreshed late."""
    plain = text.format("o", "c")
    forms = {
        "plain": plain,
        "late": plain,
        "twin": text.format("twin", "c"),
        "wrapped": f"SELECT * FROM ({plain}) AS w",
        "cte": f"WITH w AS ({plain}) SELECT * FROM w",
    }
    if is_join:
        forms["exchanged"] = plain.replace("FROM o o JOIN c c", "FROM c c JOIN o o")
    for form, query in forms.items():
        db.create_stream_table(f"{form}_{number}", query, refresh_mode="DIFFERENTIAL")
    return [f"{form}_{number}" for form in forms]


def change(db: trickle.Session, id: int, row: str) -> None:
    """An update of one table; of its twin, a delete and an insert."""
    _, cust, amount = row.strip("()").split(", ")
    db.sql(f"UPDATE o SET cust = {cust}, amount = {amount} WHERE id = {id}")
    with db.transaction():
        db.sql(f"DELETE FROM twin WHERE id = {id}")
        db.sql(f"INSERT INTO twin VALUES {row}")


def refresh(db: trickle.Session, names: list[str]) -> None:
    actions = {name: db.refresh_stream_table(name).action for name in names}
    assert {name: a for name, a in actions.items() if a not in ("DIFFERENTIAL", "NO_DATA")} == {}


def held(db: trickle.Session, name: str) -> Counter[tuple[object, ...]]:
    return Counter(map(tuple, db.table(name).collect()))

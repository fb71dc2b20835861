"""A small table is read, and handed to Spark, once, until it changes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.lake.held import Held
from trickle.lake.model import Bound
from trickle.testing.lakes import LakeSite


@pytest.fixture
def db(lake_sqlite: LakeSite, quick: SparkSession) -> Iterator[trickle.Session]:
    with lake_sqlite.connect(quick) as session:
        session.sql("CREATE TABLE t (id INT, name STRING)")
        session.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        yield session


def state(db: trickle.Session, *bounds: Bound, columns: tuple[str, ...] = ("id", "name")) -> Held:
    from dataclasses import replace

    head = db.lake.head()
    table = db.lake.table("main", "t", head)
    assert table is not None
    narrow = replace(table, columns=tuple(c for c in table.columns if c.name in columns))
    found = db.lake.read_state(narrow, head, bounds)[0]
    assert isinstance(found, Held)
    return found


def ids(db: trickle.Session, held: Held) -> list[int]:
    return sorted(row.id for row in held.frame(db.spark).collect())


@pytest.mark.spark
def test_the_same_rows_are_the_same_frame(db: trickle.Session) -> None:
    first = state(db)
    db.sql("CREATE TABLE other (id INT)")
    assert state(db) is first
    assert state(db).frame(db.spark) is first.frame(db.spark)
    assert state(db, Bound("id", values=(2,))) is first
    assert state(db, columns=("id",)).rows.column_names == ["id"]


@pytest.mark.spark
def test_of_more_rows_those_within_the_bounds_are_handed_over(db: trickle.Session) -> None:
    db.append("t", [{"id": n, "name": str(n)} for n in range(10, 3000)])
    assert ids(db, state(db, Bound("id", values=(2, 2000)))) == [2, 2000]
    assert ids(db, state(db, Bound("id", low=2998), Bound("name", values=("2999", "7")))) == [2999]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("statement", "left"),
    [
        ("INSERT INTO t VALUES (3, 'c')", [1, 2, 3]),
        ("DELETE FROM t WHERE id = 1", [2]),
        ("UPDATE t SET id = 9 WHERE id = 1", [2, 9]),
        ("TRUNCATE TABLE t", []),
    ],
)
def test_what_changed_is_read_again(db: trickle.Session, statement: str, left: list[int]) -> None:
    before = state(db)
    db.sql(statement)
    assert (ids(db, before), ids(db, state(db))) == ([1, 2], left)

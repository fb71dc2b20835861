"""What the driver keeps of files that the lake no longer has: nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.lake import positions
from trickle.testing.lakes import LakeSite

pytestmark = pytest.mark.spark


@pytest.fixture
def db(lake: LakeSite, quick: SparkSession) -> Iterator[trickle.Session]:
    with lake.connect(quick) as session:
        yield session


def kept(db: trickle.Session) -> tuple[set[str], set[str]]:
    """The data files, and the delete files, that something is remembered of."""
    shelf = db.lake.shelf
    columns = (*shelf._columns, *shelf._columns._wishes._counts, *shelf._wholes, *shelf._found)
    data = {path for path, _ in shelf._footers} | {path for (path, _), *_ in columns}
    deletes = {path for root, path in positions._KEPT if root == db.lake.storage.root}
    return data, deletes


def test_files_that_are_removed_are_forgotten_and_the_others_are_not(db: trickle.Session) -> None:
    db.sql("CREATE TABLE t (k INT, v INT)")
    db.sql("CREATE TABLE names (k INT, name STRING)")
    db.append("names", [{"k": k, "name": f"n{k}"} for k in range(5)])
    db.append("t", [{"k": n % 5, "v": n} for n in range(40)])
    query = "SELECT name, SUM(v) AS s, COUNT(*) AS c FROM t JOIN names USING (k) GROUP BY name"
    db.create_stream_table("s", query, refresh_mode="DIFFERENTIAL")
    for n in range(4):
        db.append("t", [{"k": n, "v": 100 + n}])
        db.sql(f"DELETE FROM t WHERE v = {n}")
        db.refresh_stream_table("s")
    data, deletes = kept(db)
    assert data
    assert deletes
    db.merge_files("t")
    db.refresh_stream_table("s")
    db.expire_snapshots(keep=1)
    gone = {removed.path for removed in db.clean_files(grace_seconds=0)}
    assert gone & data
    assert gone & deletes
    data, deletes = kept(db)
    assert not gone & (data | deletes)
    assert data
    assert all(Path(path).exists() for path in data | deletes)
    db.append("t", [{"k": 1, "v": 7}])
    done = db.refresh_stream_table("s")
    assert done.action == "DIFFERENTIAL"
    assert sorted(map(tuple, db.table("s").collect())) == sorted(map(tuple, db.sql(query).collect()))

"""Files merged and rewritten: no state changes, no layout is lost, on every catalog."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.errors import CommitConflict
from trickle.lake.files import live_files
from trickle.lake.maintenance import merging
from trickle.lake.model import DataFile
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite
from trickle.testing.smoke import rows

pytestmark = pytest.mark.spark


def files(db: trickle.Session, name: str = "t") -> list[DataFile]:
    head = db.lake.head()
    table = db.lake.table("main", name, head)
    assert table is not None
    with db.lake.reading() as connection:
        return live_files(db.lake.catalog, connection, table, head.id)


def states(db: trickle.Session, since: int, until: int) -> dict[int, Counter[tuple[Any, ...]]]:
    return {at: rows(db.table("t", at=at)) for at in range(since, until + 1)}


@pytest.fixture
def db(lake: LakeSite, quick: SparkSession) -> Iterator[trickle.Session]:
    with lake.connect(quick) as session:
        yield session


@pytest.fixture
def loaded(db: trickle.Session) -> trickle.Session:
    """A clustered table of three small files that overlap."""
    db.sql("CREATE TABLE t (a INT, b STRING) CLUSTER BY (a)")
    for n in range(3):
        db.append("t", [{"a": 3 * i + n, "b": f"v{n}"} for i in range(20)][::-1])
    return db


def test_a_change_that_was_found_before_is_found_in_the_merged_files(loaded: trickle.Session) -> None:
    lake, head = loaded.lake, loaded.head()
    table = lake.table("main", "t", lake.head())
    assert table is not None

    def where() -> set[int]:
        with lake.reading() as connection:
            found, _ = lake.change_pieces(connection, table, head - 2, head)
        return {piece.file.id for piece in found}

    change, old = rows(loaded.changes("t", head - 2, head)), where()
    assert len(old) == 2 and where() == old
    loaded.merge_files("t")
    assert where() == {file.id for file in files(loaded)} != old
    assert rows(loaded.changes("t", head - 2, head)) == change


def test_merged_files_of_a_clustered_table_stay_clustered(
    loaded: trickle.Session, lake: LakeSite, peer: DuckDBPeer
) -> None:
    head = loaded.head()
    before = states(loaded, head - 2, head)
    [merged] = loaded.merge_files("t")
    assert (merged.files_before, merged.files_after) == (3, 1)
    [file] = files(loaded)
    assert pq.read_table(file.path).column("a").to_pylist() == list(range(60))
    assert states(loaded, head - 2, head) == before
    for at, state in before.items():
        assert peer.rows(lake.address, f"FROM t AT (VERSION => {at})").counts == state


def test_small_files_with_a_few_deleted_rows_are_merged_too(
    loaded: trickle.Session, lake: LakeSite, peer: DuckDBPeer
) -> None:
    loaded.sql("DELETE FROM t WHERE a IN (0, 1, 2)")
    head = loaded.head()
    before = states(loaded, head - 2, head)
    loaded.merge_files("t")
    [file] = files(loaded)
    assert file.delete is None
    assert pq.read_table(file.path).column("a").to_pylist() == list(range(3, 60))
    assert states(loaded, head - 2, head) == before
    assert rows(loaded.changes("t", head - 2, loaded.head())) == rows(loaded.changes("t", head - 2, head))
    assert peer.rows(lake.address, "FROM t").counts == before[head]


def test_a_merge_that_loses_a_race_leaves_nothing_behind(loaded: trickle.Session, lake: LakeSite) -> None:
    head = loaded.lake.head()
    table = loaded.lake.table("main", "t", head)
    assert table is not None
    chosen = merging.runs(loaded.lake, table, head)
    loaded.sql("DELETE FROM t WHERE a = 7")
    there, state = lake.files(), rows(loaded.table("t"))
    with pytest.raises(CommitConflict):
        merging.merge(loaded.lake, table, head, chosen)
    assert lake.files() == there
    assert rows(loaded.table("t")) == state


def test_rewritten_files_have_the_target_size_each_a_range_of_keys(lake_sqlite: LakeSite, quick: SparkSession) -> None:
    with lake_sqlite.connect(quick, lake__target_file_mb=1) as db:
        db.sql("CREATE TABLE t (a BIGINT, b DOUBLE, c DOUBLE) CLUSTER BY (a)")
        db.append("t", quick.sql("SELECT id AS a, rand(7) AS b, rand(8) AS c FROM range(0, 160000, 1, 1)"))
        db.sql("DELETE FROM t WHERE a % 4 = 0")
        [rewritten] = db.rewrite_deletes("t")
        assert rewritten.files_before == 1 < rewritten.files_after
        found = [pq.read_table(f.path).column("a").to_pylist() for f in files(db)]
        assert sum(map(len, found)) == 120_000
        edges = sorted((keys[0], keys[-1]) for keys in found)
        assert all(high < low for (_, high), (low, _) in itertools.pairwise(edges))

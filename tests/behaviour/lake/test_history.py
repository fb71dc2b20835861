"""Time travel, change feed, provenance and maintenance, on every catalog."""

from __future__ import annotations

from importlib.metadata import version

import pytest

import trickle
from trickle.errors import HistoryExpired, NotFound
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite
from trickle.testing.smoke import rows

pytestmark = pytest.mark.spark


@pytest.fixture
def past(db: trickle.Session) -> trickle.Session:
    """Snapshots: created, three rows in, one changed, one deleted."""
    db.sql("CREATE TABLE t (a INT, b STRING)")
    db.sql("INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')")
    db.sql("UPDATE t SET b = 'Y' WHERE a = 2")
    db.sql("DELETE FROM t WHERE a = 1")
    return db


def test_every_snapshot_can_be_read_by_number_and_by_time(past: trickle.Session) -> None:
    head = past.head()
    expected = {
        head - 3: {},
        head - 2: {(1, "x"): 1, (2, "y"): 1, (3, "z"): 1},
        head - 1: {(1, "x"): 1, (2, "Y"): 1, (3, "z"): 1},
        head: {(2, "Y"): 1, (3, "z"): 1},
    }
    times = {snapshot.id: snapshot.time for snapshot in past.snapshots()}
    for snapshot, state in expected.items():
        assert rows(past.table("t", at=snapshot)) == state
        assert rows(past.sql(f"SELECT * FROM t VERSION AS OF {snapshot}")) == state
        moment = times[snapshot].isoformat(sep=" ")
        assert rows(past.sql(f"SELECT * FROM t TIMESTAMP AS OF '{moment}'")) == state


def test_one_query_can_read_two_times(past: trickle.Session) -> None:
    head = past.head()
    query = f"SELECT old.b, new.b FROM t VERSION AS OF {head - 2} AS old JOIN t AS new ON old.a = new.a"
    assert [tuple(row) for row in past.sql(query + " ORDER BY 1").collect()] == [("y", "Y"), ("z", "z")]


def test_a_table_has_no_state_before_it_was_made(past: trickle.Session) -> None:
    with pytest.raises(NotFound):
        past.table("t", at=0)
    with pytest.raises(NotFound):
        past.sql("SELECT * FROM t TIMESTAMP AS OF '1999-01-01'")


def test_the_feed_is_the_net_change(past: trickle.Session) -> None:
    head = past.head()
    assert rows(past.changes("t", head - 2, head)) == {(1, "x", -1): 1, (2, "y", -1): 1, (2, "Y", 1): 1}
    assert rows(past.changes("t", 0, head)) == {(2, "Y", 1): 1, (3, "z", 1): 1}
    assert rows(past.changes("t", head, head)) == {}
    assert dict(past.changes("t", 0, head).dtypes)["__w"] == "bigint"


def test_a_row_that_left_and_returned_is_no_change(past: trickle.Session) -> None:
    head = past.head()
    past.sql("DELETE FROM t WHERE a = 3")
    past.sql("INSERT INTO t VALUES (3, 'z'), (3, 'z')")
    assert rows(past.changes("t", head, past.head())) == {(3, "z", 1): 1}


def test_the_feed_has_the_columns_of_its_end(past: trickle.Session) -> None:
    start = past.head()
    past.sql("ALTER TABLE t ADD COLUMN c INT DEFAULT 7")
    past.sql("ALTER TABLE t RENAME COLUMN b TO label")
    past.sql("DELETE FROM t WHERE a = 3")
    feed = past.changes("t", start, past.head())
    assert feed.columns == ["a", "label", "c", "__w"]
    assert rows(feed) == {(3, "z", 7, -1): 1}
    past.sql("ALTER TABLE t DROP COLUMN label")
    assert rows(past.changes("t", start, past.head())) == {(3, 7, -1): 1}


def test_maintenance_changes_files_and_nothing_else(past: trickle.Session, lake: LakeSite, peer: DuckDBPeer) -> None:
    for n in range(5):
        past.append("t", [{"a": 10 + n, "b": "n"}])
    past.sql("DELETE FROM t WHERE a = 12")
    head, state = past.head(), rows(past.table("t"))
    past_states = {at: rows(past.table("t", at=at)) for at in range(head - 4, head + 1)}
    past.rewrite_deletes("t", threshold=0.0)
    past.merge_files("t")
    past.cluster("t", by=["a"])
    past.clean_files(grace_seconds=0)
    past.collect_orphans(grace_seconds=0)
    assert rows(past.table("t")) == state
    assert {at: rows(past.table("t", at=at)) for at in past_states} == past_states
    assert rows(past.changes("t", head, past.head())) == {}
    assert peer.rows(lake.address, "FROM t").counts == state


def test_merging_leaves_fewer_files_to_read(past: trickle.Session) -> None:
    for n in range(6):
        past.append("t", [{"a": 10 + n, "b": "n"}])
    before = len(past.table("t").inputFiles())
    past.merge_files("t")
    assert len(past.table("t").inputFiles()) < before


def test_expired_snapshots_say_so_and_protected_ones_stay(past: trickle.Session, lake: LakeSite) -> None:
    head = past.head()
    past.protect_snapshot(head - 2, "a reader")
    state = rows(past.table("t", at=head - 2))
    files = lake.files()
    assert past.expire_snapshots(keep=1, dry_run=True)
    assert rows(past.table("t", at=head - 3)) == {}
    past.expire_snapshots(keep=1)
    past.clean_files(grace_seconds=0)
    with pytest.raises((HistoryExpired, NotFound)):
        past.table("t", at=head - 3)
    assert rows(past.table("t", at=head - 2)) == state
    past.release_snapshot(head - 2, "a reader")
    past.expire_snapshots(keep=1)
    past.clean_files(grace_seconds=0)
    with pytest.raises((HistoryExpired, NotFound)):
        past.table("t", at=head - 2)
    with pytest.raises((HistoryExpired, NotFound)):
        past.changes("t", head - 2, head)
    assert rows(past.table("t")) == {(2, "Y"): 1, (3, "z"): 1}
    assert lake.files() < files


def test_orphans_are_collected_when_they_are_old_enough(past: trickle.Session, lake: LakeSite) -> None:
    known = lake.files()
    orphan = next(iter(known)).with_name("orphan.parquet")
    orphan.write_bytes(b"left behind")
    past.collect_orphans(grace_seconds=3600)
    assert orphan.exists()
    assert past.collect_orphans(grace_seconds=0, dry_run=True)
    assert orphan.exists()
    past.collect_orphans(grace_seconds=0)
    assert lake.files() == known


def test_a_snapshot_tells_who_made_it(past: trickle.Session) -> None:
    newest = max(past.snapshots(), key=lambda snapshot: snapshot.id)
    assert newest.author == f"trickle/{version('spark-trickle')}"
    assert newest.changes

"""Several statements, one snapshot: transactions on every catalog."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.errors import CommitConflict, QueryError
from trickle.lake.commit import Committer
from trickle.lake.deleting import Deleting
from trickle.lake.draft import Draft
from trickle.testing.lakes import LakeSite
from trickle.testing.smoke import rows

pytestmark = pytest.mark.spark


@pytest.fixture
def bank(db: trickle.Session) -> trickle.Session:
    db.sql("CREATE TABLE account (k STRING, n INT)")
    db.sql("CREATE TABLE log (what STRING)")
    db.sql("INSERT INTO account VALUES ('a', 10), ('b', 0)")
    return db


def transfer(db: trickle.Session) -> None:
    db.sql("UPDATE account SET n = n - 5 WHERE k = 'a'")
    db.sql("UPDATE account SET n = n + 5 WHERE k = 'b'")
    db.sql("INSERT INTO log VALUES ('transfer')")


MOVED = {("a", 5): 1, ("b", 5): 1}
STILL = {("a", 10): 1, ("b", 0): 1}


def test_a_transaction_is_one_snapshot_over_many_tables(bank: trickle.Session) -> None:
    head = bank.head()
    with bank.transaction():
        transfer(bank)
    assert bank.head() == head + 1
    assert rows(bank.table("account")) == MOVED
    assert rows(bank.table("account", at=head)) == STILL
    assert rows(bank.changes("log", head, head + 1)) == {("transfer", 1): 1}


def test_reads_inside_see_its_writes_and_reads_outside_do_not(
    bank: trickle.Session, lake: LakeSite, spark: SparkSession
) -> None:
    with lake.connect(spark) as other:
        bank.sql("BEGIN")
        transfer(bank)
        bank.sql("CREATE TABLE fresh AS SELECT * FROM account WHERE k = 'b'")
        bank.sql("DELETE FROM fresh WHERE n = 0")
        assert rows(bank.table("account")) == MOVED
        assert rows(bank.sql("SELECT * FROM fresh")) == {("b", 5): 1}
        assert rows(other.table("account")) == STILL
        bank.sql("COMMIT")
        assert rows(other.table("account")) == MOVED


def test_rollback_and_errors_undo_everything(bank: trickle.Session, lake: LakeSite) -> None:
    head, files = bank.head(), lake.files()
    bank.sql("BEGIN")
    transfer(bank)
    bank.sql("ROLLBACK")
    with pytest.raises(ZeroDivisionError), bank.transaction():
        transfer(bank)
        raise ZeroDivisionError
    assert bank.head() == head
    assert rows(bank.table("account")) == STILL
    bank.collect_orphans(grace_seconds=0)
    assert lake.files() == files


def test_rows_that_come_and_go_inside_leave_no_change(bank: trickle.Session) -> None:
    head = bank.head()
    with bank.transaction():
        bank.sql("INSERT INTO log VALUES ('x'), ('y')")
        bank.sql("DELETE FROM log WHERE what = 'x'")
        bank.sql("UPDATE log SET what = 'z' WHERE what = 'y'")
    assert rows(bank.table("log")) == {("z",): 1}
    assert rows(bank.changes("log", head, bank.head())) == {("z", 1): 1}


def test_schema_changes_belong_to_the_transaction(bank: trickle.Session) -> None:
    with bank.transaction():
        bank.sql("ALTER TABLE account ADD COLUMN note STRING DEFAULT 'n'")
        bank.sql("INSERT INTO account VALUES ('c', 1, 'new')")
        bank.sql("UPDATE account SET note = 'old' WHERE k = 'a'")
        bank.sql("ALTER TABLE account RENAME COLUMN n TO amount")
    assert rows(bank.table("account")) == {("a", 10, "old"): 1, ("b", 0, "n"): 1, ("c", 1, "new"): 1}
    bank.sql("BEGIN")
    bank.sql("DROP TABLE log")
    bank.sql("ROLLBACK")
    assert rows(bank.table("log")) == {}


def test_transactions_do_not_nest(bank: trickle.Session) -> None:
    with bank.transaction():
        with pytest.raises(QueryError):
            bank.sql("BEGIN")
        bank.sql("INSERT INTO log VALUES ('still here')")
    assert rows(bank.table("log")) == {("still here",): 1}


def test_two_that_change_the_same_rows_cannot_both_win(
    bank: trickle.Session, lake: LakeSite, spark: SparkSession
) -> None:
    with lake.connect(spark) as other:
        bank.sql("BEGIN")
        bank.sql("UPDATE account SET n = n + 1 WHERE k = 'a'")
        other.sql("UPDATE account SET n = n + 100 WHERE k = 'a'")
        with pytest.raises(CommitConflict) as caught:
            bank.sql("COMMIT")
        assert caught.value.hint
        assert rows(bank.table("account")) == {("a", 110): 1, ("b", 0): 1}


def test_two_that_only_append_both_win(bank: trickle.Session, lake: LakeSite, spark: SparkSession) -> None:
    with lake.connect(spark) as other:
        bank.sql("BEGIN")
        bank.sql("INSERT INTO log VALUES ('mine')")
        other.sql("INSERT INTO log VALUES ('theirs')")
        bank.sql("COMMIT")
        assert rows(other.table("log")) == {("mine",): 1, ("theirs",): 1}


def test_a_table_dropped_in_a_transaction_may_come_back_in_it(bank: trickle.Session) -> None:
    with bank.transaction():
        bank.sql("DROP TABLE log")
        bank.sql("CREATE TABLE log (word STRING)")
        bank.sql("INSERT INTO log VALUES ('again')")
        assert bank.sql("SELECT * FROM log").toArrow().to_pylist() == [{"word": "again"}]
    assert bank.table("log").toArrow().to_pylist() == [{"word": "again"}]


def test_deletes_that_were_written_for_a_number_which_another_commit_took_tell_their_own(
    db: trickle.Session, lake: LakeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.sql("CREATE TABLE t AS SELECT id FROM range(0, 100, 1, 1)")
    db.sql("CREATE TABLE other (id INT)")
    db.sql("DELETE FROM t WHERE id < 10")
    finish = Committer.finish

    def outrun(committer: Committer, draft: Draft, deleting: Deleting) -> int:
        monkeypatch.setattr(Committer, "finish", finish)
        db.append("other", [{"id": 1}])
        return committer.finish(draft, deleting)

    for start, outruns in ((20, True), (30, False)):
        before = db.head()
        if outruns:
            monkeypatch.setattr(Committer, "finish", outrun)
        db.sql(f"DELETE FROM t WHERE id BETWEEN {start} AND {start + 1}")
        own = before + 1 + outruns
        assert db.head() == own
        assert rows(db.changes("t", start=before, end=own - 1)) == {}
        assert rows(db.changes("t", start=own - 1)) == {(start, -1): 1, (start + 1, -1): 1}
    assert db.table("t").count() == 86
    assert len([path for path in lake.files() if "delete" in path.name]) == 3, "what was written in vain is gone"

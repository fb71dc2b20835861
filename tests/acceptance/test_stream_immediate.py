"""IMMEDIATE tables change with the transaction that changes their sources, and with it are undone."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.errors import CommitConflict
from trickle.testing.effort import Effort
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = [pytest.mark.spark, pytest.mark.timeout(3600)]

TRANSACTIONS = (24, 200, 2000)
SEED = 5
TWINS = {
    "groups": "SELECT k, count(*) AS n, sum(x) AS x, max(x) AS top FROM a GROUP BY k",
    "pairs": "SELECT a.x, b.y FROM a JOIN b ON a.k = b.k WHERE a.x > 40",
}


@pytest.fixture
def stage(lake_sqlite: LakeSite, quick: SparkSession) -> Iterator[Stage]:
    with lake_sqlite.connect(quick) as db:
        stage = Stage(db)
        stage.change(
            "CREATE TABLE a (k INT, x INT)",
            "CREATE TABLE b (k INT, y STRING)",
            "INSERT INTO a VALUES (1, 10), (2, 50), (2, 50), (NULL, 60)",
            "INSERT INTO b VALUES (1, 'p'), (2, 'q')",
        )
        yield stage


def test_immediate_and_differential_agree_after_many_transactions(stage: Stage, effort: Effort) -> None:
    for name, query in TWINS.items():
        stage.stream(f"now_{name}", query, refresh_mode="IMMEDIATE")
        stage.stream(f"later_{name}", query)
    rng = Random(SEED)
    total = effort.of(*TRANSACTIONS)
    for number in range(1, total + 1):
        transact(stage.db, rng, number)
        if number % (total // 4) == 0:
            for name, query in TWINS.items():
                assert stage.rows(f"now_{name}") == stage.refreshed(f"later_{name}"), f"transaction {number}"
                stage.agrees(f"now_{name}", query)


def transact(db: trickle.Session, rng: Random, number: int) -> None:
    """One or two statements; every eighth transaction is rolled back and leaves the lake as it was."""
    head = db.head()
    db.sql("BEGIN")
    for _ in range(rng.randint(1, 2)):
        change(db, rng)
    db.sql("ROLLBACK" if number % 8 == 0 else "COMMIT")
    if number % 8 == 0:
        assert db.head() == head


def change(db: trickle.Session, rng: Random) -> None:
    key = rng.choice([1, 2, 3, 4, None])
    kind = rng.random()
    if kind < 0.5:
        db.append("a", [{"k": key, "x": rng.randint(0, 99)} for _ in range(rng.randint(1, 3))])
    elif kind < 0.6:
        db.append("b", [{"k": key, "y": rng.choice("pqr")}])
    elif kind < 0.75:
        db.sql(f"DELETE FROM a WHERE x % 20 = {rng.randint(0, 19)}")
    elif kind < 0.9:
        db.sql(f"UPDATE a SET k = {rng.randint(1, 4)}, x = x + 1 WHERE x % 15 = {rng.randint(0, 14)}")
    else:
        db.sql(f"DELETE FROM b WHERE k = {rng.randint(1, 4)}")


def test_a_chain_of_immediate_tables_moves_in_one_commit(stage: Stage) -> None:
    stage.stream("groups", TWINS["groups"], refresh_mode="IMMEDIATE")
    stage.stream("named", "SELECT b.y, g.n FROM groups g LEFT JOIN b ON b.k = g.k", refresh_mode="IMMEDIATE")
    stage.stream("total", "SELECT count(*) AS n, sum(n) AS rows FROM named", refresh_mode="IMMEDIATE")
    before = stage.db.head()
    stage.change("INSERT INTO a VALUES (3, 1), (3, 2)", "UPDATE b SET k = 3 WHERE k = 1", "DELETE FROM a WHERE k = 2")
    assert stage.db.head() == before + 1
    assert stage.rows("groups") == [(1, 1, 10, 10), (3, 2, 3, 2), (None, 1, 60, 60)]
    assert stage.rows("named") == [("p", 2), (None, 1), (None, 1)]
    assert stage.rows("total") == [(3, 4)]
    statuses = stage.db.stream_table_status()
    assert {(s.data_snapshot, s.snapshot, s.lag_seconds) for s in statuses} == {(before + 1, before + 1, 0.0)}
    assert {h.initiated_by for h in stage.db.refresh_history(limit=3)} == {"transaction"}


def test_a_rollback_and_a_failure_leave_all_of_them_untouched(stage: Stage, lake_sqlite: LakeSite) -> None:
    stage.stream("groups", TWINS["groups"], refresh_mode="IMMEDIATE")
    stage.stream("ratios", "SELECT k, 100 DIV x AS ratio FROM a WHERE x <> 7", refresh_mode="IMMEDIATE")
    stage.stream("guarded", "SELECT CASE WHEN x < 0 THEN raise_error('negative') ELSE x END AS x FROM a")
    stage.db.alter_stream_table("guarded", refresh_mode="IMMEDIATE")
    kept = {name: stage.rows(name) for name in ("groups", "ratios", "guarded")}
    head, files = stage.db.head(), lake_sqlite.files()
    with pytest.raises(ZeroDivisionError), stage.db.transaction():
        stage.db.sql("DELETE FROM a WHERE k = 2")
        raise ZeroDivisionError
    with pytest.raises(trickle.TrickleError, match="guarded"):
        stage.db.sql("INSERT INTO a VALUES (1, -5)")
    assert (stage.db.head(), lake_sqlite.files()) == (head, files)
    assert {name: stage.rows(name) for name in kept} == kept
    stage.db.sql("INSERT INTO a VALUES (9, 1)")
    assert stage.rows("groups")[2] == (9, 1, 1, 1)


def test_a_transaction_sees_its_own_effect_on_an_immediate_table(stage: Stage) -> None:
    stage.stream("groups", "SELECT k, count(*) AS n FROM a GROUP BY k", refresh_mode="IMMEDIATE")
    with stage.db.transaction():
        stage.db.sql("INSERT INTO a VALUES (1, 1)")
        assert stage.rows("groups") == [(1, 2), (2, 2), (None, 1)]
        stage.db.sql("DELETE FROM a WHERE k = 2")
        assert stage.rows("groups") == [(1, 2), (None, 1)]
        stage.db.sql("INSERT INTO a VALUES (5, 5)")
    assert stage.rows("groups") == [(1, 2), (5, 1), (None, 1)]


def test_writers_that_meet_at_one_immediate_table_do_not_lose_a_change(
    stage: Stage, lake_sqlite: LakeSite, spark: SparkSession
) -> None:
    stage.stream("pairs", "SELECT a.x, b.y FROM a JOIN b ON a.k = b.k", refresh_mode="IMMEDIATE")
    with lake_sqlite.connect(spark) as other:
        stage.db.sql("BEGIN")
        stage.db.sql("INSERT INTO a VALUES (1, 99)")
        other.sql("INSERT INTO b VALUES (1, 'z')")
        with pytest.raises(CommitConflict):
            stage.db.sql("COMMIT")
        stage.db.sql("INSERT INTO a VALUES (1, 99)")
    stage.agrees("pairs", "SELECT a.x, b.y FROM a JOIN b ON a.k = b.k")

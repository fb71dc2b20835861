"""The classic traps of incremental maintenance, each sprung once."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession

from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage, in_order

pytestmark = pytest.mark.spark


@pytest.fixture
def stage(lake_sqlite: LakeSite, quick: SparkSession) -> Iterator[Stage]:
    with lake_sqlite.connect(quick) as db:
        yield Stage(db)


def two_tables(stage: Stage) -> None:
    stage.change(
        "CREATE TABLE l (id INT, k INT)",
        "CREATE TABLE r (k INT, v STRING)",
        "INSERT INTO l VALUES (1, 10), (2, 20)",
        "INSERT INTO r VALUES (10, 'a'), (20, 'b')",
    )


def test_a_join_key_changes_while_its_partner_is_deleted(stage: Stage) -> None:
    two_tables(stage)
    stage.stream("inner_pairs", "SELECT l.id, r.v FROM l JOIN r ON l.k = r.k")
    stage.stream("left_pairs", "SELECT l.id, r.v FROM l LEFT JOIN r ON l.k = r.k")
    stage.change("UPDATE l SET k = 20 WHERE id = 1", "DELETE FROM r WHERE k = 10")
    assert stage.refreshed("inner_pairs") == [(1, "b"), (2, "b")]
    assert stage.refreshed("left_pairs") == [(1, "b"), (2, "b")]
    stage.change("UPDATE l SET k = 30 WHERE id = 2", "DELETE FROM r WHERE k = 20", "INSERT INTO r VALUES (30, 'c')")
    assert stage.refreshed("inner_pairs") == [(2, "c")]
    assert stage.refreshed("left_pairs") == [(1, None), (2, "c")]


def test_both_partners_of_a_join_are_deleted_together(stage: Stage) -> None:
    two_tables(stage)
    stage.stream("pairs", "SELECT l.id, r.v FROM l FULL JOIN r ON l.k = r.k")
    stage.change("DELETE FROM l WHERE k = 10", "DELETE FROM r WHERE k = 10")
    assert stage.refreshed("pairs") == [(2, "b")]


def test_null_join_keys_match_nothing(stage: Stage) -> None:
    two_tables(stage)
    for kind in ("inner", "left", "full"):
        stage.stream(f"{kind}_pairs", f"SELECT l.id, r.v FROM l {kind} JOIN r ON l.k = r.k")
    stage.change("INSERT INTO l VALUES (3, NULL)", "INSERT INTO r VALUES (NULL, 'n')")
    pairs = [(1, "a"), (2, "b")]
    assert stage.refreshed("inner_pairs") == pairs
    assert stage.refreshed("left_pairs") == [*pairs, (3, None)]
    assert stage.refreshed("full_pairs") == [*pairs, (3, None), (None, "n")]
    stage.change("UPDATE l SET k = 10 WHERE id = 3", "UPDATE r SET k = 20 WHERE v = 'n'")
    assert stage.refreshed("inner_pairs") == [*pairs[:1], (2, "b"), (2, "n"), (3, "a")]
    assert stage.refreshed("left_pairs") == [*pairs[:1], (2, "b"), (2, "n"), (3, "a")]
    assert stage.refreshed("full_pairs") == [*pairs[:1], (2, "b"), (2, "n"), (3, "a")]


def test_a_sum_over_nothing_but_nulls_is_null(stage: Stage) -> None:
    stage.change(
        "CREATE TABLE t (k INT, x INT, y DOUBLE)",
        "INSERT INTO t VALUES (1, NULL, NULL), (1, NULL, NULL), (2, 5, 0.5), (2, NULL, NULL)",
    )
    stage.stream("sums", "SELECT k, sum(x) AS x, avg(y) AS y, count(x) AS n FROM t GROUP BY k")
    assert stage.rows("sums") == [(1, None, None, 0), (2, 5, 0.5, 1)]
    stage.change("DELETE FROM t WHERE x = 5", "INSERT INTO t VALUES (1, 0, 0)")
    assert stage.refreshed("sums") == [(1, 0, 0.0, 1), (2, None, None, 0)]
    stage.change("DELETE FROM t WHERE k = 1 AND x = 0")
    assert stage.refreshed("sums") == [(1, None, None, 0), (2, None, None, 0)]


def test_a_group_disappears_and_returns(stage: Stage) -> None:
    stage.change("CREATE TABLE t (k STRING, x INT)", "INSERT INTO t VALUES ('a', 1), ('b', 2), (NULL, 3)")
    stage.stream("groups", "SELECT k, count(*) AS n, sum(x) AS x FROM t GROUP BY k")
    stage.change("DELETE FROM t WHERE k = 'a' OR k IS NULL")
    assert stage.refreshed("groups") == [("b", 1, 2)]
    stage.change("INSERT INTO t VALUES ('a', 7), (NULL, 8), (NULL, 9)")
    assert stage.refreshed("groups") == in_order(("a", 1, 7), ("b", 1, 2), (None, 2, 17))


def test_the_groups_of_an_aggregate_without_keys_are_always_one(stage: Stage) -> None:
    stage.change("CREATE TABLE t (x INT)", "INSERT INTO t VALUES (4)")
    stage.stream("total", "SELECT count(*) AS n, sum(x) AS x, max(x) AS top FROM t")
    stage.change("DELETE FROM t WHERE true")
    assert stage.refreshed("total") == [(0, None, None)]
    stage.change("INSERT INTO t VALUES (1), (2)")
    assert stage.refreshed("total") == [(2, 3, 2)]


def test_an_extremum_is_deleted_and_one_that_is_none(stage: Stage) -> None:
    stage.change("CREATE TABLE t (k INT, x INT)", "INSERT INTO t VALUES (1, 5), (1, 7), (1, 9), (1, 9), (2, 3)")
    stage.stream("ends", "SELECT k, min(x) AS low, max(x) AS high FROM t GROUP BY k")
    stage.change("DELETE FROM t WHERE x = 7")
    assert stage.refreshed("ends") == [(1, 5, 9), (2, 3, 3)]
    stage.change("DELETE FROM t WHERE x = 9", "INSERT INTO t VALUES (2, 4)")
    assert stage.refreshed("ends") == [(1, 5, 5), (2, 3, 4)]
    stage.change("UPDATE t SET x = 6 WHERE x = 5", "UPDATE t SET x = NULL WHERE x = 3")
    assert stage.refreshed("ends") == [(1, 6, 6), (2, 4, 4)]


def test_having_crosses_its_threshold_both_ways(stage: Stage) -> None:
    stage.change("CREATE TABLE t (k INT, x INT)", "INSERT INTO t VALUES (1, 1), (1, 2), (2, 1)")
    stage.stream("large", "SELECT k, sum(x) AS x FROM t GROUP BY k HAVING count(*) >= 2")
    stage.stream("behind", "SELECT count(*) AS n, sum(x) AS x FROM large")
    assert stage.rows("large") == [(1, 3)]
    stage.change("INSERT INTO t VALUES (2, 5)", "DELETE FROM t WHERE k = 1 AND x = 1")
    assert stage.refreshed("large") == [(2, 6)]
    assert stage.refreshed("behind") == [(1, 6)]
    stage.change("INSERT INTO t VALUES (1, 10)", "DELETE FROM t WHERE k = 2 AND x = 5")
    assert stage.refreshed("large") == [(1, 12)]
    assert stage.refreshed("behind") == [(1, 12)]


def test_the_padding_of_an_outer_join_appears_and_disappears(stage: Stage) -> None:
    two_tables(stage)
    stage.stream("padded", "SELECT l.id, r.k, r.v FROM l FULL JOIN r ON l.k = r.k AND r.v <> 'z'")
    stage.change("UPDATE r SET v = 'z' WHERE k = 10")
    assert stage.refreshed("padded") == in_order((1, None, None), (None, 10, "z"), (2, 20, "b"))
    stage.change("INSERT INTO r VALUES (10, 'x'), (10, 'y')")
    assert stage.refreshed("padded") == in_order((1, 10, "x"), (1, 10, "y"), (None, 10, "z"), (2, 20, "b"))
    stage.change("DELETE FROM r WHERE v = 'x'")
    assert stage.refreshed("padded") == in_order((1, 10, "y"), (None, 10, "z"), (2, 20, "b"))
    stage.change("DELETE FROM l WHERE id = 1", "DELETE FROM r WHERE v = 'z'")
    assert stage.refreshed("padded") == in_order((None, 10, "y"), (2, 20, "b"))


def test_distinct_counts_how_often_a_row_is_there(stage: Stage) -> None:
    stage.change("CREATE TABLE t (id INT, x STRING)", "INSERT INTO t VALUES (1, 'a'), (2, 'a'), (3, NULL), (4, NULL)")
    stage.stream("kinds", "SELECT DISTINCT x FROM t")
    stage.change("DELETE FROM t WHERE id IN (1, 3)")
    assert stage.refreshed("kinds") == in_order(("a",), (None,))
    stage.change("DELETE FROM t WHERE id IN (2, 4)", "INSERT INTO t VALUES (5, 'b'), (6, 'b')")
    assert stage.refreshed("kinds") == [("b",)]


def test_a_source_is_truncated_and_filled_again_in_one_transaction(stage: Stage) -> None:
    stage.change("CREATE TABLE t (k INT, x INT)", "INSERT INTO t VALUES (1, 1), (1, 2), (2, 3)")
    stage.stream("groups", "SELECT k, count(*) AS n, max(x) AS x FROM t GROUP BY k")
    stage.stream("copied", "SELECT x, k FROM t")
    stage.change("TRUNCATE TABLE t", "INSERT INTO t VALUES (1, 2), (3, 4)")
    assert stage.refreshed("groups") == [(1, 1, 2), (3, 1, 4)]
    assert stage.refreshed("copied") == [(2, 1), (4, 3)]
    stage.change("TRUNCATE TABLE t")
    assert stage.refreshed("groups") == []
    assert stage.refreshed("copied") == []


def test_one_of_identical_rows_is_deleted(stage: Stage, lake_sqlite: LakeSite, peer: DuckDBPeer) -> None:
    stage.change("CREATE TABLE t (k INT, x STRING)", "INSERT INTO t VALUES (1, 'a'), (1, 'a'), (1, 'a'), (NULL, NULL)")
    stage.stream("copied", "SELECT k, x FROM t")
    stage.stream("counted", "SELECT k, x, count(*) AS n FROM t GROUP BY k, x")
    peer.run(lake_sqlite.address, "DELETE FROM t WHERE rowid = (SELECT min(rowid) FROM t WHERE k = 1)")
    assert stage.refresh("copied").rows_deleted == 1
    assert stage.rows("copied") == in_order((1, "a"), (1, "a"), (None, None))
    assert stage.refreshed("counted") == in_order((1, "a", 2), (None, None, 1))


def test_the_count_of_an_empty_correlated_set_is_zero(stage: Stage) -> None:
    two_tables(stage)
    stage.stream("counts", "SELECT l.id, (SELECT count(*) FROM r WHERE r.k = l.k) AS n FROM l")
    assert stage.rows("counts") == [(1, 1), (2, 1)]
    stage.change("DELETE FROM r WHERE k = 10", "INSERT INTO l VALUES (3, NULL), (4, 99)")
    assert stage.refreshed("counts") == [(1, 0), (2, 1), (3, 0), (4, 0)]
    stage.change("INSERT INTO r VALUES (99, 'x'), (99, 'y'), (NULL, 'z')")
    assert stage.refreshed("counts") == [(1, 0), (2, 1), (3, 0), (4, 2)]


def test_not_in_follows_a_null_that_comes_and_goes(stage: Stage) -> None:
    two_tables(stage)
    stage.stream("others", "SELECT id FROM l WHERE k NOT IN (SELECT k FROM r WHERE v <> 'b')")
    assert stage.rows("others") == [(2,)]
    stage.change("INSERT INTO r VALUES (NULL, 'n')")
    assert stage.refreshed("others") == []
    stage.change("DELETE FROM r WHERE v IN ('n', 'a')", "INSERT INTO l VALUES (3, NULL)")
    assert stage.refreshed("others") == [(1,), (2,), (3,)]


def test_a_change_that_comes_and_goes_between_refreshes_is_none(stage: Stage) -> None:
    two_tables(stage)
    stage.stream("pairs", "SELECT l.id, r.v FROM l JOIN r ON l.k = r.k")
    stage.change("INSERT INTO l VALUES (3, 10)")
    stage.change("DELETE FROM l WHERE id = 3")
    assert stage.db.refresh_stream_table("pairs").action == "NO_DATA"
    assert stage.rows("pairs") == [(1, "a"), (2, "b")]


def test_seventy_columns_are_carried(stage: Stage) -> None:
    columns = [f"c{n}" for n in range(70)]
    row = ", ".join(str(n) for n in range(70))
    stage.change(
        f"CREATE TABLE wide ({', '.join(f'{c} INT' for c in columns)})", f"INSERT INTO wide VALUES ({row}), ({row})"
    )
    stage.stream("copied", "SELECT * FROM wide")
    stage.stream("summed", f"SELECT c0, {', '.join(f'sum({c}) AS {c}' for c in columns[1:])} FROM wide GROUP BY c0")
    stage.change(f"INSERT INTO wide VALUES ({row})", "UPDATE wide SET c69 = NULL WHERE c0 = 0")
    values = tuple(range(69))
    assert stage.refreshed("copied") == [(*values, None)] * 3
    assert stage.refreshed("summed") == [(0, *(3 * n for n in values[1:]), None)]


def test_quoted_mixed_case_and_unicode_names_are_kept(stage: Stage, lake_sqlite: LakeSite, peer: DuckDBPeer) -> None:
    stage.change(
        "CREATE SCHEMA `Größen`",
        "CREATE TABLE `Größen`.`Ware n` (`Stück Zahl` INT, `select` STRING, `a``b` DECIMAL(5, 2))",
        "INSERT INTO `Größen`.`Ware n` VALUES (1, 'ä', 1.50), (2, 'ß', 2.50)",
    )
    stage.stream(
        "`Größen`.`Mein Strom`",
        """SELECT `select` AS `日本`, sum(`Stück Zahl`) AS `Sum of"all`, max(`a``b`) AS `a.b`
           FROM `Größen`.`Ware n` GROUP BY 1""",
    )
    stage.stream(
        "`Über Strom`", """SELECT `日本`, `a.b` + 1 AS `Next` FROM `größen`.`mein strom` WHERE `sum of"all` > 1"""
    )
    stage.change(
        "INSERT INTO `Größen`.`Ware n` VALUES (5, 'ä', 9.99)",
        "UPDATE `Größen`.`Ware n` SET `select` = 'ö' WHERE `select` = 'ß'",
    )
    assert stage.refreshed("`Größen`.`Mein Strom`") == in_order(("ä", 6, Decimal("9.99")), ("ö", 2, Decimal("2.50")))
    assert stage.refreshed("`über STROM`") == in_order(("ä", Decimal("10.99")), ("ö", Decimal("3.50")))
    assert stage.db.table("`über strom`").columns == ["日本", "Next"]
    read = peer.rows(lake_sqlite.address, 'FROM "Größen"."Mein Strom"')
    assert read.names == ("日本", 'Sum of"all', "a.b")
    assert sum(read.counts.values()) == 2

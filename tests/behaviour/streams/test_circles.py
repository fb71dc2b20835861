"""Stream tables that read one another in a circle: one fixpoint, one commit; DuckDB is the judge."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest
from pyspark.sql import SparkSession

from trickle.errors import CycleDetected, DependentsExist, QueryError
from trickle.refresh.result import RefreshResult
from trickle.testing.effort import Effort
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

REACHED = """WITH RECURSIVE reached(a, b) AS (
    SELECT a, b FROM edges UNION SELECT r.a, e.b FROM reached r JOIN edges e ON r.b = e.a
)"""
ORACLE = {
    "reach": f"{REACHED} SELECT DISTINCT a, b FROM reached",
    "hops": f"{REACHED} SELECT DISTINCT r.a, e.b, 'hop' AS how FROM reached r JOIN edges e ON r.b = e.a",
    "from_one": f"{REACHED} SELECT count(DISTINCT b) FROM reached WHERE a = 1",
}
HOPS = "SELECT DISTINCT r.a, e.b, 'hop' AS how FROM reach r JOIN edges e ON r.b = e.a"
REACH = "SELECT a, b FROM edges UNION SELECT a, b FROM hops WHERE how = 'hop'"


@pytest.fixture
def stage(lake: LakeSite, quick: SparkSession) -> Iterator[Stage]:
    with lake.connect(quick, streams__allow_circular=True, streams__fixpoint_rounds=12) as db:
        stage = Stage(db)
        stage.change("CREATE TABLE edges (a INT, b INT)", "INSERT INTO edges VALUES (1, 2), (2, 3), (3, 1), (4, NULL)")
        yield stage


@pytest.fixture
def circle(stage: Stage) -> Stage:
    stage.stream("reach", "SELECT a, b FROM edges")
    stage.stream("hops", HOPS)
    stage.db.alter_stream_table("reach", query=REACH)
    return stage


def judged(stage: Stage, *names: str) -> None:
    judge = duckdb.connect()
    judge.register("edges", stage.db.table("edges").toArrow())
    for name in names or ("reach", "hops"):
        held = [tuple(row.values()) for row in stage.db.table(name).toArrow().to_pylist()]
        assert Counter(map(repr, held)) == Counter(map(repr, judge.execute(ORACLE[name]).fetchall())), name


def brought(stage: Stage, name: str, *changes: str) -> RefreshResult:
    stage.change(*changes)
    result = stage.db.refresh_stream_table(name)
    judged(stage)
    return result


def test_a_circle_follows_inserts_and_deletes_exactly(circle: Stage) -> None:
    judged(circle)
    assert {s.last_reason for s in circle.db.stream_table_status()} == {"query_changed"}
    result = brought(circle, "hops", "INSERT INTO edges VALUES (3, 4), (5, 6), (5, 6)")
    assert (result.action, result.reason.split(":")[0]) == ("DIFFERENTIAL", "fixpoint")
    # 1 → 2 → 3 → 1 kept itself alive through the circle.
    assert brought(circle, "reach", "DELETE FROM edges WHERE a = 2").action == "DIFFERENTIAL"
    assert brought(circle, "reach", "UPDATE edges SET b = 5 WHERE a = 4", "DELETE FROM edges WHERE b = 1").rows_deleted
    assert brought(circle, "hops").action == "NO_DATA"
    brought(circle, "reach", "DELETE FROM edges")
    assert circle.rows("hops") == []


def test_all_members_are_committed_in_one_snapshot_with_their_rounds(circle: Stage) -> None:
    circle.change("INSERT INTO edges VALUES (3, 4), (4, 5)")
    result = circle.db.refresh_stream_table("hops")
    last = {line.name: line for line in reversed(circle.db.refresh_history())}
    assert {line.snapshot for line in last.values()} == {result.snapshot}
    assert {line.data_snapshot for line in last.values()} == {result.data_snapshot}
    assert {line.reason for line in last.values()} == {result.reason}
    assert int(result.reason.removeprefix("fixpoint:")) >= 2
    said = json.loads(str(circle.db.snapshots()[-1].extra_info))
    assert f"fixpoint:{said['rounds']}" == result.reason
    assert circle.db.head() == result.snapshot


def test_readers_of_a_circle_are_at_its_snapshot(circle: Stage) -> None:
    circle.stream("from_one", "SELECT count(b) AS n FROM reach WHERE a = 1")
    circle.change("INSERT INTO edges VALUES (3, 7), (7, 8)")
    results = {r.name: r for r in circle.db.refresh_all()}
    assert len({r.data_snapshot for r in results.values()}) == 1
    judged(circle, "reach", "hops", "from_one")
    circle.change("DELETE FROM edges WHERE a = 7")
    assert circle.refresh("from_one").data_snapshot == circle.db.stream_table_status("hops")[0].data_snapshot
    judged(circle, "reach", "hops", "from_one")
    assert circle.db.stream_table_status("reach")[0].lag_seconds == 0


def test_a_scheduler_refreshes_a_circle_as_one(circle: Stage) -> None:
    circle.change("INSERT INTO edges VALUES (3, 9), (9, 10)", "DELETE FROM edges WHERE a = 1")
    circle.db.run(seconds=120, until_idle=True)
    judged(circle)
    assert len({status.snapshot for status in circle.db.stream_table_status()}) == 1


def test_a_circle_that_does_not_end_is_given_up_and_changes_nothing(stage: Stage) -> None:
    stage.stream("up", "SELECT DISTINCT a AS n FROM edges")
    stage.stream("more", "SELECT DISTINCT n + 1 AS n FROM up WHERE n < 1000")
    query = "SELECT a AS n FROM edges UNION SELECT n FROM more"
    with pytest.raises(QueryError, match=r'"up, more" has no end within 12 rounds') as ended:
        stage.db.alter_stream_table("up", query=query)
    assert "streams.fixpoint_rounds" in ended.value.hint
    stage.db.alter_stream_table("more", query="SELECT DISTINCT n + 1 AS n FROM up WHERE n < 1000 AND n > 100")
    stage.db.alter_stream_table("up", query=query)
    head, rows = stage.db.head(), stage.rows("up")
    stage.change("INSERT INTO edges VALUES (500, 0)")
    with pytest.raises(QueryError, match="has no end"):
        stage.db.refresh_stream_table("more")
    assert stage.db.head() == head + 1
    assert stage.rows("up") == rows
    assert {s.status for s in stage.db.stream_table_status()} == {"ERROR"}


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT a, max(b) AS b FROM hops GROUP BY a", "it keeps copies"),
        ("SELECT DISTINCT a, max(b) AS b FROM hops GROUP BY a", "it reads the circle under an aggregate"),
        ("SELECT a, b FROM edges UNION ALL SELECT a, b FROM hops", "it keeps copies of rows"),
        ("SELECT a, b FROM edges EXCEPT SELECT a, b FROM hops", "it keeps copies"),
        (
            "SELECT DISTINCT a, b FROM (SELECT a, b FROM edges EXCEPT SELECT a, b FROM hops)",
            "it reads the circle on the right of EXCEPT",
        ),
        (
            "SELECT DISTINCT e.a, e.b FROM edges e LEFT ANTI JOIN hops h ON e.a = h.a",
            "it reads the circle on the right of an anti join",
        ),
        (
            "SELECT DISTINCT e.a, h.b FROM edges e LEFT JOIN hops h ON e.a = h.a",
            "it reads the circle on the side of an outer join that may be NULL",
        ),
        (
            "SELECT DISTINCT a, rank() OVER (PARTITION BY a ORDER BY b) AS b FROM hops",
            "it reads the circle under a window function",
        ),
        ("SELECT DISTINCT a, b FROM (SELECT a, b FROM hops ORDER BY a, b LIMIT 2)", "it reads the circle under LIMIT"),
    ],
)
def test_a_member_that_may_lose_rows_is_refused(stage: Stage, query: str, why: str) -> None:
    stage.db.create_stream_table("reach", "SELECT a, b FROM edges", initialize=False)
    stage.db.create_stream_table("hops", HOPS, initialize=False)
    with pytest.raises(CycleDetected, match='"reach" cannot stand in a circle') as refused:
        stage.db.alter_stream_table("reach", query=query)
    assert why in refused.value.detail


def test_circles_have_to_be_allowed(lake: LakeSite, quick: SparkSession, circle: Stage) -> None:
    with lake.connect(quick) as db:
        with pytest.raises(CycleDetected, match="would read itself") as refused:
            db.alter_stream_table("reach", query=f"{REACH} AND true")
        assert refused.value.detail == "reach → hops → reach"
        assert "streams.allow_circular" in refused.value.hint
        db.sql("INSERT INTO edges VALUES (3, 4)")
        assert db.refresh_stream_table("hops").action == "DIFFERENTIAL"
    judged(circle)
    with pytest.raises(CycleDetected, match="cannot stand in a circle"):
        circle.db.alter_stream_table("hops", refresh_mode="IMMEDIATE")


@pytest.mark.heavy
def test_a_circle_that_joins_itself_is_computed_anew_when_rows_go(stage: Stage) -> None:
    stage.stream("reach", "SELECT DISTINCT a, b FROM edges")
    stage.stream("hops", "SELECT DISTINCT x.a, y.b, 'hop' AS how FROM reach x JOIN reach y ON x.b = y.a")
    stage.db.alter_stream_table("reach", query=REACH)
    assert brought(stage, "reach", "INSERT INTO edges VALUES (3, 4), (4, 5)").reason.startswith("fixpoint:")
    result = brought(stage, "reach", "DELETE FROM edges WHERE a = 2")
    assert (result.action, result.reason.split(":")[0]) == ("DIFFERENTIAL", "circular_deletes")


def test_a_stream_table_may_read_itself_and_semi_joins_are_joins(stage: Stage) -> None:
    stage.change("CREATE TABLE banned (n INT)", "INSERT INTO banned VALUES (3)")
    stage.stream("seen", "SELECT DISTINCT a AS n FROM edges WHERE a = 1")
    stage.db.alter_stream_table(
        "seen",
        query="SELECT a AS n FROM edges WHERE a = 1 UNION "
        "SELECT b FROM edges LEFT SEMI JOIN seen ON seen.n = a WHERE b NOT IN (SELECT n FROM banned)",
    )
    assert stage.rows("seen") == [(1,), (2,)]
    stage.change("DELETE FROM banned")
    result = stage.db.refresh_stream_table("seen")
    assert (result.action, result.reason.split(":")[0]) == ("DIFFERENTIAL", "circular_deletes")
    assert stage.rows("seen") == [(1,), (2,), (3,)]
    stage.db.drop_stream_table("seen")


def test_a_circle_is_explained_broken_and_dropped(circle: Stage) -> None:
    told = {e.item: e.detail for e in circle.db.explain_st("hops") if e.section == "circle"}
    assert told["reach, hops"].startswith("rederive")
    circle.change("INSERT INTO edges VALUES (3, 9)")
    assert circle.db.explain_refresh_mode("reach")[0].next_action == "DIFFERENTIAL"
    with pytest.raises(DependentsExist):
        circle.db.drop_stream_table("hops")
    circle.db.alter_stream_table("reach", query="SELECT DISTINCT a, b FROM edges")
    circle.db.refresh_stream_table("hops")
    assert circle.rows("hops") == [(1, 3, "hop"), (2, 1, "hop"), (2, 9, "hop"), (3, 2, "hop")]
    circle.change("INSERT INTO edges VALUES (9, 10)")
    circle.refresh("hops")
    circle.agrees("hops", HOPS)
    circle.db.alter_stream_table("reach", query=REACH)
    judged(circle)
    assert sorted(circle.db.drop_stream_table("hops", cascade=True)) == ["hops", "reach"]


def test_random_changes_are_followed(circle: Stage, effort: Effort) -> None:
    chance = random.Random(1)
    for _ in range(effort.of(1, 12, 100)):
        added = ", ".join(f"({chance.randint(1, 7)}, {chance.randint(1, 7)})" for _ in range(2))
        gone = f"DELETE FROM edges WHERE a = {chance.randint(1, 7)} AND b < {chance.randint(1, 8)}"
        brought(circle, chance.choice(["reach", "hops"]), f"INSERT INTO edges VALUES {added}", gone)

"""Standing plans: whatever rows are put below them, they give what Spark gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import trickle
from trickle import standing, views
from trickle.handing import queried, taken
from trickle.lake.held import Held
from trickle.standing import Standing
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.actions import watched

pytestmark = pytest.mark.spark
ONE = "/*+ COALESCE(1) */"
GROUPED = f"SELECT k, sum(v) AS s, count(*) AS c FROM (SELECT {ONE} * FROM facts) GROUP BY k"
JOINED = f"""SELECT a.k, a.v, b.v AS w FROM (SELECT {ONE} * FROM facts) a
    LEFT JOIN (SELECT {ONE} * FROM others) b ON a.k <=> b.k LIMIT 1000"""
DISTINCT = f"SELECT DISTINCT k FROM (SELECT {ONE} * FROM facts)"
STATEMENTS = [GROUPED, JOINED, DISTINCT, f"SELECT {ONE} k + v AS x FROM facts WHERE v > 3"]


@pytest.fixture
def plans(lake_sqlite: LakeSite, quick: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[Standing]:
    monkeypatch.setattr(standing, "AFTER", 0)
    with lake_sqlite.connect(quick) as db:
        assert db.lake.standing is not None
        yield db.lake.standing


@pytest.fixture
def desk(plans: Standing) -> SparkSession:
    return plans.spark


def facts(*rows: tuple[Any, Any]) -> Held:
    k, v = zip(*rows, strict=True) if rows else ((), ())
    return Held(pa.table({"k": pa.array(k, pa.int32()), "v": pa.array(v, pa.int64())}))


def shown(desk: SparkSession, relations: dict[str, Held]) -> None:
    for name, held in relations.items():
        views.show(held.frame(desk), name)


def by_plan(plans: Standing, text: str, **relations: Held) -> pa.Table | None:
    ready = plans.ready(text, relations, lambda: shown(plans.spark, relations))
    return None if ready is None else ready()


def by_spark(desk: SparkSession, text: str, **relations: Held) -> pa.Table:
    shown(desk, relations)
    return taken(queried(desk, text))


def counted(rows: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in rows.to_pylist())


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_plan_holds_for_any_rows(plans: Standing, desk: SparkSession, text: str) -> None:
    """Also where none, or one, was there when it was made: Spark's planner would rely on that."""
    many = [(n % 3 or None, n) for n in range(50)]
    for rows, others in (([], []), ([(1, 5)], []), (many, [(1, 1)]), ([(2, 4)], many), (many, many), ([], many)):
        relations = {"facts": facts(*rows), "others": facts(*others)}
        found, expected = by_plan(plans, text, **relations), by_spark(desk, text, **relations)
        assert found is not None
        assert counted(found) == counted(expected)
        assert found.schema == expected.schema


def test_values_of_every_type_come_through(plans: Standing, desk: SparkSession) -> None:
    at = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    columns = {
        "i": pa.array([1, None], pa.int8()),
        "d": pa.array([Decimal("12.34"), None], pa.decimal128(18, 2)),
        "f": pa.array([float("nan"), -0.0]),
        "t": pa.array(["ä", None]),
        "b": pa.array([b"\x00", None]),
        "day": pa.array([date(1, 1, 1), None]),
        "at": pa.array([at, None], pa.timestamp("us", "UTC")),
        "ok": pa.array([True, None]),
    }
    rows = Held(pa.table(columns))
    names = ", ".join(columns)
    for text in (f"SELECT {ONE} {names} FROM facts", f"SELECT {names}, count(*) AS n FROM facts GROUP BY {names}"):
        text = text.replace("FROM facts", f"FROM (SELECT {ONE} * FROM facts)")
        found, expected = by_plan(plans, text, facts=rows), by_spark(desk, text, facts=rows)
        assert found is not None
        assert Counter(map(repr, found.to_pylist())) == Counter(map(repr, expected.to_pylist()))
        assert found.schema == expected.schema


def test_what_exchanges_rows_and_what_asks_subqueries_is_left_to_spark(plans: Standing, desk: SparkSession) -> None:
    rows = facts((1, 1), (2, 2))
    for text in (
        "SELECT /*+ REPARTITION(2, k) */ * FROM facts",
        "SELECT k FROM facts WHERE v > (SELECT 1 + max(k) FROM facts)",
    ):
        assert by_plan(plans, text, facts=rows) is None
        assert by_plan(plans, text, facts=rows) is None
        assert by_spark(desk, text, facts=rows).num_rows == queried(desk, text).count()


def test_a_run_that_fails_is_left_to_spark_and_leaves_nothing_behind(plans: Standing, desk: SparkSession) -> None:
    text = f"SELECT {ONE} 10 div v AS x FROM facts"
    assert by_plan(plans, text, facts=facts((1, 5))) is not None
    ready = plans.ready(text, bad := {"facts": facts((1, 0))}, lambda: shown(desk, bad))
    assert ready is not None
    with pytest.raises(standing.Unfit):
        ready()
    with pytest.raises(PySparkException, match="DIVIDE_BY_ZERO"):
        by_spark(desk, text, **bad)
    assert by_plan(plans, text, facts=facts((1, 5))) is None
    jvm: Any = desk._jvm
    assert jvm.org.apache.spark.TaskContext.get() is None


def test_what_comes_again_gets_a_plan_but_not_for_many_rows_of_which_each_is_held_against_each(
    plans: Standing, desk: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans._plans, "after", 1)
    crossed = (
        f"SELECT a.v, b.v AS w FROM (SELECT {ONE} * FROM facts) a JOIN (SELECT {ONE} * FROM others) b ON a.v < b.v"
    )
    relations = {"facts": facts((1, 1), (2, 2)), "others": facts((1, 2))}

    def answers(text: str, many: bool) -> list[bool]:
        made = (plans.ready(text, relations, lambda: None, many) for _ in range(2))
        return [ready is not None for ready in made]

    assert answers(GROUPED, many=False) == [False, True]
    assert answers(JOINED, many=True) == [False, True]
    assert answers(crossed, many=True) == [False, False]
    assert by_plan(plans, crossed, **relations) is not None  # few rows may be


def test_what_fails_over_many_rows_goes_on_for_few(plans: Standing, desk: SparkSession) -> None:
    text = f"SELECT {ONE} k, assert_true(v < 9) AS held FROM facts"
    ready = plans.ready(text, {"facts": facts((1, 10))}, lambda: None, many=True)
    assert ready is not None
    with pytest.raises(standing.Unfit):
        ready()
    assert plans.ready(text, {"facts": facts((1, 2))}, lambda: None, many=True) is None
    found = by_plan(plans, text, facts=facts((1, 2)))
    assert found is not None and found.num_rows == 1


def test_large_changes_need_no_job_either_and_stay_exact(lake_sqlite: LakeSite, quick: SparkSession) -> None:
    """More rows than are planned at the desk without a standing plan; the last change is more than may stand."""
    with lake_sqlite.connect(quick, refresh__standing_rows=400_000) as db:
        db.sql("CREATE TABLE facts (id BIGINT, thing BIGINT, amount BIGINT)")
        db.sql("CREATE TABLE things (id BIGINT, name STRING)")
        db.append("things", quick.sql("SELECT id, concat('t', id) AS name FROM range(9000)"))
        query = "SELECT t.id, t.name, f.amount FROM things t LEFT JOIN facts f ON f.thing = t.id AND f.amount > 10"
        db.create_stream_table("known", query, refresh_mode="DIFFERENTIAL")
        for n, rows in enumerate((30_000, 45_000, 45_000, 45_000, 300_000)):
            made = f"SELECT id + {n} * 1000000 AS id, id % 12000 AS thing, id % (20 + {n}) AS amount FROM range({rows})"
            db.append("facts", quick.sql(made))
            db.sql(f"DELETE FROM facts WHERE thing % 7 = {n}")
            with watched(quick) as work:
                done = db.refresh_stream_table("known")
            assert done.action == "DIFFERENTIAL"
            assert agrees(db, "known", query)
            assert (work.jobs == []) == (n in (1, 2, 3)), n


def test_another_time_zone_is_another_plan(
    lake_sqlite: LakeSite, quick: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing, "AFTER", 0)
    rows = pa.table({"at": pa.array([datetime(2026, 1, 1, 20, tzinfo=UTC)], pa.timestamp("us", "UTC"))})
    text, before = f"SELECT {ONE} hour(at) AS h FROM facts", quick.conf.get("spark.sql.session.timeZone")
    with lake_sqlite.connect(quick) as db:
        try:
            for zone, hour in (("UTC", 20), ("Asia/Tokyo", 5), ("UTC", 20)):
                quick.conf.set("spark.sql.session.timeZone", zone)
                assert db.lake.desk
                assert db.lake.standing is not None
                found = by_plan(db.lake.standing, text, facts=Held(rows))
                assert found is not None
                assert found.column("h").to_pylist() == [hour]
        finally:
            quick.conf.set("spark.sql.session.timeZone", before)


def test_refreshes_that_come_again_and_again_need_no_job_and_stay_exact(
    lake_sqlite: LakeSite, quick: SparkSession
) -> None:
    with lake_sqlite.connect(quick) as db:
        db.sql("CREATE TABLE orders (id INT, cust INT, amount INT)")
        db.sql("CREATE TABLE customers (id INT, region STRING)")
        db.append("customers", [{"id": n, "region": f"r{n % 3}"} for n in range(9)])
        db.append("orders", [{"id": n, "cust": n % 9, "amount": n} for n in range(90)])
        queries = {
            "sums": "SELECT cust, SUM(amount) AS s, COUNT(*) AS c FROM orders GROUP BY cust",
            "joined": "SELECT o.id, c.region, o.amount FROM orders o LEFT JOIN customers c ON o.cust = c.id",
            "regions": "SELECT region, SUM(amount) AS s FROM orders o JOIN customers c ON cust = c.id GROUP BY region",
        }
        for name, query in queries.items():
            db.create_stream_table(name, query, refresh_mode="DIFFERENTIAL")
        for n in range(standing.AFTER + 3):
            db.append("orders", [{"id": 100 + n, "cust": n % 11, "amount": 7 * n}])
            db.sql(f"DELETE FROM orders WHERE id = {3 * n}")
            for name, query in queries.items():
                with watched(quick) as work:
                    done = db.refresh_stream_table(name)
                assert done.action == "DIFFERENTIAL"
                assert agrees(db, name, query)
                if n > standing.AFTER:
                    assert work.jobs == [], name


def test_what_a_refresh_spends_on_what_is_new_is_told_until_nothing_is(
    lake_sqlite: LakeSite, quick: SparkSession
) -> None:
    """By processes that begin anew, too."""
    for start in (0, 10):
        with lake_sqlite.connect(quick) as db:
            if start == 0:
                db.sql("CREATE TABLE orders (id INT, cust INT, amount INT)")
                db.append("orders", [{"id": n, "cust": n % 9, "amount": n} for n in range(90)])
                query = "SELECT cust, SUM(amount) AS s FROM orders GROUP BY cust"
                db.create_stream_table("sums", query, refresh_mode="DIFFERENTIAL")
            for n in range(start, start + standing.AFTER + 3):
                db.append("orders", [{"id": 100 + n, "cust": n % 9, "amount": 7 * n}])
                db.refresh_stream_table("sums")
            *new, last = reversed(db.refresh_history("sums", limit=standing.AFTER + 3))
            assert all(0 < h.learning_ms < h.duration_ms for h in new[: standing.AFTER + 1])
            assert [h.learning_ms for h in (*new[standing.AFTER + 1 :], last)] == [0.0, 0.0]


def test_a_join_of_many_relations_gets_a_plan_however_large_the_planner_takes_them_for(plans: Standing) -> None:
    """Spark multiplies the sizes of what it joins, and exchanges rows from a size on."""
    names = [f"facts_{n}" for n in range(16)]
    text = f"SELECT {ONE} k, v AS v_0 FROM {names[0]}"
    for n, name in enumerate(names[1:], 1):
        one = f"SELECT {ONE} k AS k_{n}, v AS v_{n}, v + {n} AS w_{n} FROM {name}"
        text = f"SELECT /*+ COALESCE(1), SHUFFLE_HASH(b) */ * FROM ({text}) a JOIN ({one}) b ON k = k_{n}"
    relations = {name: facts((1, 1), (2, 2)) for name in names}
    found = by_plan(plans, f"SELECT k, sum(v_15) AS s FROM ({text}) GROUP BY k", **relations)
    assert found is not None and counted(found) == Counter([(1, 1), (2, 2)])


def test_more_statements_than_there_is_place_for_leave_the_place_to_as_many(
    lake_sqlite: LakeSite, quick: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing, "MOST", 1)
    with lake_sqlite.connect(quick) as db:
        db.sql("CREATE TABLE orders (id INT, amount INT)")
        db.append("orders", [{"id": n, "amount": n} for n in range(90)])
        queries = {name: f"SELECT id, amount + {n} AS v FROM orders" for n, name in enumerate(("a", "b", "c"))}
        for name, query in queries.items():
            db.create_stream_table(name, query, refresh_mode="DIFFERENTIAL")
        for n in range(standing.AFTER + 3):
            db.append("orders", [{"id": 100 + n, "amount": 7 * n}])
            jobs = {}
            for name, query in queries.items():
                with watched(quick) as work:
                    db.refresh_stream_table(name)
                jobs[name] = len(work.jobs)
                assert agrees(db, name, query)
        assert [name for name, many in jobs.items() if many == 0] == ["a"]


def agrees(db: trickle.Session, name: str, query: str) -> bool:
    return counted(db.table(name).toArrow()) == counted(db.sql(query).toArrow())


def test_they_can_be_switched_off(lake_sqlite: LakeSite, quick: SparkSession) -> None:
    with lake_sqlite.connect(quick, refresh__standing_plans=False) as db:
        assert db.lake.standing is None

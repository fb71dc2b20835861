"""Small changes are refreshed at a desk: one task over rows that the driver holds."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.refresh.differential import Differential
from trickle.spark import MEANING, agree, desk
from trickle.testing.bench.refreshes.work import counted
from trickle.testing.lakes import LakeSite

pytestmark = pytest.mark.spark

QUERY = """
    SELECT r.name, count(*) AS n, sum(o.amount) AS total, max(o.amount) AS largest
    FROM orders o JOIN customers c ON o.customer = c.id JOIN regions r ON c.region = r.id
    WHERE EXISTS (SELECT 1 FROM lines l WHERE l.order_id = o.id AND l.quantity > 1)
    GROUP BY r.name
"""


@pytest.fixture
def shop(db: trickle.Session) -> trickle.Session:
    db.sql("CREATE TABLE regions AS SELECT CAST(id AS INT) AS id, concat('region ', id) AS name FROM range(5)")
    db.sql("CREATE TABLE customers AS SELECT CAST(id AS INT) AS id, CAST(id % 5 AS INT) AS region FROM range(50)")
    db.sql("""CREATE TABLE orders AS SELECT
        CAST(id AS INT) AS id, CAST(id % 50 AS INT) AS customer, CAST(id % 97 AS INT) AS amount FROM range(1000)""")
    db.sql("""CREATE TABLE lines AS
        SELECT CAST(id % 1000 AS INT) AS order_id, CAST(id % 3 AS INT) AS quantity FROM range(3000)""")
    db.create_stream_table("by_region", QUERY, refresh_mode="DIFFERENTIAL")
    return db


def change(db: trickle.Session) -> None:
    with db.transaction():
        db.sql("INSERT INTO orders VALUES (1000, 3, 500), (1001, 4, 1)")
        db.sql("INSERT INTO lines VALUES (1000, 2), (7, 9)")
        db.sql("DELETE FROM orders WHERE id = 96")
        db.sql("UPDATE customers SET region = 0 WHERE id = 8")


def test_a_small_refresh_reads_no_file_with_spark_and_is_exact(shop: trickle.Session) -> None:
    change(shop)
    with counted(shop.spark) as work:
        done = shop.refresh_stream_table("by_region")
    assert done.action == "DIFFERENTIAL"
    assert work.rows_read == 0
    assert work.jobs <= 2  # the change, and groups that lost their largest
    assert work.stages <= 2
    expected = sorted(map(tuple, shop.sql(QUERY).collect()))
    assert sorted(map(tuple, shop.sql("SELECT * FROM by_region").collect())) == expected


def test_the_session_of_the_user_stays_the_active_one(shop: trickle.Session) -> None:
    change(shop)
    shop.refresh_stream_table("by_region")
    assert SparkSession.getActiveSession() is shop.spark


def test_jobs_of_a_refresh_are_called_so_and_those_of_the_user_as_before(shop: trickle.Session) -> None:
    context, site, seen = shop.spark.sparkContext, "callSite.long", []
    act = Differential.run

    def run(it: Differential) -> tuple[int, int]:
        seen.append(context.getLocalProperty(site))
        return act(it)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Differential, "run", run)
        for mine in ("mine", None):
            context.setLocalProperty(site, mine)
            change(shop)
            shop.refresh_stream_table("by_region")
            assert context.getLocalProperty(site) == mine
    assert set(seen) == {'refresh of stream table "by_region"'}


def test_expressions_mean_at_the_desk_what_they_mean_in_the_session(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    beside = desk(session)
    assert beside.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    session.conf.set("spark.sql.ansi.enabled", "false")
    agree(beside, session)
    assert [beside.conf.get(key) for key in MEANING] == [session.conf.get(key) for key in MEANING]


def test_row_groups_are_passed_over_by_keys_and_conditions_exactly(lake: LakeSite, quick: SparkSession) -> None:
    query = """SELECT p.brand, p.size, count(DISTINCT s.supplier) AS n FROM parts p JOIN supplies s ON s.part = p.id
               WHERE p.size IN (49, 14, 23, 3, 36) AND p.brand <> 'b4' GROUP BY p.brand, p.size"""
    with lake.connect(quick, lake__row_group_rows=1024) as db:
        db.sql("""CREATE TABLE parts AS SELECT CAST(id AS INT) AS id, concat('b', id % 7) AS brand,
                  CAST(id DIV 600 AS INT) AS size FROM range(30000)""")
        db.sql("""CREATE TABLE supplies AS SELECT CAST(id DIV 2 AS INT) AS part, CAST(id % 11 AS INT) AS supplier
                  FROM range(60000)""")
        db.create_stream_table("counts", query, refresh_mode="DIFFERENTIAL")
        db.sql("UPDATE supplies SET supplier = 99 WHERE part IN (1805, 2000, 8500, 14000, 21700, 29500)")
        assert db.refresh_stream_table("counts").action == "DIFFERENTIAL"
        expected = sorted(map(tuple, db.sql(query).collect()))
        assert sorted(map(tuple, db.sql("SELECT * FROM counts").collect())) == expected

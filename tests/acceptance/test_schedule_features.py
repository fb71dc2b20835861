"""Each feature of the scheduler by command and by SQL: what one does the other undoes, and both say the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession

from trickle.errors import ConfigError
from trickle.scheduler.state import NO_LIMIT
from trickle.schedules import Every, Manual
from trickle.testing.commands import Command
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

PER = "SELECT cust, count(*) AS n, sum(amount) AS amount FROM orders GROUP BY cust"
LARGE = "SELECT id, cust, amount FROM orders WHERE amount > 8"
BOTH = "SELECT l.id, p.n, p.amount FROM large l JOIN per p ON p.cust = l.cust"
REGIONS = "SELECT o.id, c.region FROM orders o JOIN customers c ON c.id = o.cust"


@pytest.fixture
def shop(lake_sqlite: LakeSite, quick: SparkSession) -> Iterator[Stage]:
    with lake_sqlite.connect(quick) as db:
        stage = Stage(db)
        stage.change(
            "CREATE TABLE orders (id INT, cust INT, amount INT)",
            "CREATE TABLE customers (id INT, region STRING)",
            "INSERT INTO orders VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5), (3, 2, 5)",
            "INSERT INTO customers VALUES (1, 'north'), (2, 'south')",
        )
        yield stage


def sql(shop: Stage, relation: str) -> list[dict[str, Any]]:
    return [row.asDict() for row in shop.db.sql(f"SELECT * FROM trickle.{relation}").collect()]


def comparable(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without what depends on the moment of asking, and on how moments are written."""
    moving = ("_at", "_seconds", "earliest", "latest", "watermark", "duration_ms")
    return [{k: v for k, v in row.items() if not k.endswith(moving)} for row in found]


def diamond(shop: Stage, **options: Any) -> None:
    for name, query in (("per", PER), ("large", LARGE), ("both", BOTH)):
        shop.stream(name, query, **options if name == "per" else {})


FACTS = (
    ("graph both", "dependency_tree('both')"),
    ("graph both --columns", "column_lineage('both')"),
    ("gate list", "bootstrap_gate_status()"),
    ("watermark list", "watermarks"),
    ("watermark groups", "watermark_groups"),
    ("watermark status", "watermark_status()"),
    ("fuse status", "fuse_status()"),
    ("fuse status per", "fuse_status('per')"),
    ("group list", "refresh_groups"),
    ("recommend", "schedule_recommendations()"),
    ("recommend per", "recommend_schedule('per')"),
    ("recommend --mode", "recommend_refresh_mode()"),
    ("recommend --clustering", "recommend_clustering()"),
    ("diagnose", "diagnose_errors()"),
    ("history --limit 30", "refresh_history(limit => 30)"),
    ("status", "stream_table_status()"),
)


def test_commands_and_sql_tell_the_same_facts(shop: Stage, command: Command) -> None:
    diamond(shop, fuse="on", fuse_ceiling=2)
    shop.stream("regions", REGIONS)
    shop.db.create_refresh_group("day", "per, regions")
    shop.db.gate_source("customers")
    shop.db.create_watermark_group("day", "orders, customers", "1m")
    for source, hour in (("orders", 12), ("customers", 11)):
        shop.db.advance_watermark(source, f"2024-05-01 {hour}:00")
    shop.change("INSERT INTO orders VALUES (4, 2, 9), (5, 2, 9), (6, 2, 9)")
    assert shop.db.refresh_stream_table("per").reason == "fuse_blown"
    for words, relation in FACTS:
        told = command(*words.split())
        assert told, f"{words} has something to say"
        assert comparable(told) == comparable(sql(shop, relation)), words
    assert command("graph")["edges"] == json.loads(sql(shop, "graph('json')")[0]["value"])["edges"] != []
    for form, begins in (("text", "both (stream"), ("mermaid", "graph LR"), ("dot", "digraph lake")):
        assert command("graph", "--format", form).startswith(begins)
        assert sql(shop, f"graph('{form}')")[0]["value"].startswith(begins)
    assert "name a stream table" in command("graph", "--columns", fails=True)


def test_what_a_command_does_sql_undoes_and_the_other_way_round(shop: Stage, command: Command) -> None:
    diamond(shop, fuse="on", fuse_ceiling=2)
    db = shop.db

    assert command("gate", "close", "orders")[0]["gated"]
    assert not db.sql("CALL trickle.ungate_source('orders')").gated
    assert db.sql("CALL trickle.gate_source('orders')").gated
    assert not command("gate", "open", "orders")[0]["gated"]

    assert (
        command("watermark", "group", "day", "orders", "customers", "--tolerance", "1m")[0]["tolerance_seconds"] == 60
    )
    db.sql("CALL trickle.drop_watermark_group('day')")
    db.sql("CALL trickle.create_watermark_group('day', 'orders, customers', tolerance => '1m')")
    command("watermark", "advance", "orders", "2024-05-01T12:00")
    assert [s["aligned"] for s in command("watermark", "status")] == [False]
    db.sql("CALL trickle.advance_watermark('customers', '2024-05-01 12:00')")
    assert [s["aligned"] for s in sql(shop, "watermark_status()")] == [True]
    assert "cannot go back" in command("watermark", "advance", "orders", "2024-05-01T11:00", fails=True)
    command("watermark", "drop", "day")
    assert db.watermark_groups() == []

    command("group", "create", "pair", "per", "large")
    db.sql("CALL trickle.drop_refresh_group('pair')")
    db.sql("CALL trickle.create_refresh_group('pair', 'per, large')")
    command("group", "drop", "pair")
    assert db.refresh_groups() == []

    for action in ("apply", "reinitialize", "skip_changes"):
        before = shop.rows("per")
        shop.change("INSERT INTO orders VALUES (4, 2, 9), (5, 2, 9), (6, 2, 9)")
        assert {r["reason"] for r in command("refresh", "--all")} == {"fuse_blown"}, "the diamond waits as a whole"
        if action == "apply":
            db.sql("CALL trickle.reset_fuse('per')")
        else:
            command("fuse", "reset", "per", "--action", action)
        results = db.sql("CALL trickle.refresh_all()")
        assert {r.name for r in results} == {"per", "large", "both"}
        shop.agrees("large", LARGE)
        shop.agrees("both", BOTH)
        assert (shop.rows("per") == before) == (action == "skip_changes"), "it alone does not take the change in"

    command("pause", "per")
    assert sql(shop, "stream_table_status('per')")[0]["status"] == "SUSPENDED"
    assert {d["name"]: d["code"] for d in command("diagnose")} == dict.fromkeys(("per", "large", "both"), "suspended")
    assert 'together with "per"' in command("diagnose", "both")[0]["message"]
    db.sql("CALL trickle.resume('per')")
    db.sql("CALL trickle.pause()")
    shop.change("INSERT INTO orders VALUES (7, 2, 9)")
    command("run", "--for", "500ms", "--log", "none")
    assert db.stream_table_status("per")[0].lag_seconds > 0
    command("resume")
    command("run", "--until-idle", "--log", "none")
    assert {s["lag_seconds"] for s in command("status")} == {0.0}


SCHEDULES = ("30s", "1h30m", "0 6 * * 1-5 Europe/Berlin", "on_change", "on_change 200ms", "calculated", "manual")


def test_schedules_tiers_lags_and_limits_are_set_by_command_and_by_sql(shop: Stage, command: Command) -> None:
    command("create", "per", PER, "-o", "schedule=30s", "-o", "tier=cold", "-o", "worker_limit=2")
    for schedule in SCHEDULES:
        shop.db.sql(f"ALTER STREAM TABLE per SET (schedule = '{schedule}')")
        assert [r["schedule"] for r in command("recommend", "per")] == [schedule]
    wrong = {
        "schedule": "now and then",
        "tier": "lukewarm",
        "target_lag": "soon",
        "worker_limit": "0",
        "fuse_ceiling": "-1",
    }
    for name, value in wrong.items():
        assert value in command("create", "no", PER, "-o", f"{name}={value}", fails=True)
        with pytest.raises(ConfigError, match=value):
            shop.db.sql(f"ALTER STREAM TABLE per SET ({name} = '{value}')")
    shop.db.sql(
        f"CREATE STREAM TABLE large WITH (schedule = 'calculated', target_lag = '1m', tier = 'auto') AS {LARGE}"
    )
    scheduler = shop.db.scheduler()
    per, large = scheduler.survey.look(scheduler.glance.news(), datetime.now(UTC)).layout.units
    assert (per.pace, per.limit, per.members[0].clocks) == (10.0, 2, (Manual(),))
    assert (large.pace, large.limit, large.members[0].clocks) == (1.0, NO_LIMIT, (Every(30.0),))


def test_a_manual_refresh_of_all_commits_what_belongs_together_at_once(shop: Stage, command: Command) -> None:
    diamond(shop)
    shop.stream("regions", REGIONS)
    shop.stream("seen", "SELECT region, count(*) AS n FROM customers GROUP BY region")
    shop.db.create_refresh_group("day", ["regions", "seen"])
    for full in (False, True):
        shop.change("INSERT INTO orders VALUES (4, 2, 9)", "INSERT INTO customers VALUES (3, 'east')")
        target = shop.db.head()
        results = {r["name"]: r for r in command("refresh", "--all", *(["--full"] if full else []))}
        assert {r["data_snapshot"] for r in results.values()} == {target}
        assert {r["reason"] for r in results.values()} == {"requested" if full else ""}
        for unit in (("per", "large", "both"), ("regions", "seen")):
            assert len({results[name]["snapshot"] for name in unit}) == 1, unit
        assert shop.db.head() == target + 2
    for name, query in (("per", PER), ("large", LARGE), ("both", BOTH), ("regions", REGIONS)):
        shop.agrees(name, query)
    shop.db.sql("ALTER STREAM TABLE both SUSPEND")
    shop.change("INSERT INTO orders VALUES (5, 2, 9)")
    assert [(r["name"], r["reason"]) for r in command("refresh", "--all")][:1] == [("both", "suspended")]


RATIO = "SELECT id, 100 / (amount - 7) AS part FROM orders"
PLACES = "SELECT id, region FROM customers WHERE id > 0"
UNTIL_IDLE = ("--set", "scheduler.retry_seconds=0.05", "run", "--until-idle", "--log", "none")


def test_what_fails_is_suspended_named_and_resumed_by_command(
    shop: Stage, command: Command, lake_sqlite: LakeSite, peer: DuckDBPeer
) -> None:
    """A poison row, and a source that another client drops and makes anew."""
    shop.stream("ratio", RATIO, schedule="on_change")
    shop.stream("places", PLACES, schedule="on_change")
    shop.stream("per", PER, schedule="on_change")
    shop.change("INSERT INTO orders VALUES (4, 2, 7)")
    peer.run(lake_sqlite.address, "DROP TABLE customers")
    command(*UNTIL_IDLE)
    assert "held: ratio (suspended), places (suspended)" in command.said
    assert {d["name"]: d["code"] for d in command("diagnose")} == {"ratio": "query_error", "places": "schema_changed"}
    assert {d["errors_in_row"] for d in sql(shop, "diagnose_errors()")} == {3}
    shop.agrees("per", PER)
    shop.change("DELETE FROM orders WHERE id = 4")
    peer.run(
        lake_sqlite.address,
        "CREATE TABLE customers (id INT, region VARCHAR)",
        "INSERT INTO customers VALUES (1, 'east'), (3, 'west')",
    )
    command("resume", "ratio")
    shop.db.sql("CALL trickle.resume('places')")
    command(*UNTIL_IDLE)
    assert command.said == ""
    assert command("diagnose") == []
    shop.change("INSERT INTO customers VALUES (4, 'north')", "INSERT INTO orders VALUES (5, 1, 8)")
    command(*UNTIL_IDLE)
    shop.agrees("ratio", RATIO)
    shop.agrees("places", PLACES)

"""A small refresh beside a large one in one Spark: with a pool for each worker it does not wait for its end."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.testing.daemon.judge import times
from trickle.testing.daemon.process import Daemon
from trickle.testing.lakes import LakeSite

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

SLOW = "SELECT g, slowly(n) AS n FROM (SELECT id % 60 AS g, count(*) AS n FROM ballast GROUP BY id % 60)"
ROUNDS = 6


def slowly(value: int) -> int:
    time.sleep(0.2)
    return value


def waits(db: trickle.Session, daemon: Daemon) -> list[float]:
    """Seconds from a commit to the refresh that shows it, while a refresh of sixty slow tasks is running."""
    found = []
    for n in range(ROUNDS):
        begun = len(daemon.events("refresh_started"))
        db.append("ballast", [{"id": n}])
        daemon.wait_for(lambda begun=begun: len(daemon.events("refresh_started")) > begun)
        time.sleep(1.0)
        db.append("items", [{"id": n, "price": 1}])
        at = db.head()
        daemon.wait_for(lambda: all(s.lag_seconds == 0 for s in db.stream_table_status()))
        line = next(h for h in db.refresh_history("prices", 3) if h.data_snapshot and h.data_snapshot >= at)
        found.append((line.finished_at - times(db)[at]).total_seconds())
    return found[1:]  # in the first, Spark is cold


def test_a_small_refresh_does_not_wait_for_the_end_of_a_large_one(
    lake_sqlite: LakeSite, quick: SparkSession, tmp_path: Path
) -> None:
    with lake_sqlite.connect(quick) as db:
        db.sql("CREATE TABLE ballast (id INT)")
        db.sql("CREATE TABLE items (id INT, price INT)")
        db.append("ballast", [{"id": n} for n in range(60)])
        db.create_function("slowly", slowly, "BIGINT")
        db.create_stream_table("slow", SLOW, schedule="on_change", refresh_mode="FULL", initialize=False)
        db.create_stream_table("prices", "SELECT id, price FROM items WHERE price > 0", schedule="on_change")
        took = {}
        for mode in ("FIFO", "FAIR"):
            settings = {"spark__master": "local[2]", "spark__shuffle_partitions": 60, "spark__scheduler_mode": mode}
            with Daemon(lake_sqlite, tmp_path / "daemon", **settings).ready() as daemon:
                daemon.wait_for(lambda: all(s.lag_seconds == 0 for s in db.stream_table_status()))
                took[mode] = median(waits(db, daemon))
                assert daemon.events("refresh_failed") == []
                assert daemon.end() == 0
    print(f"a small refresh beside a large one: FIFO {took['FIFO']:.2f} s, FAIR {took['FAIR']:.2f} s")
    assert took["FAIR"] < took["FIFO"] / 2

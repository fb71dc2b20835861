"""`trickle run` as a process: fresh, exact and consistent at every snapshot, whatever happens to it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.testing.daemon.judge import Judge, commits
from trickle.testing.daemon.lags import lags, promises
from trickle.testing.daemon.process import Daemon
from trickle.testing.daemon.shop import FEW, GROUP, KEPT, ROWS, TABLES, Kept, change, persist
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.effort import Effort
from trickle.testing.lakes import LakeSite

pytestmark = [pytest.mark.spark, pytest.mark.timeout(3600)]

SECONDS = (8, 60, 300)
"""Of changes, for each effort."""
SEED = 5
SLOWER = {"1s": "5s", "2s": "10s"}
"""Schedules that two cores can keep for twelve stream tables."""


@dataclass
class Shop:
    """A lake with stream tables on it, no Spark but the daemon's at work once it is set up."""

    site: LakeSite
    db: trickle.Session
    peer: DuckDBPeer
    kept: Sequence[Kept]
    folder: Path
    changes: int = 0

    def daemon(self, **settings: object) -> Daemon:
        return Daemon(self.site, self.folder / "daemon", **settings)

    def alter(self, rng: Random) -> None:
        self.changes += 1
        persist(self.peer, self.site.address, *change(rng, self.changes))

    def is_fresh(self) -> bool:
        return all(s.lag_seconds == 0 and s.status == "ACTIVE" for s in self.db.stream_table_status())

    def judge(self, most: int) -> None:
        """Some snapshots of all, the last ones among them."""
        written = sorted({c.snapshot for c in commits(self.db)})
        chosen = {*Random(SEED).sample(written, min(most, len(written))), *written[-2:]}
        judge = Judge(self.peer, self.site.address, self.kept)
        assert judge.faults(self.db, chosen) == []
        first, *others = self.kept
        wrong = replace(
            first, query=replace(first.query, duckdb=f"SELECT cust, n + 1 AS n, qty FROM ({first.query.text})")
        )
        assert replace(judge, kept=[wrong, *others]).faults(self.db, written[-1:]), "the judge can tell"

    def errors(self) -> list[str]:
        return [line.error for line in self.db.refresh_history(limit=10_000) if line.error]


@pytest.fixture
def shop(lake: LakeSite, quick: SparkSession, peer: DuckDBPeer, tmp_path: Path, effort: Effort) -> Iterator[Shop]:
    kept = FEW if effort is Effort.SHORT else KEPT
    with lake.connect(quick) as db:
        peer.run(lake.address, *TABLES, *ROWS)
        for one in kept:
            query = one.query
            db.create_stream_table(query.name, query.text, schedule=one.schedule, refresh_mode="DIFFERENTIAL")
        db.create_refresh_group("day", list(GROUP))
        yield Shop(lake, db, peer, kept, tmp_path)


def keep_changing(shop: Shop, seconds: float, rng: Random, pause: float = 0.15) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        shop.alter(rng)
        time.sleep(pause)


def test_under_changes_without_end_every_snapshot_is_consistent(shop: Shop, effort: Effort) -> None:
    with shop.daemon().ready() as daemon:
        keep_changing(shop, effort.of(*SECONDS), Random(SEED))
        daemon.wait_for(shop.is_fresh)
        assert daemon.end() == 0
        assert daemon.events("refresh_failed") == []
        assert daemon.events("scheduler_stopped") != []
    assert shop.errors() == []
    assert "scheduler" in {line.initiated_by for line in shop.db.refresh_history(limit=50)}
    together = [{c.name for c in commits(shop.db) if c.snapshot == s} for s in {c.snapshot for c in commits(shop.db)}]
    assert {"paid", "dear_items"} in together, "a refresh group is one commit"
    shop.judge(effort.of(4, 40, 200))


@pytest.mark.parametrize("daemons", [1, 2])
def test_killed_and_restarted_or_beside_another_nothing_is_lost(shop: Shop, effort: Effort, daemons: int) -> None:
    """Every 30 s the one that has run longest is killed, whatever it is at, and another is started."""
    if effort is Effort.SHORT:
        pytest.skip("the short form is the test above; killing takes minutes (--heavy)")
    rng = Random(SEED)
    with ExitStack() as stack:

        def start() -> Daemon:
            return stack.enter_context(shop.daemon(scheduler__lease_seconds=3))

        running = [start() for _ in range(daemons)]
        for _ in range(effort.of(1, 3, 10)):
            running[0].ready()
            keep_changing(shop, 30, rng)
            running[0].kill()
            running = [*running[1:], start()]
        running[-1].ready().wait_for(shop.is_fresh)
        assert [daemon.end() for daemon in running] == [0] * daemons
        assert [event for daemon in running for event in daemon.events("refresh_failed")] == []
    assert shop.errors() == []
    shop.judge(effort.of(4, 40, 200))


def test_lag_stays_within_the_schedule(shop: Shop, effort: Effort) -> None:
    """Intervals of 5 and 10 s, a commit a second: p95 of commit → refreshed ≤ interval, of chains ≤ their sum."""
    if effort is Effort.SHORT:
        pytest.skip("measures, and wants the machine for itself (--heavy)")
    for one in shop.kept:
        if one.schedule in SLOWER:
            shop.db.alter_stream_table(one.query.name, schedule=SLOWER[one.schedule])
    with shop.daemon().ready() as daemon:
        keep_changing(shop, 20, Random(SEED), pause=1.0)
        daemon.wait_for(shop.is_fresh)
        since = shop.db.head()
        keep_changing(shop, effort.of(*SECONDS), Random(SEED + 1), pause=1.0)
        daemon.wait_for(shop.is_fresh)
        assert daemon.end() == 0
        assert daemon.events("refresh_failed") == []
    late, allowed = {}, promises(shop.db)
    for name, found in lags(shop.db, since).items():
        p50, p95 = found[len(found) // 2], found[int(len(found) * 0.95)]
        said = f"within {allowed[name]:g} s" if allowed[name] else "on change"
        print(f"lag of {name} ({said}): p50 {p50:.2f} s, p95 {p95:.2f} s of {len(found)} commits")
        if allowed[name] and p95 > allowed[name]:
            late[name] = p95
    assert late == {}

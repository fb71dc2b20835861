"""Schedulers share a lake by leases: kept while they live, taken over when they died."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from trickle.config import Settings
from trickle.scheduler import presence
from trickle.testing.lakes import sqlite_site
from trickle.testing.streams.pretence import Pretence, wait

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Pretence]:
    with Pretence.at(sqlite_site(tmp_path / "lake"), scheduler__lease_seconds=1.0, scheduler__workers=1) as shop:
        yield shop


def leases(shop: Pretence) -> dict[int, str]:
    """Who holds what."""
    with shop.db.lake.reading() as connection:
        found = shop.scheduling.leases(connection, datetime.now(UTC))
    return {id: owner for id, (owner, _) in found.items()}


def test_a_refresh_in_flight_keeps_its_lease_while_the_scheduler_drains(shop: Pretence) -> None:
    per = shop.stream("per", schedule="on_change")
    with shop.slowly() as go:
        first, second = shop.db.scheduler(), shop.db.scheduler()
        shop.change()
        with shop.running(first):
            wait(lambda: leases(shop))
            first.stop()
            with shop.running(second):
                time.sleep(2.5 * shop.db.settings["scheduler.lease_seconds"])
                assert second.workers.running == set(), "the lease of who drains is still respected"
                go.set()
                wait(lambda: shop.frontier(per) == shop.db.head())
    assert shop.kinds("per").count("refresh_finished") == 1
    assert shop.kinds(first.owner) == ["scheduler_started", "scheduler_stopped"]


def test_what_outlasts_the_drain_is_not_taken_over_at_once(shop: Pretence) -> None:
    per = shop.stream("per", schedule="on_change")
    with shop.slowly() as go:
        scheduler = shop.db.scheduler()
        scheduler.settings = Settings({**shop.db.settings, "scheduler.drain_seconds": 0.0})
        shop.change()
        with shop.running(scheduler):
            wait(lambda: leases(shop))
        assert leases(shop) == {per.id: scheduler.owner}
        go.set()
        wait(lambda: not leases(shop))


def test_who_was_swept_away_but_lives_is_there_again_with_what_it_holds(shop: Pretence) -> None:
    per = shop.stream("per", schedule="on_change")
    with shop.slowly() as go:
        shop.change()
        with shop.running() as scheduler:
            wait(lambda: leases(shop))
            with shop.db.lake.catalog.writing() as connection:
                shop.scheduling.leave(connection, scheduler.owner)
            wait(lambda: leases(shop) == {per.id: scheduler.owner})
            with shop.db.lake.reading() as connection:
                assert [row.owner for row in shop.scheduling.schedulers(connection)] == [scheduler.owner]
            go.set()


@pytest.mark.parametrize(
    ("host", "process", "is_swept"),
    [
        ("{here} {began}", 2**22 + 1, True),
        ("{here} {began}", os.getpid(), False),
        ("{here} 1", os.getpid(), True),
        ("{name} another-boot pid:[1] {began}", 2**22 + 1, False),
        ("{name}", 2**22 + 1, False),
        (" {began}", 2**22 + 1, False),
    ],
    ids=["ended", "lives", "number given again", "another container of this name", "an older release", "no /proc"],
)
def test_a_process_is_taken_for_dead_only_where_its_number_means_it(
    shop: Pretence, host: str, process: int, is_swept: bool
) -> None:
    scheduler = shop.db.scheduler()
    name, now = os.uname().nodename, datetime.now(UTC)
    there = host.format(here=presence.here(), began=presence.began(os.getpid()), name=name)
    with shop.db.lake.catalog.writing() as connection:
        scheduler.scheduling.arrive(connection, "other", there, process, now)
    scheduler.presence.sweep()
    with shop.db.lake.reading() as connection:
        assert [r.owner for r in scheduler.scheduling.schedulers(connection)] == ([] if is_swept else ["other"])


def test_silence_ends_a_scheduler_wherever_it_is(shop: Pretence) -> None:
    scheduler = shop.db.scheduler()
    with shop.db.lake.catalog.writing() as connection:
        long_ago = datetime.now(UTC) - timedelta(seconds=5)
        scheduler.scheduling.arrive(connection, "other", "elsewhere", 1, long_ago)
    scheduler.presence.sweep()
    with shop.db.lake.reading() as connection:
        assert scheduler.scheduling.schedulers(connection) == []

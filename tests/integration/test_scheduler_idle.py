"""A thousand stream tables of which nothing changes: a scheduler that hardly does anything. No Spark is started."""

from __future__ import annotations

import gc
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest

import trickle
from trickle.lake.maintenance.expire import expire_snapshots
from trickle.registry.models import Dependency, StreamTable
from trickle.scheduler.loop import Scheduler
from trickle.testing.effort import Effort
from trickle.testing.lakes import sqlite_site

TABLES = 1000


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[trickle.Session]:
    """A lake with a thousand stream tables in its registry, chains of ten, all of them fresh."""
    db = sqlite_site(tmp_path_factory.mktemp("crowd")).connect(None)
    db.sql("CREATE TABLE orders (id INT)")
    streams = db._streams
    streams.migrate()
    head = db.head()
    with db.lake.catalog.writing() as connection:
        for n in range(TABLES):
            read = Dependency(f"trickle.s{n - 1}", 1000 + n - 1, ("id",), "") if n % 10 else None
            options = {"schedule": ["1s", "on_change", "*/5 * * * *"][n % 3], "refresh_mode": "AUTO"}
            table = StreamTable(0, "main", f"s{n}", "SELECT id FROM orders", "spark", "AUTO", options, f"s{n}", 1)
            orders = Dependency("main.orders", 1, ("id",), "")
            added = streams.registry.add(connection, replace(table, dependencies=(read or orders,)))
            streams.registry.advance(connection, added, head, None, head)
    yield db
    db.close()


@contextmanager
def in_a_small_process() -> Iterator[None]:
    """Garbage is looked for among the objects made from here on, as in a scheduler's own process, not among what
    thousands of other tests left behind: to go through that once takes longer than all ticks together."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def test_a_tick_is_quick_and_an_idle_scheduler_costs_next_to_nothing(crowd: trickle.Session, effort: Effort) -> None:
    scheduler = Scheduler(crowd._streams, crowd.events)
    thread = threading.Thread(target=scheduler.run)
    thread.start()
    try:
        until = time.monotonic() + 60
        while not scheduler._is_quiet and time.monotonic() < until:  # it has looked at everything once
            time.sleep(0.1)
        seconds = effort.of(3, 20, 120)
        before, began = time.process_time(), time.monotonic()
        time.sleep(seconds)
        share = (time.process_time() - before) / (time.monotonic() - began)
    finally:
        scheduler.stop()
        thread.join()
    print(f"idle: {share:.2%} of a core")
    assert share < 0.02
    assert crowd.refresh_history() == []


def test_memory_stays_flat(crowd: trickle.Session) -> None:
    scheduler = Scheduler(crowd._streams, crowd.events)
    scheduler.streams.migrate()
    for _ in range(3):
        scheduler.tick()
    tracemalloc.start()
    first, _ = tracemalloc.get_traced_memory()
    for _ in range(5):
        scheduler.tick()
    last, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    scheduler.glance.close()
    assert last - first < 3_000_000


def test_a_whole_tick_with_everything_read_anew_takes_tenths_of_a_second_at_most(crowd: trickle.Session) -> None:
    scheduler = Scheduler(crowd._streams, crowd.events)
    scheduler.tick()
    with in_a_small_process():
        began = time.thread_time()
        for _ in range(5):
            scheduler.tick()
        took = (time.thread_time() - began) / 5
    scheduler.glance.close()
    print(f"a tick, registry read: {took * 1000:.0f} ms")
    assert took < 0.3


def test_idle_tables_are_said_to_be_fresh_so_that_old_snapshots_may_go(crowd: trickle.Session) -> None:
    old = crowd.head()
    crowd.sql("CREATE TABLE other (id INT)")
    scheduler = Scheduler(crowd._streams, crowd.events)
    assert scheduler.tick()
    scheduler.glance.close()
    assert {t.frontier for t in crowd._streams.all()} == {crowd.head()}
    gone = expire_snapshots(crowd.lake, None, datetime.now(UTC), None, False, crowd._streams.needed)
    assert old in {e.id for e in gone}

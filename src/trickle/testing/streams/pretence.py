"""A lake whose refreshes only move frontiers: for what a scheduler does around them, without Spark."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import trickle
from trickle.events import Event
from trickle.ops.options import with_defaults
from trickle.refresh.result import RefreshResult
from trickle.registry.models import Dependency, StreamTable
from trickle.registry.scheduling import BLOWN, Fuse, Scheduling
from trickle.scheduler.loop import Scheduler
from trickle.scheduler.workers import Workers
from trickle.testing.lakes import LakeSite

ORDERS = Dependency("main.orders", 1, ("id",), "")


@dataclass
class Pretence:
    """Stream tables of a lake with a table `orders`, and what was told of them."""

    db: trickle.Session
    told: list[Event] = field(default_factory=list)

    @classmethod
    @contextmanager
    def at(cls, site: LakeSite, **settings: Any) -> Iterator[Pretence]:
        with patch.object(Workers, "_refresh", moved), site.connect(None, **settings) as db:
            db.sql("CREATE TABLE orders (id INT)")
            db._streams.migrate()
            found = cls(db)
            db.subscribe(found.told.append)
            yield found

    @property
    def scheduling(self) -> Scheduling:
        return Scheduling(self.db._streams.registry)

    def stream(self, name: str, *reads: Dependency, **options: Any) -> StreamTable:
        """One that is exact as of now."""
        given = with_defaults(options)
        table = StreamTable(0, "main", name, "SELECT id FROM orders", "spark", "AUTO", given, name, 1)
        registry, head = self.db._streams.registry, self.db.head()
        with self.db.lake.catalog.writing() as connection:
            added = registry.add(connection, replace(table, dependencies=reads or (ORDERS,)))
            registry.advance(connection, added, head, None, head)
        return added

    def change(self) -> None:
        self.db.append("orders", [{"id": 1}])

    def blow(self, table: StreamTable) -> None:
        """Its fuse, as a change that is too large would."""
        with self.db.lake.catalog.writing() as connection:
            self.scheduling.put_fuse(connection, table.id, Fuse(table.id, BLOWN, None, 9, 1.0))

    @contextmanager
    def running(self, scheduler: Scheduler | None = None) -> Iterator[Scheduler]:
        at_work = scheduler or self.db.scheduler()
        thread = threading.Thread(target=at_work.run)
        thread.start()
        try:
            yield at_work
        finally:
            at_work.stop()
            thread.join()

    def until_idle(self) -> dict[str, str]:
        """What is held when a scheduler has ended by itself."""
        began = time.monotonic()
        held = self.db.run(seconds=20, until_idle=True)
        assert time.monotonic() - began < 15, "it was not idle"
        return held

    @contextmanager
    def slowly(self) -> Iterator[threading.Event]:
        """Refreshes begin, and end when they are let."""
        go = threading.Event()

        def wait_and_move(workers: Workers, tables: Sequence[StreamTable], target: int) -> Sequence[RefreshResult]:
            go.wait(60)
            return moved(workers, tables, target)

        with patch.object(Workers, "_refresh", wait_and_move):
            yield go
            go.set()

    @contextmanager
    def taking(self, seconds: float) -> Iterator[None]:
        """Refreshes take so long at least."""

        def wait_and_move(workers: Workers, tables: Sequence[StreamTable], target: int) -> Sequence[RefreshResult]:
            time.sleep(seconds)
            return moved(workers, tables, target)

        with patch.object(Workers, "_refresh", wait_and_move):
            yield

    def kinds(self, name: str) -> list[str]:
        return [event.kind for event in self.told if event.name == name]

    def frontier(self, table: StreamTable) -> int | None:
        return next(t.frontier for t in self.db._streams.all() if t.id == table.id)


def moved(workers: Workers, tables: Sequence[StreamTable], target: int) -> Sequence[RefreshResult]:
    """Instead of a refresh: nothing but the frontier."""
    with workers.streams.lake.catalog.writing() as connection:
        for table in tables:
            workers.streams.registry.advance(connection, table, target, None, target)
    return [RefreshResult(t.label, "DIFFERENTIAL", "", 1, 0, 1.0, target, target) for t in tables]


def wait(condition: Callable[[], object], seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.01)

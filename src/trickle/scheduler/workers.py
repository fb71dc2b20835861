"""Refreshes in threads, each under leases; what became of them comes back as values."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ..errors import TrickleError
from ..ops.streams import Streams
from ..ops.units import refresh_unit
from ..refresh.result import RefreshResult
from ..registry.models import StreamTable
from ..registry.scheduling import Scheduling
from ..spark import run_in_pool

Key = tuple[int, ...]
"""A unit, by the ids of its stream tables."""


@dataclass(frozen=True)
class Outcome:
    key: Key
    seconds: float
    results: Sequence[RefreshResult] = ()
    error: Exception | None = None
    is_taken: bool = False
    """Another scheduler was at it."""


@dataclass
class Workers:
    streams: Streams
    owner: str
    number: int
    lease_seconds: float
    wake: threading.Event
    after: Callable[[Sequence[RefreshResult]], None] = lambda results: None
    """What is done between this refresh and the next of the same tables."""
    running: set[Key] = field(default_factory=set)
    done: queue.SimpleQueue[Outcome] = field(default_factory=queue.SimpleQueue)

    def __post_init__(self) -> None:
        self.scheduling = Scheduling(self.streams.registry)
        self.pool = ThreadPoolExecutor(self.number, thread_name_prefix="trickle refresh")

    @property
    def free(self) -> int:
        return self.number - len(self.running)

    def start(self, tables: Sequence[StreamTable], target: int) -> None:
        key = tuple(t.id for t in tables)
        self.running.add(key)
        self.pool.submit(self._work, key, tables, target)

    def finished(self) -> list[Outcome]:
        """What ended since the last time."""
        found = []
        with suppress(queue.Empty):
            while True:
                found.append(self.done.get_nowait())
        self.running -= {outcome.key for outcome in found}
        return found

    def drain(self, seconds: float, meanwhile: Callable[[], object]) -> Iterator[Outcome]:
        """Let running refreshes end, as long as that takes no longer."""
        until = time.monotonic() + seconds
        while self.running and time.monotonic() < until:
            self.wake.wait(min(0.1, max(until - time.monotonic(), 0)))
            self.wake.clear()
            meanwhile()
            yield from self.finished()
        self.pool.shutdown(wait=False, cancel_futures=True)

    def _work(self, key: Key, tables: Sequence[StreamTable], target: int) -> None:
        began = time.perf_counter()
        results: Sequence[RefreshResult] = ()
        error: Exception | None = None
        is_taken = False
        seconds = 0.0
        try:
            if self._lease(key):
                try:
                    results = self._refresh(tables, target)
                    seconds = time.perf_counter() - began
                    self.after(results)
                finally:
                    self._release(key)
            else:
                is_taken = True
        except Exception as failure:
            error = failure
        self.done.put(Outcome(key, seconds or time.perf_counter() - began, results, error, is_taken))
        self.wake.set()

    def _refresh(self, tables: Sequence[StreamTable], target: int) -> Sequence[RefreshResult]:
        """In a pool of Spark's for each thread: what is small does not wait behind what is large."""
        lake = self.streams.lake
        run_in_pool(lake.spark, threading.current_thread().name)
        return refresh_unit(self.streams, tables, lake.snapshot(target), False, "scheduler")

    def _lease(self, key: Key) -> bool:
        with self.streams.lake.catalog.writing() as connection:
            return self.scheduling.lease(connection, key, self.owner, datetime.now(UTC), self.lease_seconds)

    def _release(self, key: Key) -> None:
        with suppress(TrickleError), self.streams.lake.catalog.writing() as connection:
            self.scheduling.release(connection, key, self.owner)

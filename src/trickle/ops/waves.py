"""Units refreshed in the order of what reads what, as many of them at once as there are workers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pyspark import inheritable_thread_target

from ..lake.lake import Lake
from ..refresh.phases import carried
from ..spark import run_in_pool

T = TypeVar("T")
MOST = 4
"""Workers at most, unless the setting says more: a driver of many cores is not better at planning."""


@dataclass
class Wave(Generic[T]):
    """Each part is prepared here, once the parts that it reads are settled; done by a worker; and settled here."""

    sources: Sequence[frozenset[int]]
    """For each part, in an order that has sources first, the parts that it reads."""
    prepare: Callable[[int], Callable[[], T]]
    settle: Callable[[int, T], None]
    _done: set[int] = field(default_factory=set)
    _begun: set[int] = field(default_factory=set)

    def run(self, workers: int, carry: Callable[[Callable[[], T]], Callable[[], T]] = lambda work: work) -> None:
        """All parts; the first error ends it when what is running has ended."""
        if workers < 2 or len(self.sources) < 2:
            for part in range(len(self.sources)):
                self.settle(part, self.prepare(part)())
            return
        with ThreadPoolExecutor(workers, thread_name_prefix="trickle wave") as pool:
            running: dict[Future[T], int] = {}
            while len(self._done) < len(self.sources):
                for part in self._ready(workers - len(running)):
                    running[pool.submit(carry(self.prepare(part)))] = part
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(ended, key=running.__getitem__):
                    part = running.pop(future)
                    self.settle(part, future.result())
                    self._done.add(part)

    def _ready(self, free: int) -> list[int]:
        """Parts to begin with now."""
        waiting = (n for n, read in enumerate(self.sources) if n not in self._begun and read <= self._done)
        found = [n for n, _ in zip(waiting, range(free), strict=False)]
        self._begun.update(found)
        return found


def workers(lake: Lake) -> int:
    """As the setting says; by default the cores of this machine, a few at most."""
    return int(lake.settings["refresh.workers"]) or min(os.cpu_count() or 1, MOST)


def carrier(lake: Lake) -> Callable[[Callable[[], T]], Callable[[], T]]:
    """Work for another thread: in a pool of Spark's of its own, what it spends counted for whoever counts here."""

    def carry(work: Callable[[], T]) -> Callable[[], T]:
        counted = carried(work)
        if not lake.has_spark:
            return counted

        def pooled() -> T:
            run_in_pool(lake.spark, threading.current_thread().name)
            return counted()

        found: Callable[[], T] = inheritable_thread_target(lake.spark)(pooled)
        return found

    return carry

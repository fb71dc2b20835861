"""A stage with a scheduler at work beside it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from trickle.events import Event
from trickle.scheduler.loop import Scheduler

from .stage import Stage


class Kept(Stage):
    @contextmanager
    def running(self, scheduler: Scheduler | None = None) -> Iterator[list[Event]]:
        """What it tells, as it is told."""
        told: list[Event] = []
        end = self.db.subscribe(told.append)
        at_work = scheduler or self.db.scheduler()
        thread = threading.Thread(target=self.db.run_scheduler, args=(at_work,))
        thread.start()
        try:
            yield told
        finally:
            at_work.stop()
            thread.join()
            end()

    def wait(self, condition: Callable[[], Any], seconds: float = 240) -> Any:
        until = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < until, "waited in vain"
            time.sleep(0.02)
        return found

    def fresh(self, *names: str) -> bool:
        found = {s.name: s for s in self.db.stream_table_status()}
        return all(found[n].lag_seconds == 0 for n in names or found)


def kinds(told: list[Event], name: str) -> list[str]:
    return [event.kind for event in told if event.name == name]

"""Where the time of a refresh goes: look, choose, bind, plan, run, apply, commit. Kept only for those who ask."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame

from ..handing import taken
from ..spark import is_connect

T = TypeVar("T")
PHASES = ("look", "choose", "bind", "plan", "run", "apply", "commit")


@dataclass
class Clock:
    """Milliseconds of each phase; what happens within an inner phase does not count for the one around it."""

    milliseconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))
    _open: list[str] = field(default_factory=list)
    _since: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def turn(self) -> None:
        """Charge the time since the last turn to the innermost phase."""
        now = time.perf_counter()
        if self._open:
            self.milliseconds[self._open[-1]] += (now - self._since) * 1000
        self._since = now

    def add(self, other: Clock) -> None:
        """What another thread spent."""
        with self._lock:
            for name, spent in other.milliseconds.items():
                self.milliseconds[name] += spent

    @contextmanager
    def within(self, name: str) -> Iterator[None]:
        self.turn()
        self._open.append(name)
        try:
            yield
        finally:
            self.turn()
            self._open.pop()


_clock: ContextVar[Clock | None] = ContextVar("clock", default=None)


@contextmanager
def collected() -> Iterator[Clock]:
    """The phases of all refreshes inside, by this thread.

    >>> with collected() as clock:
    ...     with phase("run"):
    ...         pass
    >>> sorted(name for name, spent in clock.milliseconds.items() if spent > 0)
    ['run']
    """
    clock = Clock()
    token = _clock.set(clock)
    try:
        yield clock
    finally:
        _clock.reset(token)


def carried(work: Callable[[], T]) -> Callable[[], T]:
    """The same work for another thread: its phases count for whoever collects in this one."""
    clock = _clock.get()
    if clock is None:
        return work

    def run() -> T:
        with collected() as own:
            try:
                return work()
            finally:
                clock.add(own)

    return run


@contextmanager
def phase(name: str) -> Iterator[None]:
    """What happens inside belongs to this phase."""
    clock = _clock.get()
    if clock is None:
        yield
        return
    with clock.within(name):
        yield


def to_arrow(frame: DataFrame) -> pa.Table:
    """The rows of a frame: planned, then run.

    Only for those who measure: no public call plans without running. Refreshes themselves never get there.
    """
    if _clock.get() is not None and not is_connect(frame.sparkSession):
        with phase("plan"):
            frame._jdf.queryExecution().executedPlan()
    with phase("run"):
        return taken(frame)

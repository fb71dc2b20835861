"""How the whole lake stands at one moment: read once, told by health checks, metrics and pages alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from sqlalchemy import Connection

from ..lake import snapshots
from ..refresh.holds import Holds
from ..registry.models import FAILED, SUSPENDED, Refresh, StreamTable
from ..registry.scheduling import Scheduling
from ..registry.tables import aware
from ..schedules import read_duration
from .control import PAUSED
from .diagnose import is_broken
from .fuse import fuse_state
from .lag import lags
from .ledger import Ledger

T = TypeVar("T")
SLOW = 1.0
"""Seconds from which on an answer of the catalog is a slow one."""
TRIES = 3
"""A catalog that answers so many times in a row slowly is slow; once may have been a hiccup of either side."""
STATES = ("fresh", "behind", "empty", "held", "failing", "suspended")
"""From well to unwell; the last that is true of a stream table is its state."""


@dataclass(frozen=True)
class Condition:
    """How one stream table stands."""

    table: StreamTable
    lag: float | None
    """Seconds that the oldest change it does not show yet has been waiting; None while it was never filled."""
    last: Refresh | None
    fuse: str
    """off, armed, blown, or reset."""
    held: str
    """gated, watermark or fuse_blown; empty if it may be refreshed."""
    is_running: bool

    @property
    def name(self) -> str:
        return self.table.label

    @property
    def target_lag(self) -> float | None:
        wanted = self.table.options.get("target_lag")
        return read_duration(wanted) if wanted else None

    @property
    def is_stale(self) -> bool:
        """It lags further behind than its target_lag."""
        return self.lag is not None and self.target_lag is not None and self.lag > self.target_lag

    @property
    def state(self) -> str:
        if self.table.status == SUSPENDED:
            return "suspended"
        if self.table.status == FAILED or is_broken(self.table):
            return "failing"
        if self.held:
            return "held"
        if self.lag is None:
            return "empty"
        return "behind" if self.lag > 0 else "fresh"


@dataclass(frozen=True)
class Overview:
    at: datetime
    head: int
    conditions: tuple[Condition, ...]
    schedulers: int
    """Those that gave a sign of life lately."""
    is_paused: bool
    catalog_seconds: float
    """How long the catalog took to answer one short question, however many stream tables there are."""

    @classmethod
    def read(cls, ledger: Ledger, silence: float) -> Overview:
        """From the catalog alone; a scheduler that was silent for longer than so many seconds is gone."""
        now = datetime.now(UTC)
        scheduling = Scheduling(ledger.registry)
        with ledger.reading() as connection:
            head, took = answered(lambda: snapshots.head(ledger.catalog, connection).id)
            tables = ledger.registry.all(connection)
            conditions = _conditions(ledger, connection, tables, now)
            seen = [aware(row.seen_at) for row in scheduling.schedulers(connection)]
            is_paused = scheduling.control(connection, PAUSED) is not None
        alive = sum(at >= now - timedelta(seconds=silence) for at in seen)
        return cls(now, head, conditions, alive, is_paused, took)

    @property
    def waiting(self) -> int:
        """Stream tables that could be refreshed, lag behind, and that nobody is at."""
        return sum(c.state == "behind" and not c.is_running for c in self.conditions)

    def of(self, table: StreamTable) -> Overview:
        """The same with one stream table only."""
        return replace(self, conditions=tuple(c for c in self.conditions if c.table.id == table.id))

    def those(self, *states: str) -> list[Condition]:
        return [c for c in self.conditions if c.state in states]


def answered(ask: Callable[[], T], clock: Callable[[], float] = time.perf_counter) -> tuple[T, float]:
    """An answer and the seconds it took; a slow one is asked for again, and the quickest counts."""
    quickest = float("inf")
    for _ in range(TRIES):
        began = clock()
        answer = ask()
        quickest = min(quickest, clock() - began)
        if quickest < SLOW:
            break
    return answer, quickest


def _conditions(
    ledger: Ledger, connection: Connection, tables: Sequence[StreamTable], now: datetime
) -> tuple[Condition, ...]:
    registry, scheduling = ledger.registry, Scheduling(ledger.registry)
    if not tables:
        return ()
    lag = lags(ledger, connection, tables, tables)
    holds = Holds.read(connection, registry, tables)
    fuses = holds.fuses or {}
    leased = scheduling.leases(connection, now) if registry.is_current(connection) else {}
    last = registry.last_lines(connection)
    return tuple(
        Condition(t, lag[t.id], last.get(t.id), fuse_state(t, fuses.get(t.id)), holds.reason(t), t.id in leased)
        for t in tables
    )

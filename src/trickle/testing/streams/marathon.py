"""Many stream tables over the same sources, changed and refreshed cycle by cycle, judged by DuckDB after each."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import trickle
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.checker import Checker
from trickle.testing.streams.layered_queries import VIEW
from trickle.testing.streams.mutations import Cycle, beginnings, cycles
from trickle.testing.streams.query import Query


@dataclass
class Marathon:
    """Odd cycles are written by DuckDB, even ones by Trickle, half of those in one transaction."""

    db: trickle.Session
    site: LakeSite
    peer: DuckDBPeer
    queries: Sequence[Query]
    seed: int
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Seconds by kind of work."""

    def __post_init__(self) -> None:
        self._cycles = enumerate(cycles(self.seed))
        self._checker = Checker(self.peer, self.site.address, views=(VIEW,))

    def begin(self) -> None:
        """The sources, the view and the stream tables."""
        with self._timed("begin"):
            self.peer.run(self.site.address, *beginnings(self.seed).statements)
            self.db.sql(f"CREATE VIEW {VIEW[0]} AS {VIEW[1]}")
        for query in self.queries:
            with self._timed("create"):
                self.db.create_stream_table(query.name, query.text, refresh_mode="DIFFERENTIAL", dialect=query.dialect)

    def cycle(self) -> list[str]:
        """Change the sources and refresh; what is not as it must be."""
        number, change = next(self._cycles)
        with self._timed("change"):
            self._write(number, change)
        target = self.db.head()
        with self._timed("refresh"):
            results = self.db.refresh_all()
        wrong = [f"{r.name}: {r.action} {r.reason}" for r in results if (r.action, r.reason) != ("DIFFERENTIAL", "")]
        stale = [f"{r.name}: at {r.data_snapshot}, not {target}" for r in results if r.data_snapshot != target]
        return [*wrong, *stale, *self.differences(target)]

    def differences(self, snapshot: int) -> list[str]:
        with self._timed("check"):
            return self._checker.differences(self.queries, snapshot)

    def _write(self, number: int, change: Cycle) -> None:
        if number % 2:
            self.peer.run(self.site.address, *change.statements)
        elif number % 4:
            with self.db.transaction():
                self._run(change)
        else:
            self._run(change)

    def _run(self, change: Cycle) -> None:
        for statement in change.statements:
            self.db.sql(statement)

    def _timed(self, kind: str) -> _Clock:
        return _Clock(self.spent, kind)


@dataclass
class _Clock:
    spent: dict[str, float]
    kind: str
    started: float = 0.0

    def __enter__(self) -> None:
        self.started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.spent[self.kind] += time.perf_counter() - self.started

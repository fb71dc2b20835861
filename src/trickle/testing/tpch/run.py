"""TPC-H's queries as stream tables, through cycles of changes, judged by DuckDB after each."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import trickle
from trickle.ops.facts import HistoryRecord
from trickle.refresh.result import RefreshResult
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.checker import Checker
from trickle.testing.streams.query import Query
from trickle.testing.tpch.catalogue import QUERIES
from trickle.testing.tpch.changes import Changes, Transaction
from trickle.testing.tpch.tables import TABLES, generate, load

INCREMENTAL = ("DIFFERENTIAL", "NO_DATA")


@dataclass
class Run:
    """A lake with TPC-H's rows of a scale and a stream table for each query."""

    db: trickle.Session
    site: LakeSite
    peer: DuckDBPeer
    scale: float
    seed: int = 1
    mode: str = "DIFFERENTIAL"
    queries: Sequence[Query] = QUERIES
    changed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """In how many cycles the stored rows of a query changed."""
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """How long the refreshes of a query took, cycle by cycle."""

    def __post_init__(self) -> None:
        self._cycles = Changes(self.scale, self.seed).cycles()
        self._checker = Checker(self.peer, self.site.address, sources=tuple(TABLES))

    def load(self, folder: Path) -> None:
        """The rows; they are written to the folder on their way."""
        generate(self.scale, folder)
        load(self.db, folder)

    def create(self, query: Query) -> float:
        """The stream table of a query; how many seconds it took."""
        started = time.perf_counter()
        self.db.create_stream_table(query.name, query.text, refresh_mode=self.mode)
        return time.perf_counter() - started

    def cycle(self) -> list[str]:
        """Change the rows and refresh; what is not as it must be."""
        results: Sequence[RefreshResult | HistoryRecord]
        results = self._immediate() if self.mode == "IMMEDIATE" else self._differential()
        for query in self.queries:
            own = [r for r in results if r.name == query.name]
            self.changed[query.name] += any(r.rows_inserted or r.rows_deleted for r in own)
            self.seconds[query.name].append(sum(r.duration_ms for r in own) / 1000)
        wrong = [f"{r.name}: {r.action} {r.reason}" for r in results if r.action not in INCREMENTAL or r.reason]
        return [*wrong, *self.differences()]

    def differences(self) -> list[str]:
        """What is stored and DuckDB answers otherwise, now."""
        return self._checker.differences(self.queries, self.db.head())

    def full(self, query: Query) -> float:
        """How many seconds a full refresh takes."""
        return self.db.refresh_stream_table(query.name, full=True).duration_ms / 1000

    def _differential(self) -> Sequence[RefreshResult]:
        """All transactions, then one refresh of each."""
        for transaction in next(self._cycles):
            self._transact(transaction)
        return self.db.refresh_all()

    def _immediate(self) -> Sequence[HistoryRecord]:
        """Each transaction brings all of them along."""
        begun = self.db.head()
        transactions = next(self._cycles)
        for transaction in transactions:
            self._transact(transaction)
        history = self.db.refresh_history(limit=len(self.queries) * len(transactions))
        return [h for h in history if h.data_snapshot is not None and h.data_snapshot > begun]

    def _transact(self, statements: Transaction) -> None:
        with self.db.transaction():
            for statement in statements:
                self.db.sql(statement)

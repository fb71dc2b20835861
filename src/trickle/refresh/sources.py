"""The state of the sources a stream table stands on: which window of each a refresh covers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from sqlalchemy import Connection

from ..execute.transaction import Transaction
from ..lake import snapshots
from ..lake.lake import Lake
from ..lake.model import Table
from ..registry.models import StreamTable
from ..registry.store import Registry
from .windows import Window

STORED_SCHEMA = "trickle"


@dataclass(frozen=True)
class Point:
    """Up to where sources are read: tables at a data snapshot, stream tables at the commit that holds it."""

    data: int
    seen: int
    """Commits after this lake snapshot do not count: they were not there to be seen."""

    @classmethod
    def of(cls, table: StreamTable) -> Point | None:
        """Where a stream table stands."""
        return None if table.frontier is None else cls(table.frontier, table.seen or table.frontier)


@dataclass
class Sources:
    """Windows of stored tables, by the data snapshots a refresh goes from and to."""

    lake: Lake
    registry: Registry

    def windows(self, tables: Mapping[str, Table], start: Point | None, end: Point) -> dict[str, Window]:
        """For a source that is itself a stream table, the commits that hold the same data snapshots."""
        with self.lake.reading() as connection:
            read = [f"{t.schema}.{t.name}" for t in tables.values()]
            streams = {s.stored_name: s for s in self.registry.stored(connection, read)}
            return {
                name: self._window(connection, table, streams.get(table.name), start, end)
                for name, table in tables.items()
            }

    def _window(
        self, connection: Connection, table: Table, stream: StreamTable | None, start: Point | None, end: Point
    ) -> Window:
        first, last = start.data if start else None, end.data
        if table.schema == STORED_SCHEMA and stream is not None:
            first = None if start is None else self.registry.commit_for(connection, stream.id, start.data, start.seen)
            last = self.registry.commit_for(connection, stream.id, end.data, end.seen) or end.data
        begin = None if first is None else snapshots.at(self.lake.catalog, connection, first)
        return Window(table, begin, snapshots.at(self.lake.catalog, connection, last))


@dataclass
class Pinned(Transaction):
    """A transaction that reads each stored table at the end of its window."""

    windows: Mapping[int, Window] | None = None

    def rows(self, table: Table, bounds: object = (), here: bool = False) -> DataFrame:
        window = (self.windows or {}).get(table.id)
        if window is None or window.within is not None:
            return super().rows(table)
        return self.lake.state(window.table, window.end)[0]

    @classmethod
    def at(cls, lake: Lake, transaction: Transaction, windows: Mapping[str, Window]) -> Pinned:
        return cls(lake, transaction.draft, windows={w.table.id: w for w in windows.values()})

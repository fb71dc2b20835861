"""The stream tables of a lake as its catalog knows them: what can be told, and said, without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from ..lake import snapshots
from ..lake.catalog import Catalog
from ..lake.model import Snapshot
from ..registry.models import ACTIVE, SUSPENDED, StreamTable
from ..registry.scheduling import Scheduling
from ..registry.store import Registry, unknown
from ..sql.names import Name

MAIN = "main"
MOST_NAMES = 10
"""Told to somebody who named a stream table that is not there."""


@dataclass
class Ledger:
    """Definitions, frontiers and history; `Streams` is a ledger that can also create and refresh."""

    catalog: Catalog
    registry: Registry

    @classmethod
    def at(cls, catalog: Catalog) -> Ledger:
        return cls(catalog, Registry(catalog.schema))

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self.catalog.reading() as connection:
            yield connection

    def head(self) -> Snapshot:
        with self.reading() as connection:
            return snapshots.head(self.catalog, connection)

    def all(self) -> list[StreamTable]:
        with self.reading() as connection:
            return self.registry.all(connection)

    def find(self, name: Name) -> StreamTable:
        with self.reading() as connection:
            return self.found(connection, name)

    def found(self, connection: Connection, name: Name) -> StreamTable:
        """The same as this connection sees it."""
        found = self.registry.find(connection, name.schema or MAIN, name.name)
        if found is None:
            raise unknown(name.name, self.registry.labels(connection))
        return found

    def exists(self, name: Name) -> bool:
        with self.reading() as connection:
            return self.registry.find(connection, name.schema or MAIN, name.name) is not None

    def readers(self, table: StreamTable) -> list[StreamTable]:
        """The stream tables that read this one."""
        with self.reading() as connection:
            return self.registry.readers_of(connection, table)

    def below(self, table: StreamTable) -> list[StreamTable]:
        """The stream tables that it reads, directly or through others."""
        if not any(d.is_stream_table for d in table.dependencies):
            return []
        with self.reading() as connection:
            return self.registry.below(connection, table)

    def circle(self, table: StreamTable) -> list[StreamTable]:
        """The circle that a stream table stands in."""
        return members(table, self.below(table))

    def upstream(self, table: StreamTable) -> list[StreamTable]:
        """The stream tables that this one reads, or the circle that it stands in, from outside."""
        tables = self.below(table)
        circle = members(table, tables) or [table]
        names = {d.name for t in circle for d in t.dependencies if d.is_stream_table} - {t.stored for t in circle}
        return [s for s in tables if s.stored in names]

    def migrate(self) -> None:
        """Make the registry, or bring an older one up to this release, if need be."""
        with self.reading() as connection:
            ready = self.registry.is_migrated(connection)
        if not ready:
            with self.catalog.writing() as connection:
                self.registry.migrate(connection)
            self.catalog.add_indexes()

    # Said to the schedulers.

    def suspend(self, name: Name) -> StreamTable:
        self._mark(self.find(name), status=SUSPENDED)
        return self.find(name)

    def resume(self, name: Name) -> StreamTable:
        self._mark(self.find(name), status=ACTIVE, errors_in_row=0, last_error="")
        return self.find(name)

    def _mark(self, table: StreamTable, **values: Any) -> None:
        self.migrate()
        with self.catalog.writing() as connection:
            self.registry.mark(connection, table, **values)
            Scheduling(self.registry).signal(connection)

    def store(self, before: StreamTable, table: StreamTable) -> None:
        """A changed definition, and a word to the schedulers."""
        self.migrate()
        with self.catalog.writing() as connection:
            self.registry.require_definition(connection, before)
            self.registry.redefine(connection, table)
            Scheduling(self.registry).signal(connection)


def name_of(table: StreamTable) -> Name:
    """Its name as users write it: without its schema where that is main.

    A label cannot be read back: it may hold blanks and dots.
    """
    return Name(None if table.schema == MAIN else table.schema, table.name)


def members(table: StreamTable, tables: Sequence[StreamTable]) -> list[StreamTable]:
    """Those that stand in a circle with this one, itself among them, by id; nothing where it stands in none."""
    import networkx as nx

    if not any(d.is_stream_table for d in table.dependencies):
        return []
    by_id = {t.id: t for t in (*tables, table)}
    by_stored = {t.stored: t.id for t in by_id.values()}
    graph = nx.DiGraph((t.id, by_stored[d.name]) for t in by_id.values() for d in t.dependencies if d.name in by_stored)
    found: set[int] = next((c for c in nx.strongly_connected_components(graph) if table.id in c), set())
    if len(found) == 1 and not graph.has_edge(table.id, table.id):
        return []
    return [by_id[id] for id in sorted(found)]

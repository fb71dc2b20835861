"""The history of maintenance, on a connection of the catalog: a diary of its own, for refreshes learn from theirs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    DateTime,
    Float,
    Integer,
    MetaData,
    String,
    delete,
    insert,
    select,
)
from sqlalchemy import Table as SqlTable

from .models import Maintenance

if TYPE_CHECKING:
    from .store import Registry

NAMES = tuple(f.name for f in fields(Maintenance))
MOST_REFRESHES = 1000
"""Refreshes that are counted as readers of a file."""


def add_maintenance_table(metadata: MetaData) -> None:
    moment = DateTime(timezone=True)
    SqlTable(
        "trickle_maintenance_history",
        metadata,
        Column("id", Integer, primary_key=True, autoincrement=True),
        Column("table_id", BigInteger, nullable=False, index=True),
        Column("name", String, nullable=False),
        Column("started_at", moment, nullable=False),
        Column("finished_at", moment, nullable=False),
        Column("action", String, nullable=False),
        Column("reason", String, nullable=False),
        Column("files_before", Integer, nullable=False),
        Column("files_after", Integer, nullable=False),
        Column("duration_ms", Float, nullable=False),
        Column("expected_ms", Float, nullable=False),
        Column("snapshot", BigInteger),
        Column("initiated_by", String, nullable=False),
    )


class MaintenanceHistory:
    def __init__(self, registry: Registry) -> None:
        self.registry, self.table = registry, registry.tables["maintenance_history"]

    def record(self, connection: Connection, line: Maintenance) -> None:
        connection.execute(insert(self.table).values(**{name: getattr(line, name) for name in NAMES}))

    def lines(
        self, connection: Connection, table_id: int | None = None, name: str | None = None, limit: int = 20
    ) -> list[Maintenance]:
        """The newest first; none while the registry is an older release's."""
        if not self.registry.is_migrated(connection):
            return []
        c = self.table.c
        query = select(*(c[name] for name in NAMES)).order_by(c.id.desc()).limit(limit)
        query = query if table_id is None else query.where(c.table_id == table_id)
        query = query if name is None else query.where(c.name == name)
        return [_line(tuple(row)) for row in connection.execute(query)]

    def forget(self, connection: Connection, before: datetime) -> None:
        if self.registry.is_migrated(connection):
            connection.execute(delete(self.table).where(self.table.c.finished_at < before))

    def readings(self, connection: Connection, ids: Collection[int]) -> list[int]:
        """The newest snapshots that refreshes of these stream tables committed, in order."""
        v = self.registry.tables["version"].c
        query = select(v.snapshot).where(v.stream_table_id.in_(sorted(ids)))
        return sorted(connection.execute(query.order_by(v.snapshot.desc()).limit(MOST_REFRESHES)).scalars())


def _line(values: tuple[object, ...]) -> Maintenance:
    # SQLite keeps no zone; all times of the registry are UTC.
    return Maintenance(*(v.replace(tzinfo=v.tzinfo or UTC) if isinstance(v, datetime) else v for v in values))  # type: ignore[arg-type]

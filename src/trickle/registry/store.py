"""Reading and writing the registry, on a connection of the catalog."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, inspect, select, update

from ..errors import CommitConflict, ConfigError
from .functions import FunctionStore
from .models import ACTIVE, FAILED, Dependency, Refresh, StreamTable
from .tables import VERSION, RegistryTables, aware


class Registry:
    """The stream tables of one lake."""

    def __init__(self, schema: str | None) -> None:
        self.schema = schema
        self.tables = RegistryTables.within(schema)
        self.functions = FunctionStore(schema)
        self._known_to_exist = False
        self._known_version = 0

    def exists(self, connection: Connection) -> bool:
        if not self._known_to_exist:
            self._known_to_exist = inspect(connection).has_table("trickle_registry", schema=self.schema)
        return self._known_to_exist

    def is_current(self, connection: Connection) -> bool:
        """Whether the registry has every table of this release."""
        if self._known_version < VERSION and self.exists(connection):
            self._known_version = connection.execute(select(self.tables["registry"].c.version)).scalar_one()
        return self._known_version >= VERSION

    def migrate(self, connection: Connection) -> None:
        """Create the registry's tables, or bring older ones up to this release."""
        registry = self.tables["registry"]
        if not self.exists(connection):
            self.tables.metadata.create_all(connection)
            connection.execute(insert(registry).values(version=VERSION))
            return
        found = connection.execute(select(registry.c.version)).scalar_one()
        if found > VERSION:
            raise ConfigError(
                f"the registry has version {found}, this release knows {VERSION}", hint="upgrade spark-trickle."
            )
        if found < VERSION:
            self.tables.metadata.create_all(connection)
            connection.execute(update(registry).values(version=VERSION))

    # Stream tables.

    def all(self, connection: Connection) -> list[StreamTable]:
        if not self.exists(connection):
            return []
        t = self.tables["stream_table"]
        rows = connection.execute(select(t).order_by(t.c.id)).all()
        read = self._dependencies(connection)
        return [replace(_stream_table(r), dependencies=tuple(read[r.id])) for r in rows]

    def find(self, connection: Connection, schema: str, name: str) -> StreamTable | None:
        if not self.exists(connection):
            return None
        t = self.tables["stream_table"]
        row = connection.execute(select(t).where(t.c.schema_name == schema, t.c.name == name)).first()
        if row is None:
            # Not by the database's lower(): SQLite's knows ASCII alone.
            wanted = schema.casefold(), name.casefold()
            rows = connection.execute(select(t))
            row = next((r for r in rows if (r.schema_name.casefold(), r.name.casefold()) == wanted), None)
        return self._with_dependencies(connection, _stream_table(row)) if row else None

    def readers(self, connection: Connection, table_ids: Sequence[int]) -> list[StreamTable]:
        """The stream tables that read one of the stored tables."""
        if not table_ids or not self.exists(connection):
            return []
        t, d = self.tables["stream_table"], self.tables["dependency"]
        ids = select(d.c.stream_table_id).where(d.c.table_id.in_(table_ids))
        rows = connection.execute(select(t).where(t.c.id.in_(ids)).order_by(t.c.id)).all()
        return [self._with_dependencies(connection, _stream_table(r)) for r in rows]

    def add(self, connection: Connection, table: StreamTable) -> StreamTable:
        t, h = self.tables["stream_table"], self.tables["refresh_history"]
        # An id is never given twice: the history of a dropped stream table stays its own.
        highest = [connection.execute(select(func.max(c))).scalar() for c in (t.c.id, h.c.stream_table_id)]
        added = replace(table, id=max(int(n or 0) for n in highest) + 1, created_at=datetime.now(UTC))
        connection.execute(insert(t).values(id=added.id, created_at=added.created_at, **_row(added)))
        self.put_dependencies(connection, added)
        self.functions.record(connection, added.id, added.functions or {})
        return added

    def redefine(self, connection: Connection, table: StreamTable) -> None:
        """Store a changed definition."""
        t = self.tables["stream_table"]
        connection.execute(update(t).where(t.c.id == table.id).values(**_row(table)))
        self.put_dependencies(connection, table)
        if table.functions is not None:
            self.functions.record(connection, table.id, table.functions)

    def remove(self, connection: Connection, id: int) -> None:
        t = self.tables["stream_table"]
        connection.execute(delete(t).where(t.c.id == id))
        for name in ("dependency", "version"):
            other = self.tables[name]
            connection.execute(delete(other).where(other.c.stream_table_id == id))
        self.functions.forget(connection, id)

    # Frontiers.

    def require(self, connection: Connection, table: StreamTable) -> None:
        """The definition and the frontier must still be what the work started from."""
        t = self.tables["stream_table"].c
        row = connection.execute(select(t.version, t.frontier).where(t.id == table.id)).first()
        if row is None or (row.version, row.frontier) != (table.version, table.frontier):
            raise CommitConflict(
                f'stream table "{table.label}" was refreshed or changed by somebody else',
                hint="refresh it again.",
            )

    def advance(
        self, connection: Connection, table: StreamTable, frontier: int, snapshot: int | None, seen: int
    ) -> None:
        """Move the frontier; with a snapshot, the content was written there."""
        t = self.tables["stream_table"]
        values: dict[str, Any] = {"frontier": frontier, "seen": seen, "pending": ""}
        values |= {"last_error": "", "errors_in_row": 0}
        if table.status == FAILED:
            values["status"] = ACTIVE
        if snapshot is not None:
            values["snapshot"] = snapshot
            version = {"stream_table_id": table.id, "snapshot": snapshot, "data_snapshot": frontier}
            connection.execute(insert(self.tables["version"]).values(**version))
        connection.execute(update(t).where(t.c.id == table.id).values(**values))

    def mark(self, connection: Connection, table: StreamTable, **values: Any) -> None:
        t = self.tables["stream_table"]
        connection.execute(update(t).where(t.c.id == table.id).values(**values))

    def commit_for(self, connection: Connection, id: int, data_snapshot: int, seen: int) -> int | None:
        """The newest commit of a stream table, of those seen, whose data snapshot is not after this one."""
        v = self.tables["version"].c
        return connection.execute(
            select(func.max(v.snapshot)).where(
                v.stream_table_id == id, v.data_snapshot <= data_snapshot, v.snapshot <= seen
            )
        ).scalar()

    # History.

    def record(self, connection: Connection, line: Refresh) -> None:
        values = {f: getattr(line, f) for f in line.__dataclass_fields__}
        connection.execute(insert(self.tables["refresh_history"]).values(**values))

    def history(self, connection: Connection, id: int | None = None, limit: int = 20) -> list[Refresh]:
        """The newest lines first."""
        if not self.exists(connection):
            return []
        h = self.tables["refresh_history"]
        query = select(h).order_by(h.c.id.desc()).limit(limit)
        if id is not None:
            query = query.where(h.c.stream_table_id == id)
        return [_refresh(r) for r in connection.execute(query)]

    # Dependencies.

    def _with_dependencies(self, connection: Connection, table: StreamTable) -> StreamTable:
        return replace(table, dependencies=tuple(self._dependencies(connection, table.id)[table.id]))

    def _dependencies(self, connection: Connection, id: int | None = None) -> dict[int, list[Dependency]]:
        """What one stream table reads, or what each does."""
        d = self.tables["dependency"].c
        query = select(d.stream_table_id, d.name, d.table_id, d.columns, d.fingerprint).order_by(d.name)
        found: dict[int, list[Dependency]] = defaultdict(list)
        for reader, name, table_id, columns, fingerprint in connection.execute(
            query if id is None else query.where(d.stream_table_id == id)
        ):
            found[reader].append(Dependency(name, table_id, tuple(json.loads(columns)), fingerprint))
        return found

    def put_dependencies(self, connection: Connection, table: StreamTable) -> None:
        d = self.tables["dependency"]
        connection.execute(delete(d).where(d.c.stream_table_id == table.id))
        rows = [
            {
                "stream_table_id": table.id,
                "name": x.name,
                "table_id": x.table_id,
                "columns": json.dumps(x.columns),
                "fingerprint": x.fingerprint,
            }
            for x in table.dependencies
        ]
        if rows:
            connection.execute(insert(d), rows)


def _row(table: StreamTable) -> dict[str, Any]:
    return {
        "schema_name": table.schema,
        "name": table.name,
        "query": table.query,
        "dialect": table.dialect,
        "refresh_mode": table.refresh_mode,
        "options": json.dumps(dict(table.options)),
        "stored_name": table.stored_name,
        "version": table.version,
        "status": table.status,
        "frontier": table.frontier,
        "snapshot": table.snapshot,
        "seen": table.seen,
        "pending": table.pending,
        "obstacle": table.obstacle,
        "last_error": table.last_error,
        "errors_in_row": table.errors_in_row,
    }


def _stream_table(row: Row[Any]) -> StreamTable:
    return StreamTable(
        id=row.id,
        schema=row.schema_name,
        name=row.name,
        query=row.query,
        dialect=row.dialect,
        refresh_mode=row.refresh_mode,
        options=json.loads(row.options),
        stored_name=row.stored_name,
        version=row.version,
        status=row.status,
        frontier=row.frontier,
        snapshot=row.snapshot,
        seen=row.seen,
        pending=row.pending,
        obstacle=row.obstacle,
        last_error=row.last_error,
        errors_in_row=row.errors_in_row,
        created_at=aware(row.created_at),
    )


def _refresh(row: Row[Any]) -> Refresh:
    values = {f: getattr(row, f) for f in Refresh.__dataclass_fields__}
    return Refresh(**{**values, "started_at": aware(row.started_at), "finished_at": aware(row.finished_at)})

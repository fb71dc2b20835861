"""Reading and writing the registry, on a connection of the catalog."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, Select, bindparam, delete, func, insert, inspect, select, text, update
from sqlalchemy.schema import CreateColumn, CreateIndex
from sqlalchemy.sql import ColumnElement

from ..errors import ConfigError, NotFound
from .frontiers import Frontiers
from .history import PAGE, History
from .models import Dependency, StreamTable
from .tables import TABLES_SINCE, VERSION, RegistryTables, aware

if TYPE_CHECKING:
    from .functions import FunctionStore

NAMED = 20
"""Stream tables that an error names one by one."""


class Registry(Frontiers, History):
    """The stream tables of one lake."""

    def __init__(self, schema: str | None) -> None:
        self.schema = schema
        self.tables = RegistryTables.within(schema)
        self._known_to_exist = False
        self._known_version = 0

    @cached_property
    def functions(self) -> FunctionStore:
        from .functions import FunctionStore

        return FunctionStore(self.schema)

    def exists(self, connection: Connection) -> bool:
        if not self._known_to_exist:
            self._known_to_exist = inspect(connection).has_table("trickle_registry", schema=self.schema)
        return self._known_to_exist

    def is_current(self, connection: Connection) -> bool:
        """Whether the registry has every table of this release."""
        return self.version(connection) >= TABLES_SINCE

    def is_migrated(self, connection: Connection) -> bool:
        """Whether it also has every index."""
        return self.version(connection) >= VERSION

    def version(self, connection: Connection) -> int:
        if self._known_version < VERSION and self.exists(connection):
            self._known_version = connection.execute(select(self.tables["registry"].c.version)).scalar_one()
        return self._known_version

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
            self._add_learning(connection)
            for index in (i for table in self.tables.metadata.tables.values() for i in table.indexes):
                connection.execute(CreateIndex(index, if_not_exists=True))
            connection.execute(update(registry).values(version=VERSION))

    def _add_learning(self, connection: Connection) -> None:
        history = self.tables["refresh_history"]
        known = inspect(connection).get_columns(history.name, schema=self.schema)
        if not any(c["name"] == history.c.learning_ms.name for c in known):
            added = CreateColumn(history.c.learning_ms).compile(dialect=connection.dialect)
            table = connection.dialect.identifier_preparer.format_table(history)
            connection.execute(text(f"ALTER TABLE {table} ADD COLUMN {added}"))

    # Stream tables.

    def all(self, connection: Connection) -> list[StreamTable]:
        return self._tables(connection) if self.exists(connection) else []

    def find(self, connection: Connection, schema: str, name: str) -> StreamTable | None:
        if not self.exists(connection):
            return None
        if schema.isascii() and name.isascii():
            found = self._rows(connection, self._by_name, {"name": name.lower(), "schema": schema.lower()})
        else:
            ids = self._named(connection, schema, name)
            found = self._tables(connection, self.tables["stream_table"].c.id.in_(ids))
        return next((f for f in found if (f.schema, f.name) == (schema, name)), next(iter(found), None))

    @cached_property
    def _by_name(self) -> Select[Any]:
        """Built once: every refresh asks this."""
        t = self.tables["stream_table"]
        names = func.lower(t.c.name) == bindparam("name"), func.lower(t.c.schema_name) == bindparam("schema")
        return select(t).where(*names).order_by(t.c.id)

    def labels(self, connection: Connection) -> list[str]:
        """The names of all, as users write them."""
        if not self.exists(connection):
            return []
        t = self.tables["stream_table"].c
        return [n if s == "main" else f"{s}.{n}" for s, n in connection.execute(select(t.schema_name, t.name))]

    def _named(self, connection: Connection, schema: str, name: str) -> list[int]:
        """Not by the database's lower(): SQLite's knows ASCII alone."""
        t, wanted = self.tables["stream_table"].c, (schema.casefold(), name.casefold())
        rows = connection.execute(select(t.id, t.schema_name, t.name))
        return [id for id, *spelled in rows if tuple(part.casefold() for part in spelled) == wanted]

    def stored(self, connection: Connection, names: Collection[str]) -> list[StreamTable]:
        """Those whose stored tables plans know by one of these names."""
        short = [n.removeprefix("trickle.") for n in names if n.startswith("trickle.")]
        if not short or not self.exists(connection):
            return []
        return self._tables(connection, self.tables["stream_table"].c.stored_name.in_(short))

    def below(self, connection: Connection, table: StreamTable) -> list[StreamTable]:
        """The stream tables that one reads, those that they read, and so on."""
        names = [d.name.removeprefix("trickle.") for d in table.dependencies if d.is_stream_table]
        if not names or not self.exists(connection):
            return []
        t, d = self.tables["stream_table"].c, self.tables["dependency"].c
        found = select(t.id).where(t.stored_name.in_(names)).cte("below", recursive=True)
        source = func.substr(d.name, len("trickle.") + 1)
        step = select(t.id).where(
            d.stream_table_id == found.c.id, d.name.startswith("trickle."), t.stored_name == source
        )
        return self._tables(connection, t.id.in_(select(found.union(step).c.id)))

    def in_mode(self, connection: Connection, mode: str) -> list[StreamTable]:
        if not self.exists(connection):
            return []
        return self._tables(connection, self.tables["stream_table"].c.refresh_mode == mode)

    def readers(self, connection: Connection, table_ids: Collection[int]) -> list[StreamTable]:
        """The stream tables that read one of the stored tables."""
        if not table_ids or not self.exists(connection):
            return []
        d = self.tables["dependency"].c
        return self._reading(connection, d.table_id.in_(table_ids))

    def readers_of(self, connection: Connection, table: StreamTable) -> list[StreamTable]:
        """The stream tables that read this one."""
        if not self.exists(connection):
            return []
        return self._reading(connection, self.tables["dependency"].c.name == table.stored)

    def _reading(self, connection: Connection, what: ColumnElement[bool]) -> list[StreamTable]:
        ids = select(self.tables["dependency"].c.stream_table_id).where(what)
        return self._tables(connection, self.tables["stream_table"].c.id.in_(ids))

    def _tables(self, connection: Connection, *which: ColumnElement[bool]) -> list[StreamTable]:
        """With what they read, in the order of their ids."""
        t = self.tables["stream_table"]
        return self._rows(connection, select(t).where(*which).order_by(t.c.id), are_all=not which)

    def _rows(
        self, connection: Connection, query: Select[Any], values: Mapping[str, str] | None = None, are_all: bool = False
    ) -> list[StreamTable]:
        rows = connection.execute(query, values).all()
        read = self._dependencies(connection, None if are_all else [r.id for r in rows])
        return [_stream_table(r, tuple(read[r.id])) for r in rows]

    def add(self, connection: Connection, table: StreamTable) -> StreamTable:
        t, h = self.tables["stream_table"], self.tables["refresh_history"]
        # An id is never given twice: the history of a dropped stream table stays its own.
        highest = [connection.execute(select(func.max(c))).scalar() for c in (t.c.id, h.c.stream_table_id)]
        added = replace(table, id=max(int(n or 0) for n in highest) + 1, created_at=datetime.now(UTC))
        values = _definition(added) | _progress(added)
        connection.execute(insert(t).values(id=added.id, created_at=added.created_at, **values))
        self.put_dependencies(connection, added)
        self.functions.record(connection, added.id, added.functions or {})
        return added

    def redefine(self, connection: Connection, table: StreamTable) -> None:
        """Store a changed definition; how far the table is stays as it is: a refresh may have moved it meanwhile."""
        self.mark(connection, table, **_definition(table))
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

    # Dependencies.

    def _dependencies(self, connection: Connection, ids: Sequence[int] | None) -> dict[int, list[Dependency]]:
        """What these stream tables read, or what each does."""
        every, some = self._reads
        found: dict[int, list[Dependency]] = defaultdict(list)
        asked = [(every, None)] if ids is None else [(some, {"ids": few}) for few in _by_few(ids)]
        for query, values in asked:
            for reader, name, table_id, columns, fingerprint in connection.execute(query, values):
                found[reader].append(Dependency(name, table_id, _columns(columns), fingerprint))
        return found

    @cached_property
    def _reads(self) -> tuple[Select[Any], Select[Any]]:
        """What all stream tables read, and what some do; built once: every refresh asks this."""
        d = self.tables["dependency"].c
        every = select(d.stream_table_id, d.name, d.table_id, d.columns, d.fingerprint).order_by(d.name)
        return every, every.where(d.stream_table_id.in_(bindparam("ids", expanding=True)))

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


def unknown(name: str, known: Sequence[str]) -> NotFound:
    """The error for a name that no stream table has.

    >>> unknown("totls", ["totals", "large"]).hint, unknown("x", ["totals", "large"]).hint, unknown("x", []).hint
    ('did you mean "totals"?', 'there are: totals, large.', 'there are none yet.')
    """
    more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
    hint = f"there are: {', '.join(known[:NAMED])}{more}." if known else "there are none yet."
    if near := get_close_matches(name, known, n=1):
        hint = f'did you mean "{near[0]}"?'
    return NotFound(f'stream table "{name}" does not exist', hint=hint)


def _by_few(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[n : n + PAGE] for n in range(0, len(ids), PAGE))


def _definition(table: StreamTable) -> dict[str, Any]:
    """What it is, as users say it."""
    return {
        "schema_name": table.schema,
        "name": table.name,
        "query": table.query,
        "dialect": table.dialect,
        "refresh_mode": table.refresh_mode,
        "options": json.dumps(dict(table.options)),
        "stored_name": table.stored_name,
        "version": table.version,
        "obstacle": table.obstacle,
    }


def _progress(table: StreamTable) -> dict[str, Any]:
    """How far it is and how it fares."""
    return {
        "status": table.status,
        "frontier": table.frontier,
        "snapshot": table.snapshot,
        "seen": table.seen,
        "pending": table.pending,
        "last_error": table.last_error,
        "errors_in_row": table.errors_in_row,
    }


@lru_cache(maxsize=4096)
def _columns(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


@lru_cache(maxsize=4096)
def _options(text: str) -> Mapping[str, Any]:
    """Most stream tables have the same ones: read once, shared by all."""
    return MappingProxyType(json.loads(text))


def _stream_table(row: Row[Any], read: tuple[Dependency, ...]) -> StreamTable:
    return StreamTable(
        id=row.id,
        schema=row.schema_name,
        name=row.name,
        query=row.query,
        dialect=row.dialect,
        refresh_mode=row.refresh_mode,
        options=_options(row.options),
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
        dependencies=read,
    )

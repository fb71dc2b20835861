"""Schemas, tables and views as the catalog defines them at a snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, and_, func, or_, select
from sqlalchemy import Table as SqlTable
from sqlalchemy.sql import ColumnElement

from . import keys
from .catalog import Catalog
from .model import Column, PartitionKey, Snapshot, SortKey, Table, View

VIEW_SQL_TAG = "trickle.spark_sql"
_REMEMBERED = 16_384
"""Definitions of tables that are kept in memory."""


def alive(table: SqlTable, snapshot: int) -> ColumnElement[bool]:
    """Rows of a catalog table that are in force at the snapshot."""
    c = table.c
    return and_(c.begin_snapshot <= snapshot, or_(c.end_snapshot.is_(None), c.end_snapshot > snapshot))


def _same(connection: Connection, column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    """Names compare without case; beyond ASCII by Python's idea of it, since SQLite's lower() knows ASCII alone."""
    if name.isascii():
        return func.lower(column) == name.lower()
    held = connection.execute(select(column).distinct()).scalars()
    return column.in_([spelled for spelled in held if spelled.lower() == name.lower()])


class Definitions:
    """What is defined in a lake at a snapshot; tables are remembered per schema version."""

    def __init__(self, catalog: Catalog, data_path: str) -> None:
        self.catalog = catalog
        self.data_path = data_path
        self._cache: dict[tuple[int, str, str], Table | None] = {}

    def schemas(self, connection: Connection, at: Snapshot) -> dict[str, tuple[int, str]]:
        """Schema name → (id, absolute path)."""
        s = self.catalog.tables["schema"]
        rows = connection.execute(select(s).where(alive(s, at.id)))
        return {r.schema_name: (r.schema_id, self._resolve(r.path, r.path_is_relative, self.data_path)) for r in rows}

    def table(self, connection: Connection, at: Snapshot, schema: str, name: str) -> Table | None:
        key = (at.schema_version, schema.casefold(), name.casefold())
        missing = key not in self._cache
        found = self._load_table(connection, at, schema, name) if missing else self._cache.get(key)
        if missing:
            if len(self._cache) > _REMEMBERED:
                self._cache.pop(next(iter(self._cache)), None)
            self._cache[key] = found
        return found

    def names(self, connection: Connection, at: Snapshot) -> list[tuple[str, str]]:
        """(schema, name) of every table, in order."""
        t, s = self.catalog.tables["table"], self.catalog.tables["schema"]
        rows = connection.execute(
            select(s.c.schema_name, t.c.table_name)
            .join(s, s.c.schema_id == t.c.schema_id)
            .where(alive(t, at.id), alive(s, at.id))
            .order_by(s.c.schema_name, t.c.table_name)
        )
        return [(r.schema_name, r.table_name) for r in rows]

    def tables(self, connection: Connection, at: Snapshot) -> list[Table]:
        found = (self.table(connection, at, schema, name) for schema, name in self.names(connection, at))
        return [t for t in found if t is not None]

    def view(self, connection: Connection, at: Snapshot, schema: str, name: str) -> View | None:
        v, s = self.catalog.tables["view"], self.catalog.tables["schema"]
        row = connection.execute(
            self._views().where(
                alive(v, at.id), _same(connection, s.c.schema_name, schema), _same(connection, v.c.view_name, name)
            )
        ).first()
        return self._view(connection, at, row) if row else None

    def views(self, connection: Connection, at: Snapshot) -> list[View]:
        v = self.catalog.tables["view"]
        rows = connection.execute(self._views().where(alive(v, at.id))).all()
        return [self._view(connection, at, row) for row in rows]

    def _views(self) -> Any:
        v, s = self.catalog.tables["view"], self.catalog.tables["schema"]
        return select(v, s.c.schema_name).join(s, and_(s.c.schema_id == v.c.schema_id, s.c.end_snapshot.is_(None)))

    def _view(self, connection: Connection, at: Snapshot, row: Row[Any]) -> View:
        original, _ = self._tags(connection, at, row.view_id).get(VIEW_SQL_TAG, ("", 0))
        return View(
            row.view_id,
            row.view_uuid,
            row.schema_id,
            row.schema_name,
            row.view_name,
            original or row.sql,
            "spark" if original else row.dialect,
            _aliases(row.column_aliases),
        )

    def _load_table(self, connection: Connection, at: Snapshot, schema: str, name: str) -> Table | None:
        t, s = self.catalog.tables["table"], self.catalog.tables["schema"]
        row = connection.execute(
            select(
                t,
                s.c.schema_name,
                s.c.path.label("schema_path"),
                s.c.path_is_relative.label("schema_relative"),
            )
            .join(s, s.c.schema_id == t.c.schema_id)
            .where(
                alive(t, at.id),
                alive(s, at.id),
                _same(connection, t.c.table_name, name),
                _same(connection, s.c.schema_name, schema),
            )
        ).first()
        if row is None:
            return None
        home = self._resolve(row.schema_path, row.schema_relative, self.data_path)
        partition_id, partitioned_by = self._partition(connection, at, row.table_id)
        columns = self.columns_at(connection, at.id, row.table_id)
        tags = self._tags(connection, at, row.table_id)
        return Table(
            id=row.table_id,
            uuid=str(row.table_uuid),
            schema_id=row.schema_id,
            schema=row.schema_name,
            name=row.table_name,
            path=self._resolve(row.path, row.path_is_relative, home),
            columns=columns,
            begin=row.begin_snapshot,
            partition_id=partition_id,
            partitioned_by=partitioned_by,
            clustered_by=self._sort(connection, at, row.table_id),
            key=keys.primary_key(tags, row.table_name, columns),
            foreign_keys=keys.foreign_keys(tags, columns),
            schema_version=at.schema_version,
        )

    def columns_at(self, connection: Connection, at: int, table_id: int) -> tuple[Column, ...]:
        """The table's columns as they were at a snapshot."""
        c = self.catalog.tables["column"]
        rows = connection.execute(select(c).where(c.c.table_id == table_id).order_by(c.c.column_order)).all()
        since: dict[int, int] = {}
        for row in rows:
            since[row.column_id] = min(row.begin_snapshot, since.get(row.column_id, row.begin_snapshot))
        live = [r for r in rows if r.begin_snapshot <= at and (r.end_snapshot is None or r.end_snapshot > at)]
        return build_columns(live, since)

    def unreadable_types(self, connection: Connection, table: Table) -> list[tuple[int, str, int, int]]:
        """(column, type, from, until) of types that columns had once and that Spark does not read as today's."""
        from .types import widens

        c = self.catalog.tables["column"].c
        now = {column.id: column for column in table.columns if not column.children}
        rows = connection.execute(
            select(c.column_id, c.column_type, c.begin_snapshot, c.end_snapshot).where(
                c.table_id == table.id, c.end_snapshot.is_not(None), c.parent_column.is_(None)
            )
        )
        return [
            (id, type.lower(), begin, end)
            for id, type, begin, end in rows
            if id in now and type.lower() != now[id].type and not widens(replace(now[id], type=type.lower()), now[id])
        ]

    def next_column_id(self, connection: Connection, table_id: int) -> int:
        c = self.catalog.tables["column"].c
        highest = connection.execute(select(func.max(c.column_id)).where(c.table_id == table_id)).scalar()
        return int(highest or 0) + 1

    def _partition(
        self, connection: Connection, at: Snapshot, table_id: int
    ) -> tuple[int | None, tuple[PartitionKey, ...]]:
        i, c = self.catalog.tables["partition_info"], self.catalog.tables["partition_column"]
        rows = connection.execute(
            select(c)
            .join(i, and_(i.c.partition_id == c.c.partition_id, i.c.table_id == c.c.table_id))
            .where(i.c.table_id == table_id, alive(i, at.id))
            .order_by(c.c.partition_key_index)
        ).all()
        if not rows:
            return None, ()
        return rows[0].partition_id, tuple(PartitionKey(r.column_id, r.transform) for r in rows)

    def _sort(self, connection: Connection, at: Snapshot, table_id: int) -> tuple[SortKey, ...]:
        i, e = self.catalog.tables["sort_info"], self.catalog.tables["sort_expression"]
        rows = connection.execute(
            select(e)
            .join(i, and_(i.c.sort_id == e.c.sort_id, i.c.table_id == e.c.table_id))
            .where(i.c.table_id == table_id, alive(i, at.id))
            .order_by(e.c.sort_key_index)
        )
        return tuple(
            SortKey(r.expression, r.sort_direction == "DESC", r.null_order == "NULLS_LAST", r.dialect) for r in rows
        )

    def _tags(self, connection: Connection, at: Snapshot, object_id: int) -> keys.Tags:
        g = self.catalog.tables["tag"]
        rows = connection.execute(
            select(g.c.key, g.c.value, g.c.begin_snapshot).where(g.c.object_id == object_id, alive(g, at.id))
        )
        return {r.key: (r.value, r.begin_snapshot) for r in rows}

    def _resolve(self, path: str, relative: bool, home: str) -> str:
        return home + path if relative else path


def build_columns(rows: Sequence[Row[Any]], since: dict[int, int]) -> tuple[Column, ...]:
    """Catalog rows, in column order, as a forest of columns."""
    children: dict[int | None, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        children[row.parent_column].append(row)
    return tuple(_build_column(row, children, since) for row in children[None])


def _build_column(row: Row[Any], children: dict[int | None, list[Row[Any]]], since: dict[int, int]) -> Column:
    # DuckDB writes the literal text NULL, as a word, for "no default".
    is_literal = row.default_value_type != "expression"
    default = None if row.default_value in (None, "NULL") and is_literal else row.default_value
    return Column(
        id=row.column_id,
        name=row.column_name,
        type=row.column_type.lower(),
        nullable=bool(row.nulls_allowed) or row.parent_column is not None,
        children=tuple(_build_column(r, children, since) for r in children[row.column_id]),
        initial_default=row.initial_default,
        default=default,
        default_kind="literal" if is_literal else "expression",
        since=since[row.column_id],
    )


def _aliases(text: str | None) -> tuple[str, ...]:
    if not text:
        return ()
    return tuple(part.strip().strip('"') for part in text.split(","))


def flatten(columns: Iterable[Column]) -> list[Column]:
    """All columns with everything inside them."""
    return [inner for column in columns for inner in column.walk()]

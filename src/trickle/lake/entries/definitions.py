"""Rows that define schemas, tables and views."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select, update

from .. import inlined
from ..definitions import VIEW_SQL_TAG
from ..draft import TableDraft
from ..keys import tags_of
from ..model import Column, Table
from .rows import Rows, folder_of, quoted


class DefinitionEntries(Rows):
    """Rows that define schemas, tables and views."""

    def schemas(self) -> None:
        draft, commit = self.commit.draft, self.commit
        for name, provisional in draft.created_schemas.items():
            id = commit.real[provisional] = next(commit.catalog_ids)
            unique = draft.schema_uuids[name]
            self.put(
                "schema",
                [
                    {
                        "schema_id": id,
                        "schema_uuid": unique,
                        "begin_snapshot": commit.id,
                        "schema_name": name,
                        "path": folder_of(name, unique),
                        "path_is_relative": True,
                    }
                ],
            )
            commit.tokens.append(f"created_schema:{quoted(name)}")
        for _, id in draft.dropped_schemas.items():
            self.end("schema", schema_id=id)
            commit.tokens.append(f"dropped_schema:{id}")

    def tables(self) -> None:
        for part in self.commit.draft.tables.values():
            if part.before is None and not part.dropped:
                self._create(part)
            elif part.dropped and part.before is not None:
                self._drop(part.table)
            elif part.redefined:
                self._redefine(part)

    def views(self) -> None:
        draft, commit = self.commit.draft, self.commit
        for view in draft.dropped_views.values():
            self.end("view", view_id=view.id)
            self.end("tag", object_id=view.id)
            commit.tokens.append(f"dropped_view:{view.id}")
        for view, duckdb_sql in draft.created_views.values():
            id = next(commit.catalog_ids)
            self.put(
                "view",
                [
                    {
                        "view_id": id,
                        "view_uuid": view.uuid,
                        "begin_snapshot": commit.id,
                        "schema_id": commit.real.get(view.schema_id, view.schema_id),
                        "view_name": view.name,
                        "dialect": "duckdb",
                        "sql": duckdb_sql,
                        "column_aliases": ",".join(quoted(a) for a in view.column_aliases),
                    }
                ],
            )
            self._tags(id, {VIEW_SQL_TAG: view.sql})
            commit.tokens.append(f"created_view:{quoted(view.schema, view.name)}")

    def _create(self, part: TableDraft) -> None:
        commit, table = self.commit, part.table
        id = commit.real[table.id] = next(commit.catalog_ids)
        table = part.table = replace(
            table, id=id, schema_id=commit.real.get(table.schema_id, table.schema_id), begin=commit.id
        )
        self._table_row(table)
        self._columns(id, table.columns)
        self._layout(part, None)
        self._version(id)
        inlined.add_store(commit.catalog, self.connection, table, commit.version)
        self._tags(id, self._changed_tags(table, None))
        commit.tokens.append(f"created_table:{quoted(table.schema, table.name)}")

    def _table_row(self, table: Table) -> None:
        path = table.path.rstrip("/").rsplit("/", 1)[1] + "/"
        self.put(
            "table",
            [
                {
                    "table_id": table.id,
                    "table_uuid": table.uuid,
                    "begin_snapshot": self.commit.id,
                    "schema_id": table.schema_id,
                    "table_name": table.name,
                    "path": path,
                    "path_is_relative": True,
                }
            ],
        )

    def _drop(self, table: Table) -> None:
        for name in ("table", "column", "data_file", "delete_file", "partition_info", "sort_info"):
            self.end(name, table_id=table.id)
        self.end("tag", object_id=table.id)
        self.end("column_tag", table_id=table.id)
        self.commit.tokens.append(f"dropped_table:{table.id}")

    def _redefine(self, part: TableDraft) -> None:
        commit, table, before = self.commit, part.table, part.before
        assert before is not None
        if table.name != before.name:
            t = self.tables_["table"]
            stored = self.connection.execute(
                select(t.c.path, t.c.path_is_relative).where(t.c.table_id == table.id, t.c.end_snapshot.is_(None))
            ).one()
            self.end("table", table_id=table.id)
            self._table_row(table)
            self.connection.execute(
                update(t)
                .where(t.c.table_id == table.id, t.c.end_snapshot.is_(None))
                .values(path=stored.path, path_is_relative=stored.path_is_relative)
            )
            commit.tokens.append(f"created_table:{quoted(table.schema, table.name)}")
        else:
            commit.tokens.append(f"altered_table:{table.id}")
        self._alter_columns(table.id, before.columns, table.columns)
        self._layout(part, before)
        changed = self._changed_tags(table, before)
        for key in changed:
            self.end("tag", object_id=table.id, key=key)
        self._tags(table.id, changed)
        self._version(table.id)
        inlined.add_store(commit.catalog, self.connection, table, commit.version)

    def _changed_tags(self, table: Table, before: Table | None) -> dict[str, str]:
        """The tags with declared keys that are not as before."""
        old = tags_of(before.key, before.foreign_keys) if before else tags_of(None, ())
        return {key: text for key, text in tags_of(table.key, table.foreign_keys).items() if old[key] != text}

    def _tags(self, object_id: int, tags: dict[str, str]) -> None:
        self.put(
            "tag",
            [{"object_id": object_id, "begin_snapshot": self.commit.id, "key": k, "value": v} for k, v in tags.items()],
        )

    def _version(self, table_id: int) -> None:
        self.put(
            "schema_versions",
            [{"begin_snapshot": self.commit.id, "schema_version": self.commit.version, "table_id": table_id}],
        )

    def _columns(self, table_id: int, columns: Iterable[Column]) -> None:
        rows: list[dict[str, Any]] = []
        for column in columns:
            self._column_rows(table_id, column, None, rows)
        self.put("column", rows)

    def _column_rows(self, table_id: int, column: Column, parent: int | None, rows: list[dict[str, Any]]) -> None:
        rows.append(_column_row(self.commit.id, table_id, column, parent))
        for child in column.children:
            self._column_rows(table_id, child, column.id, rows)

    def _alter_columns(self, table_id: int, before: Sequence[Column], after: Sequence[Column]) -> None:
        """End the rows of columns that changed or went, write those that changed or came."""
        old, new = _rows_by_id(before), _rows_by_id(after)
        gone = [id for id, row in old.items() if new.get(id) != row]
        for id in gone:
            self.end("column", table_id=table_id, column_id=id)
        rows = [_column_row(self.commit.id, table_id, c, p) for id, (c, p) in new.items() if old.get(id) != new[id]]
        self.put("column", rows)

    def _layout(self, part: TableDraft, before: Table | None) -> None:
        table, commit = part.table, self.commit
        if table.partitioned_by != (before.partitioned_by if before else ()):
            self.end("partition_info", table_id=table.id)
            if table.partitioned_by:
                self._partition(part)
        if table.clustered_by != (before.clustered_by if before else ()):
            self.end("sort_info", table_id=table.id)
            if table.clustered_by:
                self._sort(table, next(commit.catalog_ids))

    def _partition(self, part: TableDraft) -> None:
        table, id = part.table, next(self.commit.catalog_ids)
        part.table = replace(table, partition_id=id)
        part.added = {i: replace(f, partition_id=id if f.partition_values else None) for i, f in part.added.items()}
        self.put("partition_info", [{"partition_id": id, "table_id": table.id, "begin_snapshot": self.commit.id}])
        self.put(
            "partition_column",
            [
                {
                    "partition_id": id,
                    "table_id": table.id,
                    "partition_key_index": n,
                    "column_id": key.column_id,
                    "transform": key.transform,
                }
                for n, key in enumerate(table.partitioned_by)
            ],
        )

    def _sort(self, table: Table, id: int) -> None:
        self.put("sort_info", [{"sort_id": id, "table_id": table.id, "begin_snapshot": self.commit.id}])
        self.put(
            "sort_expression",
            [
                {
                    "sort_id": id,
                    "table_id": table.id,
                    "sort_key_index": n,
                    "expression": key.expression,
                    "dialect": key.dialect,
                    "sort_direction": "DESC" if key.descending else "ASC",
                    "null_order": "NULLS_LAST" if key.nulls_last else "NULLS_FIRST",
                }
                for n, key in enumerate(table.clustered_by)
            ],
        )


def _column_row(snapshot: int, table_id: int, column: Column, parent: int | None) -> dict[str, Any]:
    return {
        "column_id": column.id,
        "begin_snapshot": snapshot,
        "table_id": table_id,
        "column_order": column.id,
        "column_name": column.name,
        "column_type": column.type,
        "initial_default": column.initial_default,
        "default_value": "NULL" if column.default is None else column.default,
        "nulls_allowed": column.nullable,
        "parent_column": parent,
        "default_value_type": "" if column.type in ("list", "struct", "map") else column.default_kind,
        "default_value_dialect": "duckdb",
    }


def _rows_by_id(columns: Iterable[Column], parent: int | None = None) -> dict[int, tuple[Column, int | None]]:
    """Every column by id with its parent, its children taken out so that only its own row is compared."""
    found: dict[int, tuple[Column, int | None]] = {}
    for column in columns:
        found[column.id] = (replace(column, children=()), parent)
        found.update(_rows_by_id(column.children, column.id))
    return found

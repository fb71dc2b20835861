"""The catalog rows of a commit: definitions first, then files, deletes and statistics."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Table as SqlTable
from sqlalchemy import delete, insert, select, update

from . import inlined, mapping
from .definitions import PRIMARY_KEY_TAG, VIEW_SQL_TAG
from .draft import FileSwap, TableDraft
from .files import reflect
from .model import Column, ColumnStats, DataFile, DeleteFile, Table
from .stats import TableColumnStats, merge_stats

if TYPE_CHECKING:
    from .commit import _Commit

_SIMPLE = re.compile(r"^[A-Za-z0-9_]+$")


def quoted(*names: str) -> str:
    """Names as `changes_made` spells them.

    >>> quoted("main", 'we"ird')
    '"main"."we""ird"'
    """
    return ".".join('"' + n.replace('"', '""') + '"' for n in names)


def folder_of(name: str, id: str) -> str:
    """The folder of a new schema or table: its name, if that is plain."""
    return f"{name}/" if _SIMPLE.match(name) else f"{id}/"


class _Rows:
    def __init__(self, commit: _Commit) -> None:
        self.commit = commit
        self.connection = commit.connection
        self.tables_ = commit.catalog.tables

    def put(self, name: str, rows: Sequence[dict[str, Any]]) -> None:
        if rows:
            self.connection.execute(insert(self.tables_[name]), list(rows))

    def end(self, name: str, **where: Any) -> None:
        """Close the rows in force that match."""
        table = self.tables_[name]
        self.connection.execute(
            update(table)
            .where(table.c.end_snapshot.is_(None), *(table.c[k] == v for k, v in where.items()))
            .values(end_snapshot=self.commit.id)
        )


class Entries(_Rows):
    """Rows that define schemas, tables and views."""

    def schemas(self) -> None:
        draft, commit = self.commit.draft, self.commit
        for name, provisional in draft.created_schemas.items():
            id = commit.real[provisional] = next(commit.catalog_ids)
            unique = str(uuid.uuid4())
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
        self._tags(id, self._table_tags(part))
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
        if table.primary_key != before.primary_key or part.tags:
            for key in self._table_tags(part):
                self.end("tag", object_id=table.id, key=key)
            self._tags(table.id, self._table_tags(part))
        self._version(table.id)
        inlined.add_store(commit.catalog, self.connection, table, commit.version)

    def _table_tags(self, part: TableDraft) -> dict[str, str]:
        table, before = part.table, part.before
        tags = dict(part.tags)
        if table.primary_key != (before.primary_key if before else ()):
            tags[PRIMARY_KEY_TAG] = json.dumps(list(table.primary_key))
        return tags

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


class FileEntries(_Rows):
    """Rows that say which files hold a table's data."""

    def __init__(self, commit: _Commit, part: TableDraft) -> None:
        super().__init__(commit)
        self.part = part
        self.table = part.table
        stats = self.tables_["table_stats"]
        row = self.connection.execute(select(stats).where(stats.c.table_id == self.table.id)).first()
        self.known = row is not None
        self.records = row.record_count if row else 0
        self.next_row_id = row.next_row_id if row else 0
        self.bytes = row.file_size_bytes if row else 0

    def add(self, files: Sequence[tuple[int, DataFile]]) -> dict[int, int]:
        """Rows of new data files; provisional id → real id."""
        real: dict[int, int] = {}
        rows, stats, values = [], [], []
        for provisional, file in files:
            id = real[provisional] = next(self.commit.file_ids)
            rows.append(self._row(id, file))
            stats += [_stats_row(id, self.table.id, s) for s in file.stats]
            values += [
                {
                    "data_file_id": id,
                    "table_id": self.table.id,
                    "partition_key_index": n,
                    "partition_value": v,
                }
                for n, v in enumerate(file.partition_values)
            ]
        self.put("data_file", rows)
        self.put("file_column_stats", stats)
        self.put("file_partition_value", values)
        return real

    def swap(self, swap: FileSwap) -> None:
        """One file takes the place of several, at every snapshot; they go once nobody reads them."""
        gone = [f.id for f in swap.old]
        for name in ("data_file", "file_column_stats", "file_partition_value"):
            table = self.tables_[name]
            for some in (gone[n : n + 500] for n in range(0, len(gone), 500)):
                self.connection.execute(delete(table).where(table.c.data_file_id.in_(some)))
        for file in swap.old:
            self.schedule(file.id, file.path)
        real = self.add([(-1, swap.new)])
        d = self.tables_["data_file"]
        self.connection.execute(
            update(d)
            .where(d.c.data_file_id == real[-1])
            .values(begin_snapshot=swap.new.begin, partial_max=swap.new.partial_max, row_id_start=None)
        )

    def _row(self, id: int, file: DataFile) -> dict[str, Any]:
        path, relative = self._stored(file.path)
        start = None if self.part.moved else self.next_row_id
        if not self.part.moved:
            self.next_row_id += file.records
            self.records += file.records
        self.bytes += file.bytes
        return {
            "data_file_id": id,
            "table_id": self.table.id,
            "begin_snapshot": self.commit.id,
            "path": path,
            "path_is_relative": relative,
            "file_format": "parquet",
            "record_count": file.records,
            "file_size_bytes": file.bytes,
            "footer_size": file.footer_bytes,
            "row_id_start": start,
            "partition_id": file.partition_id,
            "mapping_id": self._mapping(file),
        }

    def _mapping(self, file: DataFile) -> int | None:
        # Files that the driver wrote carry ids down to list elements; Spark's do not.
        if file.mapping_id is None:
            return None
        new = next(self.commit.file_ids)
        return mapping.find_or_add(self.commit.catalog, self.connection, self.table, file.internal, new)

    def _stored(self, path: str) -> tuple[str, bool]:
        self.commit.named.add(path)
        return self.commit.owner.storage.relative(path, self.table.path)

    def delete(self, data_file_id: int, file: DeleteFile) -> None:
        path, relative = self._stored(file.path)
        self.put(
            "delete_file",
            [
                {
                    "delete_file_id": next(self.commit.file_ids),
                    "table_id": self.table.id,
                    "begin_snapshot": file.begin,
                    "data_file_id": data_file_id,
                    "path": path,
                    "path_is_relative": relative,
                    "format": "parquet",
                    "delete_count": file.count,
                    "file_size_bytes": file.bytes,
                    "footer_size": file.footer_bytes,
                    "partial_max": file.partial_max,
                }
            ],
        )

    def replace_delete(self, data_file: DataFile, file: DeleteFile) -> None:
        """A cumulative delete file takes the place of the old one, which goes once nobody reads it."""
        assert data_file.delete is not None
        x = self.tables_["delete_file"]
        self.connection.execute(delete(x).where(x.c.delete_file_id == data_file.delete.id))
        self.schedule(data_file.delete.id, data_file.delete.path)
        self.delete(data_file.id, file)

    def schedule(self, id: int, path: str) -> None:
        """Note a file for deletion, its path relative to the lake's data."""
        relative, inside = self.commit.owner.storage.relative(path, self.commit.owner.storage.root)
        self.put(
            "files_scheduled_for_deletion",
            [
                {
                    "data_file_id": id,
                    "path": relative,
                    "path_is_relative": inside,
                    "schedule_start": self.commit.now,
                }
            ],
        )

    def end(self, ids: Iterable[int], **where: Any) -> None:  # type: ignore[override]
        wanted = sorted(ids)
        d, x = self.tables_["data_file"], self.tables_["delete_file"]
        for some in (wanted[n : n + 500] for n in range(0, len(wanted), 500)):
            self._end_where(d, d.c.data_file_id.in_(some))
            if self.part.moved:
                self._end_where(x, x.c.data_file_id.in_(some))

    def _end_where(self, table: SqlTable, condition: Any) -> None:
        self.connection.execute(
            update(table).where(condition, table.c.end_snapshot.is_(None)).values(end_snapshot=self.commit.id)
        )

    def end_inlined(self) -> None:
        for name, row_ids in self.part.inlined_removed.items():
            store = reflect(self.commit.catalog, self.connection, name)
            wanted = sorted(row_ids)
            for some in (wanted[n : n + 500] for n in range(0, len(wanted), 500)):
                self._end_where(store, store.c.row_id.in_(some))

    def stats(self, added: Sequence[DataFile]) -> None:
        if self.part.moved:
            self._recount()
        if not added and not self.part.moved:
            return
        values = {
            "record_count": self.records,
            "next_row_id": self.next_row_id,
            "file_size_bytes": self.bytes,
        }
        table = self.tables_["table_stats"]
        if self.known:
            self.connection.execute(update(table).where(table.c.table_id == self.table.id).values(**values))
        else:
            self.put("table_stats", [{"table_id": self.table.id, **values}])
        if not self.part.moved:
            self._column_stats([s for f in added for s in f.stats])

    def _recount(self) -> None:
        d = self.tables_["data_file"].c
        rows = self.connection.execute(
            select(d.record_count, d.file_size_bytes).where(d.table_id == self.table.id, d.end_snapshot.is_(None))
        ).all()
        self.records = sum(r.record_count for r in rows)
        self.bytes = sum(r.file_size_bytes for r in rows)

    def _column_stats(self, files: Sequence[ColumnStats]) -> None:
        t = self.tables_["table_column_stats"]
        rows = self.connection.execute(select(t).where(t.c.table_id == self.table.id)).all()
        current = {
            r.column_id: TableColumnStats(r.column_id, r.contains_null, r.contains_nan, r.min_value, r.max_value)
            for r in rows
        }
        merged = merge_stats(current, files, self.table.columns, self._committed)
        for id, stats in merged.items():
            if current.get(id) == stats:
                continue
            values = {
                "contains_null": stats.contains_null,
                "contains_nan": stats.contains_nan,
                "min_value": stats.min,
                "max_value": stats.max,
            }
            if id in current:
                self.connection.execute(
                    update(t).where(t.c.table_id == self.table.id, t.c.column_id == id).values(**values)
                )
            else:
                self.put("table_column_stats", [{"table_id": self.table.id, "column_id": id, **values}])

    def _committed(self, column_id: int) -> list[ColumnStats]:
        s, d = self.tables_["file_column_stats"].c, self.tables_["data_file"].c
        rows = self.connection.execute(
            select(
                s.column_id,
                s.column_size_bytes,
                s.value_count,
                s.null_count,
                s.min_value,
                s.max_value,
                s.contains_nan,
            )
            .join(self.tables_["data_file"], d.data_file_id == s.data_file_id)
            .where(s.table_id == self.table.id, s.column_id == column_id, d.begin_snapshot < self.commit.id)
        )
        return [ColumnStats(*row) for row in rows]


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


def _stats_row(file_id: int, table_id: int, stats: ColumnStats) -> dict[str, Any]:
    return {
        "data_file_id": file_id,
        "table_id": table_id,
        "column_id": stats.column_id,
        "column_size_bytes": stats.size_bytes,
        "value_count": stats.value_count,
        "null_count": stats.null_count,
        "min_value": stats.min,
        "max_value": stats.max,
        "contains_nan": stats.contains_nan,
    }


def _rows_by_id(columns: Iterable[Column], parent: int | None = None) -> dict[int, tuple[Column, int | None]]:
    """Every column by id with its parent, its children taken out so that only its own row is compared."""
    found: dict[int, tuple[Column, int | None]] = {}
    for column in columns:
        found[column.id] = (replace(column, children=()), parent)
        found.update(_rows_by_id(column.children, column.id))
    return found

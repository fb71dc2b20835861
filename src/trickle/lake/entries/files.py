"""Rows that say which files hold a table's data, what is deleted in them, and their statistics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Table as SqlTable
from sqlalchemy import delete, func, select, update

from .. import mapping
from ..draft import FileSwap, TableDraft
from ..files import reflect
from ..model import ColumnStats, DataFile, DeleteFile
from ..stats import TableColumnStats, merge_stats
from .rows import Rows

if TYPE_CHECKING:
    from ..commit import Committing


class FileEntries(Rows):
    """Rows that say which files hold a table's data."""

    def __init__(self, commit: Committing, part: TableDraft) -> None:
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
        return mapping.find_or_add(self.commit.catalog, self.connection, self.table, new)

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
        sums = select(func.sum(d.record_count), func.sum(d.file_size_bytes))
        row = self.connection.execute(sums.where(d.table_id == self.table.id, d.end_snapshot.is_(None))).one()
        self.records, self.bytes = (int(n or 0) for n in row)

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

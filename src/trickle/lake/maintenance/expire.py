"""Old snapshots forgotten, and with them the files that no other snapshot reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, exists, insert, select
from sqlalchemy import Table as SqlTable
from sqlalchemy.sql import ColumnElement

from ...errors import QueryError
from ...records import Record
from .. import snapshots
from ..changes import REWRITE
from .protect import protected

if TYPE_CHECKING:
    from ..lake import Lake

_VERSIONED = ("column", "table", "view", "schema", "partition_info", "sort_info", "tag", "column_tag")


@dataclass(frozen=True)
class Expired(Record):
    id: int
    time: datetime


@dataclass(frozen=True)
class Need:
    """What stream tables still read."""

    states: frozenset[int] = frozenset()
    """Snapshots that a change is counted from."""
    frontier: int | None = None
    """The oldest frontier: what later snapshots did is still to be taken in."""

    def covers(self, snapshot: snapshots.SnapshotInfo) -> bool:
        if snapshot.id in self.states or (self.frontier is not None and snapshot.id >= self.frontier):
            return True
        # Without the note that files were only rewritten, the change feed would read all of them.
        return REWRITE in snapshot.changes and any(state < snapshot.id for state in self.states)


def expire_snapshots(
    lake: Lake,
    keep: int | None,
    older_than: datetime | None,
    named: list[int] | None,
    dry_run: bool,
    needed: Callable[[Connection], Need] = lambda _: Need(),
) -> Iterator[Expired]:
    """Forget snapshots, never the newest, nor one that is protected or `needed` by stream tables."""
    if keep is None and older_than is None and named is None:
        raise QueryError("nothing says which snapshots shall expire", hint="pass keep=, older_than= or snapshots=.")
    if keep is not None and keep < 1:
        raise QueryError("at least one snapshot is always kept", hint="pass keep=1 or more.")
    with lake.catalog.writing() as connection:
        known = snapshots.listing(lake.catalog, connection)
        need = needed(connection)
        kept = {s.id for s in known if need.covers(s)}
        safe = protected(lake.catalog, connection) | kept | {known[-1].id}
        limit = known[-keep].id if keep is not None and keep <= len(known) else None if keep is None else -1
        chosen = [
            s
            for s in known
            if s.id not in safe
            and (limit is None or s.id < limit)
            and (older_than is None or s.time < _aware(older_than))
            and (named is None or s.id in named)
        ]
        if chosen and not dry_run:
            _Expiry(lake, connection).run([s.id for s in chosen])
    yield from (Expired(s.id, s.time) for s in chosen)


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)


class _Expiry:
    def __init__(self, lake: Lake, connection: Connection) -> None:
        self.lake, self.connection = lake, connection
        self.tables_ = lake.catalog.tables

    def run(self, ids: list[int]) -> None:
        for name in ("snapshot", "snapshot_changes"):
            table = self.tables_[name]
            for some in (ids[n : n + 500] for n in range(0, len(ids), 500)):
                self.connection.execute(delete(table).where(table.c.snapshot_id.in_(some)))
        homes = self.homes()
        self.forget_files("delete_file", homes)
        self.forget_files("data_file", homes)
        for name in _VERSIONED:
            table = self.tables_[name]
            self.connection.execute(delete(table).where(self.unseen(table)))

    def unseen(self, table: SqlTable) -> ColumnElement[bool]:
        """Rows in force at no snapshot that is left."""
        s, c = self.tables_["snapshot"].c, table.c
        seen = exists().where(s.snapshot_id >= c.begin_snapshot, s.snapshot_id < c.end_snapshot)
        return c.end_snapshot.is_not(None) & ~seen

    def homes(self) -> dict[int, str]:
        """Folder of each table, relative to the lake's data."""
        t, s = self.tables_["table"], self.tables_["schema"]
        rows = self.connection.execute(
            select(t.c.table_id, t.c.path, t.c.path_is_relative, s.c.path, s.c.path_is_relative).join(
                s, s.c.schema_id == t.c.schema_id
            )
        )
        return {r[0]: (r[3] + r[1] if r[4] else r[1]) if r[2] else r[1] for r in rows}

    def forget_files(self, kind: str, homes: dict[int, str]) -> None:
        table = self.tables_[kind]
        id = table.c[f"{kind}_id"]
        condition = self.unseen(table)
        if kind == "delete_file":
            # A delete file outlives its own end only as long as its data file is read.
            d = self.tables_["data_file"]
            gone = select(d.c.data_file_id).where(self.unseen(d))
            condition = condition | table.c.data_file_id.in_(gone)
        rows = self.connection.execute(
            select(id, table.c.table_id, table.c.path, table.c.path_is_relative).where(condition)
        ).all()
        self.schedule([(r[0], homes.get(r[1], "") + r[2] if r[3] else r[2], bool(r[3])) for r in rows])
        ids = [r[0] for r in rows]
        for some in (ids[n : n + 500] for n in range(0, len(ids), 500)):
            self.connection.execute(delete(table).where(id.in_(some)))
            if kind == "data_file":
                for name in ("file_column_stats", "file_partition_value"):
                    stats = self.tables_[name]
                    self.connection.execute(delete(stats).where(stats.c.data_file_id.in_(some)))

    def schedule(self, files: list[tuple[int, str, bool]]) -> None:
        rows: list[dict[str, Any]] = [
            {"data_file_id": i, "path": p, "path_is_relative": r, "schedule_start": datetime.now(UTC)}
            for i, p, r in files
        ]
        if rows:
            self.connection.execute(insert(self.tables_["files_scheduled_for_deletion"]), rows)
